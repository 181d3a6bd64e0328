"""A page's way to its verdict, with real workers and a real database."""

from __future__ import annotations

import asyncio
import random
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawler.frontier.order import NewRequest
from crawler.job import Job
from crawler.maintenance.crawl_report import make_report
from crawler.pages.export import KEPT_FILTER, PageFilter, export_pages
from crawler.pages.page_context import Captured, Fetched
from crawler.pages.reasons import Reason, in_words
from crawler.reading.protocol import ReadingOptions
from crawler.run import JobOptions
from crawler.storage.database import open_for_reading
from crawler.storage.errors import CrawlStorageError
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable
    from pathlib import Path

OPTIONS = JobOptions(reading=ReadingOptions(workers=1))


def html(text: str, title: str = "A page", head: str = "") -> bytes:
    return (
        f"<html><head><title>{title}</title>{head}</head>"
        f"<body><main><article><h1>{title}</h1><p>{text}</p></article></main></body></html>"
    ).encode()


def fetched(job: Job, path: str, body: bytes, content_type: str = "text/html") -> Fetched:
    url = f"http://example.com{path}"
    return Fetched(
        url=url,
        canonical_url=job.canonicalizer(url),
        key=job.canonicalizer.key(url),
        depth=0,
        status=200,
        body=body,
        content_type=content_type,
    )


@asynccontextmanager
async def working(folder: Path, options: JobOptions = OPTIONS) -> AsyncIterator[Job]:
    """A job in a visit, with workers."""
    job = Job(folder, options)
    try:
        job.begin_visit()
        await job.start_pool()
        yield job
    finally:
        await job.close_pool()
        job.close()


def capture(
    folder: Path, answers: Iterable[tuple[str, bytes]], options: JobOptions = OPTIONS
) -> list[Captured]:
    """One visit in which these answers come one after the other."""

    async def visit() -> list[Captured]:
        async with working(folder, options) as job:
            return [await job.processor.capture(fetched(job, *answer)) for answer in answers]

    return asyncio.run(visit())


async def capture_all(job: Job, answers: Iterable[Fetched]) -> None:
    for answer in answers:
        await job.processor.capture(answer)


def verdicts(captured: list[Captured]) -> list[str]:
    return [one.verdict for one in captured]


LONG = prose("long", 300)
OTHER = prose("other", 300)


def test_each_layer_names_its_verdict_and_the_kept_page(tmp_path: Path) -> None:
    found = capture(
        tmp_path,
        [
            ("/a", html(LONG)),
            ("/same-bytes", html(LONG)),
            ("/same-text", html(LONG, head="<!-- other bytes -->")),
            ("/edited", html(LONG + " One word.")),
            ("/other", html(OTHER, "Another")),
            ("/short", html("Only a few words.", "Short")),
            ("/empty", b""),
            ("/also-empty", b""),
        ],
    )
    assert verdicts(found) == [
        "new",
        "exact_duplicate",
        "text_duplicate",
        "near_duplicate",
        "new",
        "too_short",
        "too_short",
        "too_short",
    ]
    assert [one.kept_url for one in found[1:4]] == ["http://example.com/a"] * 3
    near = found[3].row
    assert near.distance is not None
    assert near.similarity is not None
    assert near.distance <= 3
    assert near.similarity >= 0.8


def test_a_page_with_too_many_candidates_is_kept_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neardup.candidates.MAX_CHARACTERS", 0)
    sentences = LONG.split(".")
    source = random.Random(1)
    orders = [source.sample(sentences, len(sentences)) for _ in range(4)]
    found = capture(
        tmp_path, [(f"/{number}", html(". ".join(order))) for number, order in enumerate(orders)]
    )
    assert verdicts(found) == ["new"] * 4
    # Same words, so same fingerprint.
    assert [one.row.reason for one in found] == [None, *[Reason.NOT_COMPARED.stored()] * 3]
    with closing(open_for_reading(tmp_path)) as connection:
        assert make_report(connection).reasons == {
            f"new: {in_words(Reason.NOT_COMPARED.stored())}": 3
        }


def test_a_report_adds_up_reasons_of_the_same_words(tmp_path: Path) -> None:
    with closing(Job(tmp_path, OPTIONS)) as job:
        job.begin_visit()
        for path, reason in (
            ("/a", Reason.NO_HOST.stored()),
            ("/b", Reason.NO_HOST.stored()),
            ("/c", Reason.ERROR.stored("no such host")),
        ):
            job.processor.store_failure(fetched(job, path, b""), "failed", reason)
    with closing(open_for_reading(tmp_path)) as connection:
        report = make_report(connection)
    assert report.reasons == {"failed: no such host": 3}
    assert report.missing == {"no such host": 3}


