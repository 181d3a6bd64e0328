"""One crawl directory made of many: what is newest, and what is held."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from contextlib import closing
from itertools import permutations
from typing import TYPE_CHECKING

import pytest

from crawler.frontier.order import NewRequest, host_number
from crawler.job import Job
from crawler.maintenance.merge.lost_originals import FleetRecord
from crawler.maintenance.merge.merging import merge
from crawler.maintenance.verify.finding import NoWatch, encoded_request
from crawler.pages.live_parameters import history, tune
from crawler.pages.page_links import LinkStore
from crawler.pages.page_store import PageStore
from crawler.pages.reasons import Reason
from crawler.reading.metadata.metadata_record import Metadata
from crawler.reading.reading import Link, Reading
from crawler.storage.database import Database, open_for_reading
from crawler.storage.states import WAITING, VariantState
from tests.crawler.maintenance.merge.crawls import (
    LONG,
    NEAR,
    OTHER,
    PARAMETERS,
    crawled,
    merged,
    others,
    rows,
)
from tests.crawler.maintenance.merge.test_any_deal import exported, problems
from tests.crawler.maintenance.rejudge.captured import Said, content_of
from tests.crawler.pages.sharing import OneMemory, fleet
from tests.crawler.pages.test_capture import OPTIONS, fetched
from tests.crawler.pages.test_sharing import said
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

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
    assert (found.fetched_twice, found.orphans, found.lost) == (0, 0, ())
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
        "/b": ("text_duplicate", a),
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
    assert (found.orphans, found.lost) == (2, ())
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
        asyncio.run(job.archivist.capture_read(answer, reading))
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
    assert (found.orphans, found.lost) == (1, ())
    assert texts(tmp_path / "out") == {"/b": text}
    shown = "SELECT content, page_type, content_source FROM pages"
    assert rows(tmp_path / "out", shown) == [content_of(text)]


def test_without_its_own_words_a_page_has_those_of_its_original(tmp_path: Path) -> None:
    """It is read anew at the next visit."""
    memory, left = OneMemory(PARAMETERS), lost_copy(tmp_path, OneMemory(PARAMETERS), Said(NEAR))
    lost_copy(tmp_path / "again", memory, Said(NEAR))
    with closing(sqlite3.connect(left / "crawl.db")) as connection:
        connection.execute("DELETE FROM near_texts")
        connection.commit()
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


def test_verdicts_name_their_parameters(tmp_path: Path) -> None:
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
    assert rows(tmp_path / "out", "SELECT parameters FROM pages ORDER BY id") == [(1,), (1,), (2,)]


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
            job.archivist.keep_links = True
            for number in range(3):
                path = f"/{folder.name}/{number}"
                page, extract = fetched(job, path, b"x"), Said(f"{LONG} {path * 9}").extract
                links = tuple(link(job, number))
                said_of[path] = [one.url for one in links]
                reading = Reading(page.url, extract=extract, links=links)
                asyncio.run(job.archivist.capture_read(page, reading))
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


def test_a_rule_that_one_crawl_revoked_holds_nowhere(tmp_path: Path) -> None:
    folders = [tmp_path / "one", tmp_path / "two"]
    for state, folder in enumerate(folders, 1):
        crawled(folder, [(f"/{state}", Said(prose(str(state), 200)))])
        with closing(Database(folder)) as database:
            for rule, its in (("shared", state), (f"of {state}", 1)):
                database.write(
                    "INSERT INTO url_rules (state, rule, positives, explored, saved, tried,"
                    " origin, since) VALUES (?, ?, ?, 2, 5, ?, 'learned', 1.0)",
                    (its, rule, state, '{"tried": [[0, "", 9, 0], [-3, "", 118, 0]]}'),
                )
            database.write(
                "INSERT INTO url_clusters"
                " (name, fetched, new, barren, met, counted, deepest, recent, state)"
                " VALUES ('kind', ?, 1, ?, 0, 0, 0, 0, ?)",
                (state * 10, state, ("open", "slow")[state - 1]),
            )
            database.write(
                f"INSERT INTO labels VALUES (zeroblob(16), x'{'01' * 16}', ?, 'a', 'b', ?)",
                (("duplicate", "different")[state - 1], float(state)),
            )
    merge(tmp_path / "out", folders, NoWatch())
    rules = rows(tmp_path / "out", "SELECT rule, state, positives, explored, saved FROM url_rules")
    assert sorted(rules) == [("of 1", 1, 1, 2, 5), ("of 2", 1, 2, 2, 5), ("shared", 2, 2, 4, 10)]
    # Which rule the third one was, only one crawl knew.
    tried = "SELECT DISTINCT tried ->> 'tried' FROM url_rules"
    assert rows(tmp_path / "out", tried) == [('[[0,"",9,0]]',)]
    sql = "SELECT name, fetched, new, barren, state FROM url_clusters"
    assert rows(tmp_path / "out", sql) == [("kind", 30, 2, 2, "slow")]
    assert rows(tmp_path / "out", "SELECT label FROM labels") == [("different",)]


def test_it_goes_on_as_one_crawl(tmp_path: Path) -> None:
    one = crawled(tmp_path / "one", [("/a", Said(LONG)), ("/b", Said(OTHER))])
    two = crawled(tmp_path / "two", [("/c", Said(NEAR)), ("/d", Said("Few words."))])
    merge(tmp_path / "out", [one, two], NoWatch())
    crawled(tmp_path / "out", [("/a", Said(LONG)), ("/c", Said(NEAR)), ("/e", Said(OTHER))])
    assert others(tmp_path / "out") == []
    found = {path: verdict for path, (verdict, _) in verdicts(tmp_path / "out").items()}
    assert (found["/a"], found["/c"], found["/e"]) == ("unchanged", "unchanged", "exact_duplicate")


def variant(folder: Path, *, is_wrong: bool) -> None:
    """A crawl that skips a variant, or that has revoked the rule by which it is one."""
    with closing(Job(folder, OPTIONS)) as job:
        rules, page = job.url_rules.fixed, job.canonicalizer.key("http://example.com/a?b=1&c=2")
        for query in ("c=2&b=1", "b=1&&c=2"):
            found = rules.meet(f"http://example.com/a?{query}", page)
            assert found is not None
            rules.put(found, 0, b"")
            rules.decide(found.key, agrees=not is_wrong)
        if not is_wrong:
            found = rules.meet("http://example.com/a?c=2&&b=1", page)
            assert found is not None
            rules.put(found._replace(state=VariantState.SKIPPED), 0, encoded_request(0))


def test_pages_are_one_by_a_rule_that_a_crawl_found_right(tmp_path: Path) -> None:
    one = crawled(tmp_path / "one", [("/a?b=1&c=2", Said(LONG))])
    two = crawled(tmp_path / "two", [("/a?c=2&b=1", Said(OTHER))])
    variant(one, is_wrong=False)
    found = merged(tmp_path, one, two)
    assert found.pages == 1
    assert texts(tmp_path / "out") == {"/a?c=2&b=1": OTHER}


def test_what_one_crawl_skipped_by_a_rule_that_another_revoked_is_requested(tmp_path: Path) -> None:
    one = crawled(tmp_path / "one", [("/a?b=1&c=2", Said(LONG))])
    two = crawled(tmp_path / "two", [("/a?b=1&c=2", Said(LONG))])
    variant(one, is_wrong=False)
    merged(tmp_path, one)
    with closing(Job(tmp_path / "out", OPTIONS)) as job:
        assert not job.url_rules.fixed.is_unsettled
    shutil.rmtree(tmp_path / "out")
    variant(two, is_wrong=True)
    merged(tmp_path, one, two)
    with closing(Job(tmp_path / "out", OPTIONS)) as job:
        assert job.url_rules.fixed.is_unsettled
        released = [found.url for found in job.url_rules.fixed.release()]
    assert released == ["http://example.com/a?c=2&&b=1"]


ORDERS = "/p?b=1&a=2", "/p?a=2&b=1", "/p?a=2&b=1&utm_source=x"


@pytest.mark.parametrize("order", list(permutations(ORDERS)))
def test_pages_that_a_tried_rule_takes_for_one_stay_pages_of_their_own(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    said = dict(zip(ORDERS, (LONG, OTHER, prose("third", 200)), strict=True))
    folders = [
        crawled(tmp_path / f"{at}", [(one, Said(said[one]))]) for at, one in enumerate(order)
    ]
    assert merged(tmp_path, *folders).kept == len(ORDERS)
    with closing(Job(tmp_path / "out", OPTIONS)) as job:
        store = PageStore(job.database)
        for path, text in said.items():
            row = store.previous(job.canonicalizer.key(f"http://example.com{path}"))
            assert row is not None
            assert (row.url, row.words) == (f"http://example.com{path}", len(text.split()))


def test_a_variant_that_waits_is_requested_though_another_crawl_has_its_page(
    tmp_path: Path,
) -> None:
    one, two, three = (tmp_path / name for name in ("one", "two", "three"))
    crawled(one, [("/p?a=2&b=1", Said(LONG))])
    for folder, query in ((two, "b=1&a=2"), (three, "b=1&a=2&utm_source=x")):
        crawled(folder, [])
        with closing(Job(folder, OPTIONS)) as job:
            url = f"http://example.com/p?{query}"
            key, request = job.canonicalizer.key(url), encoded_request(0)
            job.frontier.queue.push(NewRequest(HOST, url, 0, request, key))
    merged(tmp_path, one, two, three)
    sql = f"SELECT url FROM requests WHERE state = {WAITING} ORDER BY url"
    assert [url for (url,) in rows(tmp_path / "out", sql)] == [
        "http://example.com/p?b=1&a=2",
        "http://example.com/p?b=1&a=2&utm_source=x",
    ]
