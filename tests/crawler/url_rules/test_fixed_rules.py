"""Fixed rules are tried on each host; where one is wrong, no page is lost."""

from __future__ import annotations

import time
from contextlib import closing
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from crawler.pages.page_row import PageRow
from crawler.pages.page_store import PageStore
from crawler.reading.content.content_xml import compress
from crawler.storage.database import Database
from crawler.storage.states import VariantState
from crawler.url_rules.fixed_rules import FixedRules
from crawler.url_rules.variants import MAX_PLACES, PageKeys, tried_rules
from crawler.urls.canonical import Canonicalizer

HOST = "http://site.test"
ORDERS = ("a=1&b=2", "b=2&a=1")
SOURCES = ("", "&utm_source=one", "&utm_source=two")
SESSIONS = ("", *(f"&PHPSESSID={number:032x}" for number in range(2)))
QUERIES = [f"{o}{s}{i}" for o, s, i in product(ORDERS, SOURCES, SESSIONS)]
QUERIES += [f"{i[1:]}&{o}" for o, i in product(ORDERS, SESSIONS[1:])]


class SmallCrawl:
    """Real tables and rules; what was requested is answered when a test says so."""

    def __init__(self, folder: Path, matters: frozenset[str]) -> None:
        self.folder = folder
        self.matters = matters
        self.fetched: list[str] = []
        self.texts: set[str] = set()
        self.waiting: list[tuple[str, bytes]] = []
        self.open()

    def open(self) -> None:
        self.database = Database(self.folder)
        self.database.set_meta("visit", "1")
        self.canonical = Canonicalizer()
        self.store = PageStore(self.database)
        self.rules = FixedRules(self.database, self.canonical)
        self.rules.resume()
        sql = "SELECT key FROM requests WHERE key IS NOT NULL"
        self.seen = {bytes(key) for (key,) in self.database.read(sql)}
        sql = "SELECT url, key FROM requests WHERE state = 0 ORDER BY id"
        self.waiting = [(url, bytes(key)) for url, key in self.database.read(sql)]

    def kill(self) -> None:
        """The process ends, and another one begins; what was not committed never was."""
        self.database.fail("killed")
        self.database.close()
        self.open()

    def close(self) -> None:
        self.database.close()

    def said(self, url: str) -> str:
        """The text of a page: its path, and the part of its query that matters."""
        path, query = urlsplit(url)[2:4]
        parts = query.split("&")
        kept = [part for part in parts if part[:1] in {"a", "b"}]
        if "sort_arguments" not in self.matters:
            kept.sort()
        for name, rule in (("utm_", "utm"), ("PHPSESSID", "phpsessid")):
            if rule in self.matters:
                kept += sorted(part for part in parts if part.startswith(name))
        return f"{path} {'&'.join(kept)}"

    def meet(self, url: str) -> None:
        """A page links to a URL."""
        key = self.canonical.key(url)
        if key not in self.seen:
            self._queue(url, key)
            self.rules.note_first(key, url)
            return
        variant = self.rules.meet(url, key) if not self.canonical.is_separate(key) else None
        if variant is not None:
            self.rules.put(variant)
            if variant.state != VariantState.SKIPPED:
                self._queue(url, variant.key)

    def _queue(self, url: str, key: bytes) -> None:
        assert self.canonical.key(url) == key
        self.seen.add(key)
        self.waiting.append((url, key))
        self.database.write(
            "INSERT INTO requests (state, tries, priority, depth, host, url, key, fixed, request)"
            " VALUES (0, 0, 0, 0, 0, ?, ?, 0, x'')",
            (url, key),
        )

    def answer(self, at: int = 0) -> None:
        """A request that waits is answered."""
        url, key = self.waiting.pop(at % len(self.waiting))
        self.fetched.append(url)
        said = self.said(url)
        self.texts.add(said)
        digest = xxhash.xxh3_128_digest(said.encode())
        kept = self.store.find_by_digest(digest)
        now = time.time()
        row = PageRow(
            id=self.store.new_id(), key=key, url=url, canonical_url=self.canonical(url), latest=1,
            visit=1, fetched_at=now, seen_visit=1, seen_at=now, depth=0, status=200, words=100,
            verdict="new" if kept is None else "text_duplicate", words_digest=digest,
            text_digest=digest, payload_digest=digest,
        )  # fmt: skip
        if kept is None:
            row.text = compress(said.encode())
        else:
            row.duplicate_of, row.similarity = kept.id, 1.0
        self.store.insert(row)
        self.database.write("UPDATE requests SET state = 2 WHERE key = ?", (key,))
        self.rules.observe(row)

    def release(self) -> None:
        while self.rules.is_releasing:
            for key, url in self.rules.take_controls():
                self.fetched.append(url)
                digest = xxhash.xxh3_128_digest(self.said(url).encode())
                assert self.rules.note_control(key, digest)
            for variant in self.rules.release():
                if variant.key not in self.seen:
                    self._queue(variant.url, variant.key)

    def finish(self) -> None:
        self.release()
        while self.waiting:
            self.answer()
            self.release()