async def test_equal_pages_read_at_the_same_time_are_kept_once(tmp_path: Path) -> None:
    async with working(tmp_path, JobOptions(reading=ReadingOptions(workers=2))) as job:
        pages = [fetched(job, f"/{n}", html(LONG, head=f"<!-- {n % 3} -->")) for n in range(12)]
        found = verdicts(await asyncio.gather(*map(job.processor.capture, pages)))
    assert found.count("new") == 1
    assert found.count("exact_duplicate") + found.count("text_duplicate") == 11


def test_a_page_is_unchanged_or_changed_and_never_its_own_duplicate(tmp_path: Path) -> None:
    capture(tmp_path, [("/a", html(LONG)), ("/b", html(OTHER))])
    second = capture(tmp_path, [("/a", html(LONG)), ("/b", html(OTHER + " Now with an end."))])
    assert verdicts(second) == ["unchanged", "changed"]
    changed = second[1].row
    assert changed.distance is not None
    assert changed.distance <= 8
    assert changed.similarity is not None
    assert 0.9 < changed.similarity < 1
    third = capture(tmp_path, [("/b", html(OTHER, head="<!-- a new clock -->"))])
    assert verdicts(third) == ["changed"]


def test_markup_alone_does_not_change_a_page(tmp_path: Path) -> None:
    capture(tmp_path, [("/a", html(LONG))])
    assert verdicts(capture(tmp_path, [("/a", html(LONG, head="<!-- 2 -->"))])) == ["unchanged"]


def held(folder: Path) -> dict[str, str]:
    """The text that an export holds for each path."""
    with closing(open_for_reading(folder)) as connection:
        pages = export_pages(connection, PageFilter(KEPT_FILTER))
        return {page["url"].removeprefix("http://example.com"): page["text"] for page in pages}


@pytest.mark.parametrize("first", ["/a", "/copy"])
@pytest.mark.parametrize("copy", [html(LONG), html(LONG, head="<!-- 2 -->")])
def test_a_text_outlives_its_original(tmp_path: Path, first: str, copy: bytes) -> None:
    """Whichever of the two is visited first after the original has changed."""
    capture(tmp_path, [("/a", html(LONG)), ("/copy", copy), ("/third", copy)])
    answers = {"/a": html(OTHER), "/copy": copy}
    order = sorted(answers, key=lambda path: path != first)
    second = capture(tmp_path, [(path, answers[path]) for path in order])
    assert sorted(verdicts(second)) == ["changed", "unchanged"]
    assert set(held(tmp_path)) == {"/a", "/copy"}
    assert LONG in held(tmp_path)["/copy"]
    third = capture(tmp_path, [("/third", copy), ("/new", html(LONG + " One word."))])
    assert verdicts(third) == ["unchanged", "near_duplicate"]
    assert {one.kept_url for one in third} == {"http://example.com/copy"}


def test_a_near_duplicate_takes_over_with_its_own_words(tmp_path: Path) -> None:
    near = html(LONG + " One word.")
    capture(tmp_path, [("/a", html(LONG)), ("/near", near)])
    capture(tmp_path, [("/a", html(OTHER))])
    assert "One word." in held(tmp_path)["/near"]
    assert verdicts(capture(tmp_path, [("/near", near)])) == ["unchanged"]


def test_a_near_duplicate_that_takes_over_is_read_anew(tmp_path: Path) -> None:
    near, options = html(LONG + " One word."), replace(OPTIONS, keep_near_texts=False)
    capture(tmp_path, [("/a", html(LONG)), ("/near", near)], options)
    capture(tmp_path, [("/a", html(OTHER))], options)
    assert LONG in held(tmp_path)["/near"]
    assert verdicts(capture(tmp_path, [("/near", near)], options)) == ["new"]
    assert "One word." in held(tmp_path)["/near"]


def test_an_original_that_changes_a_little_keeps_its_duplicates(tmp_path: Path) -> None:
    capture(tmp_path, [("/a", html(LONG)), ("/copy", html(LONG))])
    second = capture(tmp_path, [("/a", html(LONG + " One word.")), ("/copy", html(LONG))])
    assert verdicts(second) == ["changed", "unchanged"]
    assert set(held(tmp_path)) == {"/a"}


@pytest.mark.parametrize("answer", [b"", b"{}", b"\x89PNG\r\n\x1a\n" * 9])
def test_an_empty_answer_does_not_take_the_place_of_a_page(tmp_path: Path, answer: bytes) -> None:
    capture(tmp_path, [("/a", html(LONG))])
    capture(tmp_path, [("/a", answer)])
    assert LONG in held(tmp_path)["/a"]
    assert verdicts(capture(tmp_path, [("/a", html(LONG))])) == ["unchanged"]


