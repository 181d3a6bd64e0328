"""Rules of URLs of crawls that become one: what one revoked, and what waits by them."""

from __future__ import annotations

import shutil
from contextlib import closing
from itertools import permutations
from typing import TYPE_CHECKING

import pytest

from crawler.frontier.order import NewRequest, host_number
from crawler.job import Job
from crawler.maintenance.merge.merging import merge
from crawler.maintenance.verify.finding import encoded_request
from crawler.pages.page_store import PageStore
from crawler.storage.database import Database
from crawler.storage.states import COVERED, HOLDS, REVOKED, SKIPPED, WAITING, VariantState
from tests.crawler.maintenance.merge.crawls import (
    LONG,
    OTHER,
    crawled,
    merged,
    rows,
)
from tests.crawler.maintenance.merge.test_merging import texts
from tests.crawler.maintenance.rejudge.captured import Said
from tests.crawler.pages.test_capture import OPTIONS
from tests.no_watch import NoWatch
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path


HOST = host_number("example.com")


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
                "INSERT INTO url_kinds (question, name, met, tried, gained, barren, unclear,"
                " deepest, recent, state) VALUES ('text', 'kind', 0, ?, 1, ?, 0, 0, 1, ?)",
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
    sql = "SELECT name, tried, gained, barren, state FROM url_kinds"
    assert rows(tmp_path / "out", sql) == [("kind", 20, 1, 2, "slow")]
    assert rows(tmp_path / "out", "SELECT label FROM labels") == [("different",)]


def variant(folder: Path, *, is_wrong: bool) -> None:
    """A crawl that skips a variant, or that has revoked the rule by which it is one."""
    with closing(Job(folder, OPTIONS)) as job:
        rules, page = job.url_rules.fixed, job.canonicalizer.key("http://example.com/a?b=1&c=2")
        for query in ("c=2&b=1", "b=1&&c=2"):
            found = rules.meet(f"http://example.com/a?{query}", page)
            assert found is not None
            rules.put(found)
            rules.decide(found.key, agrees=not is_wrong)
        if not is_wrong:
            found = rules.meet("http://example.com/a?c=2&&b=1", page)
            assert found is not None
            rules.put(found._replace(state=VariantState.SKIPPED))


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


SKIPPED_URL = "http://example.com/u?x=1"


def skipping(folder: Path, rule: int, kind: str, skipped_by: int | None) -> Path:
    """A crawl with a rule in a state, a kind that it tried, and a request that they skip or not."""
    crawled(folder, [(f"/{folder.name}", Said(prose(folder.name, 200)))])
    with closing(Job(folder, OPTIONS)) as job:
        key = job.canonicalizer.key(SKIPPED_URL)
    with closing(Database(folder)) as database:
        database.write(
            "INSERT INTO url_rules (id, state, rule, positives, explored, saved, tried, origin,"
            " since) VALUES (5, ?, '\"shared\"', 1, 2, 5, '{\"tried\": []}', 'learned', 1.0)",
            (rule,),
        )
        database.write(
            "INSERT INTO url_kinds (id, question, name, met, tried, gained, barren, unclear,"
            " deepest, recent, state) VALUES (7, 'text', 'kind', 9, ?, 1, 1, 0, 1, 1, ?)",
            (50 if kind == "open" else 10, kind),
        )
        database.write(
            "INSERT INTO requests (state, tries, priority, depth, host, url, key, fixed, request,"
            " rule, group_digest) VALUES (?, 0, 0, 1, ?, ?, ?, 0, ?, ?, zeroblob(16))",
            (WAITING if skipped_by is None else SKIPPED, HOST, SKIPPED_URL, key,
             encoded_request(1), skipped_by),
        )  # fmt: skip
    return folder


@pytest.mark.parametrize(
    ("rule", "kind", "skipped_by", "waits"),
    [
        (REVOKED, "open", 5, True),
        (HOLDS, "open", 5, False),
        (HOLDS, "open", -7, True),
        (HOLDS, "closed", -7, False),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_what_one_crawl_skipped_waits_unless_its_rule_holds_in_the_whole(
    tmp_path: Path, *, rule: int, kind: str, skipped_by: int, waits: bool, is_first: bool
) -> None:
    own_kind = "closed" if skipped_by < 0 else "open"
    one = skipping(tmp_path / "one", HOLDS, own_kind, skipped_by)
    two = skipping(tmp_path / "two", rule, kind, None if waits else skipped_by)
    merge(tmp_path / "out", (one, two) if is_first else (two, one), NoWatch())
    sql = f"SELECT url FROM requests WHERE state = {WAITING}"
    assert rows(tmp_path / "out", sql) == ([(SKIPPED_URL,)] if waits else [])


def test_what_a_closed_kind_skipped_waits_where_the_whole_opens_it_again(tmp_path: Path) -> None:
    """It is closed for a budget that this crawl has not."""
    one, two = (skipping(tmp_path / name, COVERED, "closed", -7) for name in ("one", "two"))
    another = f"{SKIPPED_URL}&y=2"
    with closing(Database(two)) as database:
        database.write("UPDATE url_kinds SET id = 8")
        sql = "UPDATE requests SET url = ?, key = zeroblob(16), rule = -8 WHERE state = ?"
        database.write(sql, (another, SKIPPED))
    merge(tmp_path / "out", (one, two), NoWatch())
    sql = f"SELECT url FROM requests WHERE state = {WAITING}"
    assert rows(tmp_path / "out", sql) == []
    Job(tmp_path / "out", OPTIONS).close()
    assert rows(tmp_path / "out", sql) == [(SKIPPED_URL,), (another,)]


@pytest.mark.parametrize("skipped_by", [5, -7])
def test_what_one_crawl_is_to_make_whatever_it_learned_waits_in_the_whole(
    tmp_path: Path, skipped_by: int
) -> None:
    one = skipping(tmp_path / "one", HOLDS, "closed", skipped_by)
    two = skipping(tmp_path / "two", HOLDS, "closed", None)
    with closing(Database(two)) as database:
        database.write("UPDATE requests SET fixed = 1 WHERE state = ?", (WAITING,))
    merge(tmp_path / "out", (one, two), NoWatch())
    sql = f"SELECT url, fixed, rule FROM requests WHERE state IN ({WAITING}, {SKIPPED})"
    assert rows(tmp_path / "out", sql) == [(SKIPPED_URL, 1, None)]


def test_other_spellings_of_what_waits_are_kept(tmp_path: Path) -> None:
    folders = [crawled(tmp_path / name, [(f"/{name}", Said(LONG))]) for name in ("one", "two")]
    with closing(Job(folders[0], OPTIONS)) as job:
        key = job.canonicalizer.key("http://example.com/x")
    for folder, urls in zip(folders, (("x?", "/x"), ("/x", "X/../x")), strict=True):
        with closing(Database(folder)) as database:
            for place, url in enumerate(urls):
                database.write("INSERT INTO spellings VALUES (?, ?, ?, 0)", (key, place, url))
    merged(tmp_path, *folders)
    found = rows(tmp_path / "out", "SELECT place, url FROM spellings ORDER BY place")
    assert found == [(0, "x?"), (1, "/x"), (2, "X/../x")]


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
