"""One crawl directory made of many: what is newest, and what is held."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.frontier.order import NewRequest, host_number
from crawler.job import Job
from crawler.maintenance.merge.fleet_texts import FleetRecord
from crawler.maintenance.merge.merging import merge
from crawler.pages.live_parameters import history, tune
from crawler.pages.page_links import LinkStore
from crawler.pages.reasons import Reason
from crawler.reading.metadata.metadata_record import Metadata
from crawler.reading.reading import Link, Reading
from crawler.storage.database import open_for_reading
from crawler.storage.errors import JobError
from crawler.url_rules.file_links import FileLinks, read_aside
from crawler.url_rules.kinds import PAGE_OF_FILE
from tests.crawler.maintenance.merge.crawls import (
    LONG,
    NEAR,
    OTHER,
    PARAMETERS,
    crawled,
    merged,
    rows,
)
from tests.crawler.maintenance.merge.test_any_deal import exported, problems
from tests.crawler.maintenance.rejudge.captured import Said, content_of
from tests.crawler.pages.sharing import OneMemory, fleet
from tests.crawler.pages.test_capture import OPTIONS, fetched
from tests.crawler.pages.test_sharing import said
from tests.no_watch import NoWatch
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from crawler.pages.shared_verdicts import FleetKeptText

HOST = host_number("example.com")


def verdicts(folder: Path) -> dict[str, tuple[object, object]]:
    return {
        path: (page["verdict"], page["duplicate_of"]) for path, page in exported(folder).items()
    }


def texts(folder: Path) -> dict[str, object]:
    return {path: page["text"] for path, page in exported(folder).items() if page["text"]}


def test_one_directory_is_what_it_was(tmp_path: Path) -> None:
    pages: list[Said | bytes] = [Said(LONG), Said(LONG), Said(NEAR), Said("Few words.")]
    pages += [b"a file", b"a file"]
    one = crawled(tmp_path / "one", [(f"/{number}", page) for number, page in enumerate(pages)])
    crawled(one, [("/0", Said(OTHER)), ("/1", Said(LONG)), ("/new", Said(f"{OTHER} More."))])
    found = merged(tmp_path, one)
    assert exported(tmp_path / "out") == exported(one)
    assert (found.fetched_twice, found.now_kept, found.lost) == (0, 0, ())
    for table in ("known", "parameters", "labels", "redirects"):
        sql = f"SELECT * FROM {table} ORDER BY 1"
        assert rows(tmp_path / "out", sql) == rows(one, sql)
    assert len(rows(tmp_path / "out", "SELECT 1 FROM pages")) == len(
        rows(one, "SELECT 1 FROM pages")
    )


def test_what_two_crawls_kept_that_did_not_know_each_other_is_kept_once(tmp_path: Path) -> None:
    one = crawled(tmp_path / "one", [("/a", Said(LONG)), ("/copy", Said(LONG))])
    two = crawled(tmp_path / "two", [("/b", Said(LONG)), ("/near", Said(NEAR))])
    merged(tmp_path, one, two)
    a = "http://example.com/a"
    assert verdicts(tmp_path / "out") == {
        "/a": ("new", None),
        "/copy": ("exact_duplicate", a),
        "/b": ("exact_duplicate", a),
        "/near": ("near_duplicate", a),
    }


def test_a_page_that_two_crawls_fetched_is_there_once(tmp_path: Path) -> None:
    one = crawled(tmp_path / "one", [("/a", Said(LONG)), ("/b", Said(OTHER)), ("/file", b"file")])
    two = crawled(tmp_path / "two", [("/a", Said(LONG, "around")), ("/c", Said(LONG))])
    crawled(two, [("/file", b"file")])
    found = merged(tmp_path, one, two)
    assert found.fetched_twice == 2
    assert len(rows(tmp_path / "out", "SELECT 1 FROM pages")) == 4
    assert set(texts(tmp_path / "out")) == {"/a", "/b"}


def test_what_a_page_said_last_counts_and_what_it_said_first_is_not_lost(tmp_path: Path) -> None:
    """The copy says it from now on."""
    one = crawled(tmp_path / "one", [("/a", Said(LONG)), ("/copy", Said(LONG)), ("/n", Said(NEAR))])
    two = crawled(tmp_path / "two", [("/a", Said(OTHER))])
    found = merged(tmp_path, one, two)
    assert texts(tmp_path / "out") == {"/a": OTHER, "/copy": LONG}
    assert verdicts(tmp_path / "out")["/n"] == ("near_duplicate", "http://example.com/copy")
    assert (found.now_kept, found.lost) == (1, ())
    said_first = "SELECT count(*) FROM pages WHERE latest = 0 AND text IS NOT NULL"
    assert rows(tmp_path / "out", said_first) == [(1,)]


def fetched_as(folder: Path, metadata: Metadata) -> Path:
    """A crawl of one page that names itself so, with the same text each time."""
    page = Said(LONG, str(metadata))
    with closing(Job(folder, OPTIONS)) as job:
        job.claim("one plan")
        job.begin_visit()
        answer = fetched(job, "/a", page.body)
        reading = Reading(answer.url, metadata=metadata, extract=page.extract)
        asyncio.run(job.processor.capture_read(answer, reading))
        job.visits.end_queueing()
    return folder


@pytest.mark.parametrize("is_turned", [False, True])
def test_a_page_that_says_the_same_has_the_metadata_of_its_last_answer(
    tmp_path: Path, is_turned: bool
) -> None:
    then = Metadata("Then", "A. Nother", "2024-01-01", "en", "http://example.com/then")
    now = Metadata("Now", None, "2025-01-01", "en-GB", "http://example.com/now", sitename="Site")
    folders = [fetched_as(tmp_path / "one", then), fetched_as(tmp_path / "two", now)]
    found = merged(tmp_path, *(reversed(folders) if is_turned else folders))
    assert found.fetched_twice == 1
    page, last = exported(tmp_path / "out")["/a"], exported(folders[1])["/a"]
    columns = ("title", "author", "date", "language", "declared_url", "sitename", "sources")
    assert [page[name] for name in columns] == [last[name] for name in columns]
    name = "SELECT name FROM pages"
    assert rows(tmp_path / "out", name) == rows(folders[1], name)


def test_crawls_that_contradict_each_other_leave_one_kept(tmp_path: Path) -> None:
    """Each page is the other one's duplicate by its newest capture."""
    one, two = tmp_path / "one", tmp_path / "two"
    crawled(two, [("/b", Said(LONG))])
    crawled(one, [("/a", Said(LONG)), ("/b", Said(LONG))])
    crawled(two, [("/a", Said(LONG))])
    found = merged(tmp_path, one, two)
    assert (found.pages, found.kept, found.duplicates) == (2, 1, 1)