async def test_a_page_that_no_longer_asks_not_to_be_kept_is_kept(tmp_path: Path) -> None:
    asks, silent = frozenset({"noindex"}), frozenset[str]()
    for robots, verdict in ((asks, "noindex"), (silent, "changed"), (asks, "noindex")):
        async with working(tmp_path) as job:
            answer = replace(fetched(job, "/a", html(LONG)), robots=robots)
            assert (await job.processor.capture(answer)).verdict == verdict
    assert held(tmp_path) == {}


async def test_the_same_bytes_are_a_file_here_and_a_page_there(tmp_path: Path) -> None:
    async with working(tmp_path) as job:
        file = fetched(job, "/raw", html(LONG), "application/json")
        assert (await job.processor.capture(file)).verdict == "not_html"
        page = fetched(job, "/page", html(LONG))
        assert (await job.processor.capture(page)).verdict == "new"


def test_nothing_is_written_after_a_write_has_failed(tmp_path: Path) -> None:
    """SQLite's own limit on the size of a database plays the full disk."""

    async def visit() -> Job:
        async with working(tmp_path) as job:
            await job.processor.capture(fetched(job, "/a", html(LONG)))
            job.commit()
            await job.processor.capture(fetched(job, "/b", html(OTHER)))
            pages = job.database.read("PRAGMA page_count").fetchone()[0]
            job.database.read(f"PRAGMA max_page_count = {pages}")
            answers = [fetched(job, f"/{n}", html(prose(f"page {n}", 2000))) for n in range(50)]
            with pytest.raises(CrawlStorageError, match="disk is full"):
                await capture_all(job, answers)
            with pytest.raises(CrawlStorageError):
                job.frontier.queue.push(NewRequest(1, "http://example.com/", 0, b""))
        return job

    job = asyncio.run(visit())
    assert job.failure is not None
    assert not (tmp_path / "seen.bloom").exists()
    assert set(held(tmp_path)) == {"/a"}
    assert verdicts(capture(tmp_path, [("/b", html(OTHER))])) == ["new"]


def test_an_unchanged_duplicate_is_unchanged(tmp_path: Path) -> None:
    answers = [("/a", html(LONG)), ("/copy", html(LONG)), ("/near", html(LONG + " One word."))]
    assert verdicts(capture(tmp_path, answers))[1:] == ["exact_duplicate", "near_duplicate"]
    assert verdicts(capture(tmp_path, answers)) == ["unchanged"] * 3


def test_a_page_that_asks_not_to_be_kept_is_no_original(tmp_path: Path) -> None:
    asks = html(LONG, head='<meta name="robots" content="noindex, nofollow">')
    found = capture(tmp_path, [("/private", asks), ("/public", html(LONG))])
    assert verdicts(found) == ["noindex", "new"]
    assert found[0].nofollow
    assert found[0].row.text is None


def test_what_is_not_html_is_told_and_its_copy_too(tmp_path: Path) -> None:
    found = capture(
        tmp_path, [("/x.png", b"\x89PNG\r\n\x1a\n" * 9), ("/y", b"\x89PNG\r\n\x1a\n" * 9)]
    )
    assert verdicts(found) == ["not_html", "exact_duplicate"]


def test_a_failure_does_not_take_the_place_of_what_is_held(tmp_path: Path) -> None:
    capture(tmp_path, [("/a", html(LONG))])
    with closing(Job(tmp_path, OPTIONS)) as job:
        job.begin_visit()
        status = Reason.HTTP_STATUS.stored(500)
        job.processor.store_failure(fetched(job, "/a", b""), "failed", status)
    assert verdicts(capture(tmp_path, [("/a", html(LONG))])) == ["unchanged"]


@pytest.mark.parametrize("is_lost", [True, False])
def test_a_lost_or_damaged_index_is_made_again_from_the_pages(
    tmp_path: Path, *, is_lost: bool
) -> None:
    capture(tmp_path, [("/a", html(LONG))])
    for path in (tmp_path / "fingerprints").iterdir():
        if is_lost:
            path.unlink()
        else:
            path.write_bytes(b"damaged")
    found = capture(tmp_path, [("/near", html(LONG + " One word."))])
    assert verdicts(found) == ["near_duplicate"]


@pytest.mark.parametrize("copies", [2, 5])
def test_the_better_copy_is_recorded(tmp_path: Path, copies: int) -> None:
    answers = [(f"/{'x' * (10 - n)}", html(LONG)) for n in range(copies)]
    found = capture(tmp_path, answers)
    assert [one.row.better_copy for one in found] == [0] + [1] * (copies - 1)