RULES = ("phpsessid", "sort_arguments", "utm")


def some_of(rules: tuple[str, ...]) -> st.SearchStrategy[frozenset[str]]:
    return st.frozensets(st.sampled_from(rules))


class TestFixedRulesProperties:
    @given(
        matters=some_of(RULES),
        links=st.lists(
            st.tuples(st.sampled_from(("/p", "/q", "/r/s")), st.sampled_from(QUERIES)),
            min_size=1,
            max_size=40,
        ),
        acts=st.lists(st.sampled_from(("answer", "answer", "release", "commit", "kill"))),
    )
    def test_no_page_is_lost_whatever_matters(
        self, matters: frozenset[str], links: list[tuple[str, str]], acts: list[str]
    ) -> None:
        with TemporaryDirectory() as folder, closing(SmallCrawl(Path(folder), matters)) as crawl:
            met: list[str] = []
            for path, query in links:
                met.append(f"{HOST}{path}?{query}")
                crawl.meet(met[-1])
                act = acts.pop() if acts else ""
                if act == "answer" and crawl.waiting:
                    crawl.answer(len(acts))
                elif act == "release":
                    crawl.release()
                elif act == "commit":
                    crawl.database.commit()
                elif act == "kill":
                    crawl.kill()
                    for url in met:  # the pages that link to them are fetched again
                        crawl.meet(url)
            crawl.finish()
            assert crawl.texts >= {crawl.said(url) for url in met}
            crawl.database.commit()
            keys = PageKeys(crawl.database.read)
            for url in met:
                page = crawl.store.previous(keys(url))
                assert page is not None
                assert crawl.said(page.url) == crawl.said(url)


def crawled(folder: Path, urls: list[str], *matters: str) -> SmallCrawl:
    crawl = SmallCrawl(folder, frozenset(matters))
    for url in urls:
        crawl.meet(url)
    crawl.finish()
    return crawl


@pytest.mark.parametrize("query", ["utm_source=x", "PHPSESSID=" + "a" * 32, "b=2&a=1", "a=1&&b=2"])
def test_a_right_rule_costs_a_handful_of_requests(query: str, tmp_path: Path) -> None:
    plain = "" if "a=1" not in query else "?a=1&b=2"
    urls = [f"{HOST}/p{number}{some}" for number in range(500) for some in (plain, f"?{query}")]
    with closing(crawled(tmp_path, urls)) as crawl:
        assert len(crawl.fetched) <= 500 + MAX_PLACES + 5


def test_a_rule_is_revoked_on_the_host_where_it_is_wrong(tmp_path: Path) -> None:
    other = HOST.replace("site", "other")
    urls = [f"{host}/p?{order}" for host in (HOST, other) for order in ORDERS]
    with closing(SmallCrawl(tmp_path, frozenset({"sort_arguments"}))) as crawl:
        for url in urls[:2]:
            crawl.meet(url)
        crawl.finish()
        crawl.matters = frozenset()
        for url in urls[2:]:
            crawl.meet(url)
        crawl.finish()
        crawl.database.commit()
        rows = [(host, row.reason is None) for host, _, row in tried_rules(crawl.database.read)]
    assert sorted(rows) == [("other.test", True), ("site.test", False)]