def test_a_failure_takes_no_page_away(tmp_path: Path) -> None:
    one = crawled(tmp_path / "one", [("/a", Said(LONG))])
    with closing(Job(tmp_path / "two", OPTIONS)) as job:
        job.begin_visit()
        job.store_failure(
            "http://example.com/a", "failed", Reason.HTTP_STATUS.stored(500), status=500
        )
        job.store_failure(
            "http://example.com/b", "failed", Reason.HTTP_STATUS.stored(500), status=500
        )
    merged(tmp_path, one, tmp_path / "two")
    assert verdicts(tmp_path / "out") == {"/a": ("new", None), "/b": ("failed", None)}


def lost_copy(tmp_path: Path, memory: OneMemory, page: Said) -> Path:
    """A worker whose page repeats what a worker had whose directory is gone."""
    folders = [tmp_path / "gone", tmp_path / "left"]
    with fleet(folders, OPTIONS, memory) as (gone, left):
        asyncio.run(said(gone, "/a", Said(LONG)))
        asyncio.run(said(left, "/b", page))
    return folders[1]


def test_what_nobody_holds_is_named_and_fetched_again(tmp_path: Path) -> None:
    left = lost_copy(tmp_path, OneMemory(PARAMETERS), Said(LONG))
    found = merged(tmp_path, left)
    assert found.lost == ("http://example.com/b",)
    assert found.queued
    assert rows(tmp_path / "out", "SELECT url FROM requests WHERE state = 0") == [(found.lost[0],)]


