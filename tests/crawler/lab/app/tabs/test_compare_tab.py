"""What is compared: a text, or a page that is held. Nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from crawler.lab.app.tabs.compare_tab import NotFoundError, find, is_url
from crawler.lab.session import Session
from crawler.lab.sources.open_source import open_sources

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.lab.app.tabs.compare_tab import EnteredText


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows = [
        {"id": number, "url": f"http://a.example/{number % 2}", "text": f"text {number} is here"}
        for number in range(4)
    ]
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


def found(given: str, file: Path) -> EnteredText:
    sources = open_sources([file])
    session = Session(sources.texts, sources.parameters())
    while pages := sources.read_new():
        session.extend(pages)
    return find(given, session, sources)


def test_a_text_is_what_it_is(file: Path) -> None:
    one = found("  some words\nand more ", file)
    assert (one.text, one.page) == ("  some words\nand more ", None)


def test_a_url_is_its_newest_page(file: Path) -> None:
    one = found(" http://a.example/1\n", file)
    assert one.text == "text 3 is here"
    assert one.page is not None
    assert one.page.url == "http://a.example/1"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("", "are needed"),
        (" \n\t", "are needed"),
        ("http://a.example/2", "no page with a text.*the lab fetches nothing"),
        ("http://b.example/1", "did you mean http://a.example/1\\? \\(the lab"),
        ("http://a.example/\u202e", "⟨U\\+202E⟩"),
    ],
)
def test_nothing_is_found_elsewhere(given: str, words: str, file: Path) -> None:
    with pytest.raises(NotFoundError, match=words):
        found(given, file)


def test_a_text_that_begins_with_an_address_is_a_text() -> None:
    assert is_url("HTTP://a.example/?q")
    assert not is_url("http://a.example/ says so")
    assert not is_url("file:///etc/passwd")
    assert not is_url("a.example")