def test_one_session_id_in_two_places_says_nothing_of_session_ids(tmp_path: Path) -> None:
    session, other = (part[1:] for part in SESSIONS[1:])
    queries = [f"/q?{session}&b=2&a=1", "/p?a=1&b=2", f"/q?b=2&a=1&{session}"]
    with closing(SmallCrawl(tmp_path, frozenset({"phpsessid"}))) as crawl:
        crawl.meet(f"{HOST}/q?a=1&b=2")
        crawl.answer()
        for query in queries:  # the first one differs by two rules, of which one is blamed
            crawl.meet(HOST + query)
            crawl.answer()
        crawl.meet(url := f"{HOST}/p?a=1&b=2&{other}")
        crawl.finish()
        assert crawl.said(url) in crawl.texts


def test_a_url_that_is_met_first_in_a_visit_counts_as_no_trial(tmp_path: Path) -> None:
    sources = [f"{HOST}/p?utm_source={name}" for name in ("one", "two")]
    with closing(crawled(tmp_path, sources, "utm", "phpsessid")) as crawl:
        crawl.rules.begin_visit()
        url = f"{sources[1]}&{SESSIONS[1][1:]}"
        assert crawl.rules.keep_apart(url, crawl.canonical.key(url)) is None
        crawl.database.commit()
        rows = [(name, row.explored) for _, name, row in tried_rules(crawl.database.read)]
    assert rows == [("utm", 1)], "the next variant by a session's name is tried"


@pytest.mark.parametrize("wrong", ["phpsessid", "sort_arguments"])
def test_a_rule_is_not_found_right_by_urls_that_another_one_makes_equal(
    wrong: str, tmp_path: Path
) -> None:
    """A session at another place: the order of arguments and the name of it make the same."""
    session = SESSIONS[1][1:]
    urls = [
        f"{HOST}/p{number}?{query}"
        for number in range(6)
        for query in (f"{session}&a=1&b=2", f"a=1&b=2&{session}")
    ]
    others = SESSIONS if wrong == "phpsessid" else ("", "&", "&")
    orders = ORDERS if wrong == "sort_arguments" else ORDERS[:1]
    urls += [f"{HOST}/q?{order}{other}" for order in orders for other in others]
    with closing(crawled(tmp_path, urls, wrong)) as crawl:
        assert crawl.texts == {crawl.said(url) for url in urls}
        crawl.database.commit()
        rules = tried_rules(crawl.database.read)
        assert [name for _, name, row in rules if row.reason is not None] == [wrong]


def test_sessions_of_a_page_are_not_stored_without_end(tmp_path: Path) -> None:
    with closing(SmallCrawl(tmp_path, frozenset())) as crawl:
        for number in range(300):
            crawl.meet(f"{HOST}/p?PHPSESSID={number:032x}")
            crawl.finish()
        count = crawl.database.read("SELECT count(*) FROM variants").fetchone()[0]
    assert count < 80


def test_a_variant_that_gives_no_page_is_replaced_by_a_skipped_one(tmp_path: Path) -> None:
    urls = [f"{HOST}/p?{order}" for order in ORDERS] + [f"{HOST}/q?{order}" for order in ORDERS]
    with closing(SmallCrawl(tmp_path, frozenset({"sort_arguments"}))) as crawl:
        for url in urls:
            crawl.meet(url)
        tried = next(key for url, key in crawl.waiting if url == urls[1])
        crawl.waiting = [one for one in crawl.waiting if one[1] != tried]
        crawl.rules.note_failure(tried)
        crawl.finish()
        assert crawl.said(urls[3]) in crawl.texts


def test_a_page_that_always_changes_revokes_no_rule_about_sessions(tmp_path: Path) -> None:
    urls = [f"{HOST}/p?PHPSESSID={number:032x}" for number in range(2)]
    with closing(SmallCrawl(tmp_path, frozenset({"phpsessid"}))) as crawl:
        for url in urls:
            crawl.meet(url)
        crawl.answer()
        crawl.answer()
        ((key, url),) = crawl.rules.take_controls()
        assert url == urls[0]
        assert not crawl.rules.note_control(key, b"another")
        assert crawl.rules.note_control(key, b"another", "another text altogether")
        crawl.database.commit()
        found = tried_rules(crawl.database.read)
        rows = [(row.explored, row.positives, row.reason) for *_, row in found]
    assert rows == [(1, 0, None)]


