"""Pages of one crawl whose originals another crawl of the fleet has."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from crawler.frontier.order import NewRequest
from crawler.lab.live import LiveCrawl
from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.maintenance.crawl_report import PageCluster, make_report
from crawler.maintenance.rejudge.rejudging import rejudge
from crawler.maintenance.verify.verification import repair, verify
from crawler.pages.export import export_pages
from crawler.reading.metadata.metadata_record import Metadata
from crawler.reading.reading import Reading
from crawler.storage.database import open_for_reading
from crawler.storage.errors import JobError
from crawler.url_rules.url_groups import content_of, number_of
from neardup import Parameters
from tests.crawler.maintenance.rejudge.captured import Said
from tests.crawler.pages.sharing import OneMemory, fleet
from tests.crawler.pages.test_capture import OPTIONS, capture, fetched, html
from tests.no_watch import NoWatch
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawler.job import Job
    from crawler.pages.page_context import Captured

LONG, OTHER = prose("long", 200), prose("other", 200)
NEAR = f"{LONG} And a few words more."


async def said(job: Job, path: str, page: Said | bytes) -> Captured:
    """A page says this in one of the crawls; bytes are a file."""
    if isinstance(page, bytes):
        file = fetched(job, path, page)
        return await job.processor.capture_read(file, Reading(file.url, not_html="a file"))
    answer, extract = fetched(job, path, page.body), page.extract
    reading = Reading(answer.url, visible_digest=extract.visible_digest, extract=extract)
    return await job.processor.capture_read(answer, reading)


def folders(tmp_path: Path, count: int = 2) -> list[Path]:
    return [tmp_path / f"worker-{number}" for number in range(count)]


def verdicts(captured: Sequence[Captured]) -> list[str]:
    return [one.verdict for one in captured]


def elsewhere(folder: Path) -> list[tuple[str, str]]:
    """The URLs of duplicates and of the originals that stand in other crawls."""
    with closing(open_for_reading(folder)) as connection:
        sql = "SELECT pages.url, elsewhere.url FROM elsewhere JOIN pages ON id = page ORDER BY id"
        return [tuple(row) for row in connection.execute(sql)]


def pages_of(folder: Path) -> dict[str, tuple[str, str | None]]:
    """Verdict and original of each page, as an export has them."""
    with closing(open_for_reading(folder)) as connection:
        return {
            page["url"]: (page["verdict"], page["duplicate_of"])
            for page in export_pages(connection)
        }


async def test_each_layer_names_the_page_that_another_crawl_keeps(tmp_path: Path) -> None:
    first, second = folders(tmp_path)
    with fleet([first, second], OPTIONS, OneMemory(Parameters())) as (one, two):
        await said(one, "/a", Said(LONG))
        pages = [Said(LONG), Said(LONG, "around"), Said(NEAR), Said(OTHER), Said("Few words.")]
        found = [await said(two, f"/{number}", page) for number, page in enumerate(pages)]
    expected = ["exact_duplicate", "text_duplicate", "near_duplicate", "new", "too_short"]
    assert verdicts(found) == expected
    assert [one.kept_url for one in found] == ["http://example.com/a"] * 3 + [None] * 2
    assert [one.is_duplicate for one in found] == [True] * 3 + [False] * 2
    assert [one.row.duplicate_of for one in found] == [None] * 5
    assert [original for _, original in elsewhere(second)] == ["http://example.com/a"] * 3
    assert elsewhere(first) == []
    kept = pages_of(second)
    assert kept["http://example.com/2"] == ("near_duplicate", "http://example.com/a")
    assert kept["http://example.com/3"] == ("new", None)


async def test_what_is_kept_here_is_named_here_and_not_asked_about(tmp_path: Path) -> None:
    (folder,) = folders(tmp_path, 1)
    memory = OneMemory(Parameters())
    with fleet([folder], OPTIONS, memory) as (job,):
        pages = [Said(LONG), Said(LONG), Said(LONG, "around"), Said(NEAR), Said("")]
        found = [await said(job, f"/{number}", page) for number, page in enumerate(pages)]
    kept = found[0].row.id
    assert [one.row.duplicate_of for one in found] == [None, kept, kept, kept, None]
    assert elsewhere(folder) == []
    assert memory.asked == ["text", "text"]


@pytest.mark.parametrize("count", [1, 3])
async def test_of_equal_pages_at_one_moment_one_is_kept(tmp_path: Path, count: int) -> None:
    pages = [Said(LONG), Said(LONG, "around"), Said(LONG, "other")] * 6
    at = folders(tmp_path, count)
    with fleet(at, OPTIONS, OneMemory(Parameters())) as jobs:
        found = await asyncio.gather(
            *(said(jobs[n % count], f"/{n}", page) for n, page in enumerate(pages))
        )
    assert verdicts(found).count("new") == 1
    assert len({one.kept_url for one in found} - {None}) == 1
    kept = [one.row.url for one in found if one.verdict == "new"]
    for folder in at:
        originals = {original for _, original in pages_of(folder).values()} - {None}
        assert originals <= set(kept)
        assert elsewhere(folder) == [] or kept[0] not in pages_of(folder)


async def test_a_page_that_is_fetched_twice_at_one_moment_is_there_once(tmp_path: Path) -> None:
    (folder,) = folders(tmp_path, 1)
    with fleet([folder], OPTIONS, OneMemory(Parameters())) as (job,):
        found = await asyncio.gather(*(said(job, "/a", Said(LONG)) for _ in range(4)))
    assert sorted(verdicts(found)) == ["new"] + ["unchanged"] * 3


async def test_a_page_that_another_crawl_fetches_again_is_no_duplicate_of_itself(
    tmp_path: Path,
) -> None:
    with fleet(folders(tmp_path), OPTIONS, OneMemory(Parameters())) as (one, two):
        found = [await said(one, "/a", Said(LONG)), await said(two, "/a", Said(LONG))]
        found += [await said(two, "/b", Said(LONG)), await said(two, "/a", Said(NEAR))]
    assert verdicts(found) == ["new", "new", "exact_duplicate", "changed"]


async def test_what_a_page_says_after_a_change_is_known_to_all(tmp_path: Path) -> None:
    memory = OneMemory(Parameters())
    with fleet(folders(tmp_path), OPTIONS, memory) as (one, two):
        await said(one, "/a", Said(LONG))
        await said(one, "/near", Said(NEAR))
        await said(one, "/a", Said(OTHER))  # the other takes over, with its own words
        found = [await said(two, "/b", Said(OTHER)), await said(two, "/c", Said(NEAR))]
        found.append(await said(two, "/d", Said(LONG)))
    assert memory.asked[:4] == ["text", "text", "text", "kept"]
    places = ["http://example.com/a", "http://example.com/near", "http://example.com/a"]
    assert [one.kept_url for one in found] == places


async def test_a_file_is_kept_once_and_is_no_page(tmp_path: Path) -> None:
    first, second = folders(tmp_path)
    with fleet([first, second], OPTIONS, OneMemory(Parameters())) as (one, two):
        found = [await said(one, "/file", b"bytes"), await said(two, "/file", b"bytes")]
        found += [await said(two, "/copy", b"bytes"), await said(two, "/empty", b"")]
        found += [await said(two, "/other", b"others"), await said(one, "/same", b"others")]
    assert [one.verdict == "not_html" for one in found] == [True, True, False, True, True, False]
    assert elsewhere(first) == [("http://example.com/same", "http://example.com/other")]
    assert elsewhere(second) == []


async def test_what_asks_not_to_be_kept_or_cannot_be_read_is_not_asked_about(
    tmp_path: Path,
) -> None:
    (folder,) = folders(tmp_path, 1)
    memory = OneMemory(Parameters())
    with fleet([folder], OPTIONS, memory) as (job,):
        answer, extract = fetched(job, "/a", Said(LONG).body), Said(LONG).extract
        reading = Reading(answer.url, extract=extract, metadata=Metadata(robots=("noindex",)))
        await job.processor.capture_read(answer, reading)
        await job.processor.capture_read(answer, Reading(answer.url, failure="a fault"))
    assert memory.asked == []


async def test_an_item_edited_after_it_was_judged_is_no_duplicate_of_itself(tmp_path: Path) -> None:
    (folder,) = folders(tmp_path, 1)
    with fleet([folder], OPTIONS, OneMemory(Parameters())) as (job,):
        first = await said(job, "/a", Said(LONG))
        page = fetched(job, "/a", Said(NEAR).body)
        edited = replace(
            page, key=b"another of these".ljust(16), apart_from=frozenset({first.row.id})
        )
        reading = Reading(page.url, extract=Said(NEAR).extract)
        assert (await job.processor.capture_read(edited, reading)).verdict == "new"


def test_a_page_that_a_killed_process_stored_goes_on_its_way(tmp_path: Path) -> None:
    """Its duplicate too, whose original stands in the other crawl."""
    memory, at = OneMemory(Parameters()), folders(tmp_path)
    with fleet(at, OPTIONS, memory) as (one, two):
        asyncio.run(said(one, "/a", Said(LONG)))
        asyncio.run(said(two, "/b", Said(NEAR)))
        for job in (one, two):
            job.frontier.queue.push(
                NewRequest(1, "http://example.com/more", 0, b"")
            )  # so that the visit goes on
    with fleet(at, OPTIONS, memory) as (one, two):
        again = [asyncio.run(said(one, "/a", Said(LONG))), asyncio.run(said(two, "/b", Said(NEAR)))]
    assert verdicts(again) == ["new", "near_duplicate"]
    assert [found.kept_url for found in again] == [None, "http://example.com/a"]


def test_bytes_that_another_crawl_keeps_are_read_for_their_links_alone(tmp_path: Path) -> None:
    async def crawl(one: Job, two: Job) -> tuple[list[Captured], float]:
        page = html(LONG, head='<link rel="next" href="/next">') + b'<a href="/next">on</a>'
        for job in (one, two):
            await job.start_pool()
        found = [await one.processor.capture(fetched(one, "/a", page))]
        found.append(await two.processor.capture(fetched(two, "/b", page)))
        raw = fetched(two, "/raw", page, "application/json")
        found.append(await two.processor.capture(raw))
        for job in (one, two):
            await job.close_pool()
        return found, two.processor.seconds["extract"]

    with fleet(folders(tmp_path), OPTIONS, OneMemory(Parameters())) as jobs:
        found, extract_secs = asyncio.run(crawl(*jobs))
    assert verdicts(found) == ["new", "exact_duplicate", "not_html"]
    assert [link.url for link in found[1].links] == ["http://example.com/next"]
    assert found[1].row.text_digest == found[0].row.text_digest
    assert extract_secs == 0


def test_whoever_reads_a_crawl_of_a_fleet_knows_where_originals_are(tmp_path: Path) -> None:
    async def crawl(one: Job, two: Job) -> None:
        await said(one, "/a", Said(LONG))
        for number, page in enumerate([Said(LONG), Said(LONG, "around"), Said(NEAR)]):
            captured = await said(two, f"/{number}", page)
            found = content_of(captured.row, captured.kept_url)
            assert found is not None
            assert found.kept == number_of("http://example.com/a") < 0

    first, second = folders(tmp_path)
    with fleet([first, second], OPTIONS, OneMemory(Parameters())) as jobs:
        asyncio.run(crawl(*jobs))
    with closing(CrawlDirectory(second)) as directory:
        assert verify(directory, NoWatch()).problems == ()
        with pytest.raises(JobError, match="one crawl of a fleet: others hold originals"):
            rejudge(directory, NoWatch())
    with closing(open_for_reading(second)) as connection:
        report = make_report(connection)
    urls = tuple(f"http://example.com/{number}" for number in range(3))
    assert report.clusters == (PageCluster("http://example.com/a", 4, urls),)
    assert report.saved_bytes == report.fetched_bytes > 0
    live = LiveCrawl(second)
    live.look()
    originals = {live.original_of(page.id) for page in live.seen.pages}
    assert originals == {"http://example.com/a"}


def test_an_original_named_for_nobody_is_found_and_taken_away(tmp_path: Path) -> None:
    (folder,) = folders(tmp_path, 1)
    with fleet([folder], OPTIONS, OneMemory(Parameters())) as (job,):
        asyncio.run(said(job, "/a", Said(LONG)))
        job.database.write("INSERT INTO elsewhere VALUES (1, x'00', 'http://b/', NULL)")
    with closing(CrawlDirectory(folder)) as directory:
        found, mended = repair(directory, NoWatch())
        assert [one.rule for one in found.problems] == ["elsewhere-owned"]
        assert mended.findings == ()


def test_a_crawl_alone_goes_on_with_what_was_one_of_a_fleet(tmp_path: Path) -> None:
    first, second = folders(tmp_path)
    with fleet([first, second], OPTIONS, OneMemory(Parameters())) as (one, two):
        asyncio.run(said(one, "/a", Said(LONG)))
        asyncio.run(said(two, "/b", Said(LONG)))
    assert verdicts(capture(second, [("/c", html(OTHER))])) == ["new"]
