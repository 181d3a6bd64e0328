"""Recorded crawls as files, and as sites without a network."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest
from rules_peers.recorder import Answer
from rules_peers.recordings import (
    RecordedPage,
    Recording,
    read_recording,
    recorded_pages,
    write_recording,
)
from rules_peers.simulated_crawl import simulate
from rules_peers.simulating import judged

from crawler.urls.scope import Scope

if TYPE_CHECKING:
    from pathlib import Path

HOME = "http://site.test/"


def html(url: str, text: str, *links: str) -> Answer:
    anchors = "".join(f'<a href="{link}"></a>' for link in links)
    return Answer(url, "text/html", f"<p>{text}</p>{anchors}".encode())


@pytest.fixture
def recording() -> Recording:
    pages = [
        RecordedPage(HOME, "home", [f"{HOME}a", f"{HOME}b?x=1", f"{HOME}c", f"{HOME}moved"]),
        RecordedPage(f"{HOME}a", "a", [HOME, "http://site.test:80/b?x=1#top"]),
        RecordedPage(f"{HOME}b?x=1", "b", [f"{HOME}a?"]),
        RecordedPage(f"{HOME}d", "a", [], [f"{HOME}moved"]),
    ]
    return Recording("small", (HOME,), pages)


def test_a_recording_is_read_as_it_was_written(recording: Recording, tmp_path: Path) -> None:
    file = tmp_path / "small.jsonl.gz"
    write_recording(file, recording)
    read = read_recording(file)
    assert (read.site, read.seeds) == ("small", [HOME])
    assert [list(map(list, page[2:])) for page in read.pages] == [
        list(map(list, page[2:])) for page in recording.pages
    ]
    assert [page[:2] for page in read.pages] == [page[:2] for page in recording.pages]


def test_the_same_recording_is_the_same_file(recording: Recording, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_recording(tmp_path / name, recording)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_another_format_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.jsonl.gz"
    file.write_bytes(gzip.compress(b'{"format": "recorded crawl 0"}\n'))
    with pytest.raises(ValueError, match="'recorded crawl 1' expected, got 'recorded crawl 0'"):
        read_recording(file)


def test_truth_is_all_that_pages_said(recording: Recording) -> None:
    assert recording.truth == {"home", "a", "b"}


@pytest.mark.parametrize(
    ("url", "content"),
    [
        (f"{HOME}a", "a"),
        (f"{HOME}a?", "a"),
        ("http://site.test:80/b?x=1#top", "b"),
        (f"{HOME}moved", "a"),
        (f"{HOME}d", "a"),
        (f"{HOME}c", None),
        (f"{HOME}b?x=2", None),
    ],
)
def test_a_page_is_found_by_its_url_or_its_canonical_one(
    recording: Recording, url: str, content: str | None
) -> None:
    answer = recording.answer(url)
    assert (None if answer is None else answer.content) == content


def test_the_url_as_requested_comes_before_its_canonical_form() -> None:
    pages = [RecordedPage(f"{HOME}a?", "asked", []), RecordedPage(f"{HOME}a", "plain", [])]
    recording = Recording("spelt", (HOME,), pages)
    answers = [recording.answer(url) for url in (f"{HOME}a", f"{HOME}a?", f"{HOME}a#b")]
    assert [answer and answer.content for answer in answers] == ["plain", "asked", "asked"]


def test_links_to_what_was_not_fetched_are_left_out(recording: Recording) -> None:
    answer = recording.answer(HOME)
    assert answer is not None
    assert answer.links == [f"{HOME}a", f"{HOME}b?x=1", f"{HOME}moved"]


def test_a_recording_simulates_to_the_count_of_its_contents() -> None:
    numbers = range(40)
    pages = [
        RecordedPage(
            f"{HOME}{n}" if n else HOME, str(n), [f"{HOME}{m}" for m in numbers[2 * n + 1 :][:2]]
        )
        for n in numbers
    ]
    recording = Recording("tree", (HOME,), pages)
    simulated = simulate(recording, 1_000)
    assert len(simulated.names) == len(recording.truth) == 40
    assert not simulated.lost


def test_a_recording_is_a_row_of_the_table(recording: Recording, tmp_path: Path) -> None:
    file = tmp_path / "small.jsonl.gz"
    write_recording(file, recording)
    row = judged(file, seeds=3)
    assert (row.site, row.seeds, row.contents, row.lost) == ("small, recorded", 1, 3, 0)


def test_links_are_those_of_the_scope_in_the_order_of_the_page() -> None:
    links = ("b?x=1#top", "http://other.test/", "mailto:a@site.test", "/a", "b?x=1", "a/../c")
    answers = [html(f"{HOME}p", "one", *links), html(f"{HOME}q", "one"), html(f"{HOME}r", "two")]
    first, second, third = recorded_pages(answers, Scope([HOME], "host"))
    assert first.links == [f"{HOME}b?x=1", f"{HOME}a", f"{HOME}c"]
    assert first.digest == second.digest != third.digest
    assert (second.links, second.redirected) == ([], ())