@pytest.mark.parametrize(("page", "text"), [(Said(LONG), LONG), (Said(NEAR), NEAR)])
def test_what_the_fleet_holds_is_kept(tmp_path: Path, page: Said, text: str) -> None:
    memory = OneMemory(PARAMETERS)
    left = lost_copy(tmp_path, memory, page)
    found = merge(tmp_path / "out", [left], NoWatch(), FleetRecord(memory.kept))
    assert problems(tmp_path / "out") == ()
    assert (found.now_kept, found.lost) == (1, ())
    assert texts(tmp_path / "out") == {"/b": text}
    shown = "SELECT content, page_type, content_source FROM pages"
    assert rows(tmp_path / "out", shown) == [content_of(text)]


def test_a_damaged_text_of_the_fleet_is_told_as_one_of_its_redis(tmp_path: Path) -> None:
    memory = OneMemory(PARAMETERS)
    left = lost_copy(tmp_path, memory, Said(LONG))

    async def damaged() -> AsyncIterator[FleetKeptText]:
        async for kept in memory.kept():
            yield kept._replace(text=kept.text[:9])

    told = r"^--redis: the text of http://example.com/b cannot be read .* merge without it"
    with pytest.raises(JobError, match=told):
        merge(tmp_path / "out", [left], NoWatch(), FleetRecord(damaged))


def forget_near_texts(folder: Path) -> None:
    with closing(sqlite3.connect(folder / "crawl.db")) as connection:
        connection.execute("DELETE FROM near_texts")
        connection.commit()


def test_without_its_own_words_a_duplicate_goes_on_repeating_a_page_of_another_crawl(
    tmp_path: Path,
) -> None:
    left = lost_copy(tmp_path, OneMemory(PARAMETERS), Said(NEAR))
    forget_near_texts(left)
    assert merged(tmp_path, tmp_path / "gone", left).lost == ()
    a = "http://example.com/a"
    assert verdicts(tmp_path / "out") == {"/a": ("new", None), "/b": ("near_duplicate", a)}
    measures = "SELECT distance, similarity FROM pages WHERE verdict = 'near_duplicate'"
    assert rows(tmp_path / "out", measures) == rows(left, measures)


def test_without_its_own_words_a_page_has_those_of_its_original(tmp_path: Path) -> None:
    """It is read anew at the next visit."""
    memory, left = OneMemory(PARAMETERS), lost_copy(tmp_path, OneMemory(PARAMETERS), Said(NEAR))
    lost_copy(tmp_path / "again", memory, Said(NEAR))
    forget_near_texts(left)
    merge(tmp_path / "out", [left], NoWatch(), FleetRecord(memory.kept))
    assert problems(tmp_path / "out") == ()
    assert texts(tmp_path / "out") == {"/b": LONG}
    assert rows(tmp_path / "out", "SELECT payload_digest FROM pages") == [(None,)]


def test_the_last_visits_are_one(tmp_path: Path) -> None:
    one = crawled(tmp_path / "one", [("/a", Said(LONG))])
    crawled(one, [("/a", Said(LONG))])
    crawled(one, [("/a", Said(LONG))])
    two = crawled(tmp_path / "two", [("/b", Said(OTHER))])
    merged(tmp_path, one, two)
    found = rows(tmp_path / "out", "SELECT visit, seen_visit FROM pages ORDER BY id")
    assert found == [(1, 3), (3, 3)]
    assert rows(tmp_path / "out", "SELECT visit, since FROM known ORDER BY visit, since") == [
        (3, 2),
        (3, 3),
    ]
    assert rows(tmp_path / "out", "SELECT value FROM meta WHERE name = 'visit'") == [("3",)]