def test_only_rules_that_no_standard_promises_are_tried() -> None:
    canonical = Canonicalizer()
    assert canonical.exact("HTTP://Site.test:80/%7e/./a?") == "http://site.test/~/a?"
    assert canonical.parting(f"{HOST}/a?b=1&utm_source=x&a=2", f"{HOST}/a?a=2&b=1") == (
        "sort_arguments",
        "utm",
    )
    assert canonical.parting(f"{HOST}/a?utm_source=x", f"{HOST}/a") == ("utm",)
    ways = [f"{HOST}/a?utm_source=x&&sid={'1a' * 16}", f"{HOST}/a?utm_source=x"]
    assert canonical.without(["utm"]).parting(*ways) == ("empty_arguments", "sid")
    ways = [f"{HOST}/a?sid={'1a' * 16}&x=2", f"{HOST}/a?x=2&sid={'1a' * 16}"]
    assert canonical.parting(*ways) == ()
    assert canonical.sufficient(*ways) == ("sid", "sort_arguments")


def test_a_killed_crawl_is_unsettled_until_what_it_skipped_was_reconsidered(tmp_path: Path) -> None:
    urls = [f"{HOST}/p{number}?{order}" for number in range(3) for order in ORDERS]
    with closing(SmallCrawl(tmp_path, frozenset({"sort_arguments"}))) as crawl:
        for url in urls:
            crawl.meet(url)
        while crawl.waiting:
            crawl.answer()
        crawl.database.commit()  # the rule is revoked, and nothing of it released
        crawl.kill()
        assert crawl.rules.is_unsettled
        crawl.finish()
        assert crawl.texts >= {crawl.said(url) for url in urls[3::2]}
        crawl.database.commit()
        crawl.kill()
        assert not crawl.rules.is_unsettled
        assert not crawl.rules.is_releasing


def test_a_key_has_the_page_of_the_same_url_at_each_visit_where_no_rule_is_tried(
    tmp_path: Path,
) -> None:
    urls = [f"{HOST}/p?{ORDERS[1]}", f"{HOST}/p?{ORDERS[1]}&utm_source=one"]
    with closing(crawled(tmp_path, urls[:1], "sort_arguments", "utm")) as crawl:
        crawl.rules.begin_visit()
        page = crawl.canonical.key(urls[0])
        assert crawl.rules.keep_apart(urls[0], page, tries=False) is None
        found = crawl.rules.keep_apart(urls[1], page, tries=False)
        assert found is not None
        assert (found.url, found.state) == (urls[1], VariantState.SEPARATE)
        crawl.rules.put(found)
        assert crawl.canonical.key(urls[1]) == found.key
        assert crawl.rules.keep_apart(urls[1], page, tries=True) is None


def test_a_page_that_a_visit_does_not_request_keeps_its_first_url_and_what_it_skips(
    tmp_path: Path,
) -> None:
    first, *others = [f"{HOST}/p?{ORDERS[1]}{source}" for source in (*SOURCES, "&utm_source=3")]
    with closing(crawled(tmp_path, [first, *others])) as crawl:
        page = crawl.canonical.key(first)
        sql = f"SELECT count(*) FROM variants WHERE state = {VariantState.SKIPPED}"
        (skipped,) = crawl.database.read(sql).fetchone()
        assert skipped
        crawl.rules.begin_visit()  # nothing is due: all counts as seen
        assert crawl.database.read(sql).fetchone() == (skipped,)
        assert not crawl.rules.is_first(page)
        assert crawl.rules.meet(first, page) is None
        found = crawl.rules.meet(f"{HOST}/p?{ORDERS[0]}", page)
        assert found is not None
        crawl.database.write("DELETE FROM requests")
        crawl.rules.begin_visit()
        assert crawl.rules.is_first(page)
        assert crawl.database.read(sql).fetchone() == (0,)