def test_all_pages_are_judged_by_the_newest_parameters(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    crawled(one, [("/a", Said(LONG))])
    crawled(two, [("/b", Said(OTHER))])
    tune(one, {"max_distance": 5}, "tune")
    tune(two, {"max_distance": 5}, "tune")
    crawled(two, [("/c", Said(f"{prose('third', 200)}"))])
    merged(tmp_path, one, two)
    with closing(open_for_reading(tmp_path / "out")) as connection:
        found = [tuned.parameters.max_distance for tuned in history(connection.execute)]
    assert found == [PARAMETERS.max_distance, 5]
    assert rows(tmp_path / "out", "SELECT parameters FROM pages ORDER BY id") == [(2,)] * 3


def test_links_are_read_whatever_they_were_compressed_with(tmp_path: Path) -> None:
    def link(job: Job, number: int) -> list[Link]:
        many = range(number * 3_000, number * 3_000 + 2_500)
        return [
            Link(f"http://example.com/{job.folder}/{one:050}", b"", one % 2 == 0) for one in many
        ]

    said_of: dict[str, list[str]] = {}
    folders = [tmp_path / "one", tmp_path / "two"]
    for folder in folders:
        with closing(Job(folder, OPTIONS)) as job:
            job.begin_visit()
            job.processor.keep_links = True
            for number in range(3):
                path = f"/{folder.name}/{number}"
                page = fetched(job, path, path.encode())
                extract = Said(f"{LONG} {path * 9}").extract
                links = tuple(link(job, number))
                said_of[path] = [one.url for one in links]
                reading = Reading(page.url, extract=extract, links=links)
                asyncio.run(job.processor.capture_read(page, reading))
    merged(tmp_path, *folders)
    with closing(Job(tmp_path / "out", OPTIONS)) as job:
        store = LinkStore(job.database, job.canonicalizer.known_as)
        for path, urls in said_of.items():
            links, _ = store.get(job.canonicalizer.key(f"http://example.com{path}")) or ((), False)
            assert [one.url for one in links] == urls
            assert [one.nofollow for one in links] == [not n % 2 for n in range(2_500)]


def test_what_waits_anywhere_waits_unless_it_was_fetched(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for number, folder in enumerate(folders):
        with closing(Job(folder, OPTIONS)) as job:
            job.begin_visit()
            asyncio.run(said(job, f"/{number}", Said(f"{LONG} {number}" * (number + 1))))
            for path in ("/0", "/1", "/waits"):
                url = f"http://example.com{path}"
                job.frontier.queue.push(NewRequest(HOST, url, 0, b"", job.canonicalizer.key(url)))
            job.frontier.seen.add(bytes([number]) * 16)
    merged(tmp_path, *folders)
    waiting = rows(tmp_path / "out", "SELECT url FROM requests WHERE state = 0")
    assert waiting == [("http://example.com/waits",)]
    assert rows(tmp_path / "out", "SELECT count(*) FROM requests WHERE state = 2") == [(4,)]


def test_links_that_were_put_aside_stay_so_unless_another_crawl_asked_for_them(
    tmp_path: Path,
) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    urls = [f"http://example.com/{number}.jpg" for number in range(PAGE_OF_FILE.enough + 40)]
    for folder, links in zip(folders, (urls, urls[-2:]), strict=True):
        crawled(folder, [])
        with closing(Job(folder, OPTIONS)) as job:
            files = FileLinks(job.database, frozenset({"jpg"}))
            for url in links:
                kind, key = files.kind(url), job.canonicalizer.key(url)
                assert kind is not None
                if not files.put_aside(kind, url, key, 1, "http://example.com/"):
                    job.frontier.seen.add(key)
                    files.note(kind, is_page=False)
    aside = "SELECT key, kind, wider, url, depth, source FROM file_links ORDER BY key"
    before = rows(folders[0], aside)
    assert len(before) > 20
    merged(tmp_path, *folders)
    assert rows(tmp_path / "out", aside) == [row for row in before if row[3] not in urls[-2:]]
    with closing(open_for_reading(tmp_path / "out")) as connection:
        assert read_aside(connection.execute).to_ask == {}


def test_it_goes_on_as_one_crawl(tmp_path: Path) -> None:
    one = crawled(tmp_path / "one", [("/a", Said(LONG)), ("/b", Said(OTHER))])
    two = crawled(tmp_path / "two", [("/c", Said(NEAR)), ("/d", Said("Few words."))])
    merge(tmp_path / "out", [one, two], NoWatch())
    crawled(tmp_path / "out", [("/a", Said(LONG)), ("/c", Said(NEAR)), ("/e", Said(OTHER))])
    assert problems(tmp_path / "out") == ()
    found = {path: verdict for path, (verdict, _) in verdicts(tmp_path / "out").items()}
    assert (found["/a"], found["/c"], found["/e"]) == ("unchanged", "unchanged", "exact_duplicate")
