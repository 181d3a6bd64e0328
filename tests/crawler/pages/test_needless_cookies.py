"""Which cookies are needless, and what shows that they are needed."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakSet

import pytest

from crawler.pages.needless_cookies import (
    MIN_PAGES,
    PROOFS,
    Answer,
    CookieDifference,
    NeedlessCookies,
    difference,
    needless_hosts,
)
from crawler.reading.reading import Link
from crawler.storage import meta_names
from crawler.storage.database import Database
from neardup.whole import with_whole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOST = "www.example.com"
SAME, TRAIL = CookieDifference([], is_trail=False), CookieDifference(["trace"], is_trail=True)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database(tmp_path)
    yield opened
    opened.close()


def tried(database: Database, *found: CookieDifference | None) -> NeedlessCookies:
    """A host whose pages came with cookies, and some comparisons."""
    cookies = NeedlessCookies(database)
    cookies.is_on = True
    chosen = [cookies.note_sent(HOST, {"session"}, page) for page in range(MIN_PAGES)]
    assert sum(map(len, chosen)) == PROOFS
    assert chosen[-1] == sorted(chosen[-1])
    for more in found:
        cookies.note_proof(HOST, more)
    return cookies


def link(path: str, text: str = "", key: bytes = b"") -> Link:
    return Link(f"http://{HOST}{path}", key or path.encode(), False, text=text)


def told(text: str, *links: Link, digest: bytes = b"") -> Answer:
    return Answer(text, digest, links, "en")


class Page:
    """The request for one."""


class TestDecisions:
    def test_pages_of_few_hosts_are_held(self, database: Database) -> None:
        cookies = NeedlessCookies(database)
        held: WeakSet[Page] = WeakSet()
        for host in range(1_500):
            for _ in range(MIN_PAGES - 1):
                page = Page()
                held.add(page)
                assert not cookies.note_sent(f"{host}.example", {"session"}, page)
        assert len(held) <= 1_000 * PROOFS
        chosen = cookies.note_sent("1499.example", {"session"}, Page())
        assert len(chosen) == PROOFS, "the last ones are"

    @pytest.mark.parametrize(
        ("found", "are_sent"),
        [
            ([SAME] * PROOFS, False),
            ([TRAIL] * PROOFS, False),
            ([SAME] * (PROOFS - 1), True),
            ([SAME, TRAIL, SAME, TRAIL], False),
            ([SAME, TRAIL, SAME, SAME], True),
            ([*[SAME] * (PROOFS - 1), None, SAME], True),
            ([*[TRAIL] * (PROOFS - 1), CookieDifference(["other"], is_trail=True)], True),
        ],
    )
    def test_all_pages_must_be_the_same_without_them(
        self, found: list[CookieDifference | None], are_sent: bool, database: Database
    ) -> None:
        cookies = tried(database, *found)
        assert cookies.are_sent(HOST) == are_sent
        assert cookies.are_sent("example.com"), "nothing is known of it"
        assert cookies.shows_trail(HOST) == (not are_sent and TRAIL in found)
        again = NeedlessCookies(database)
        assert again.are_sent(HOST), "another run may not want it"
        again.is_on = True
        assert again.are_sent(HOST) == are_sent
        assert not again.are_untried(HOST)
        hosts = needless_hosts(database.meta(meta_names.HOST_COOKIES))
        assert hosts == ([] if are_sent else [HOST])

    def test_a_page_that_needs_them_ends_it_for_good(self, database: Database) -> None:
        cookies = tried(database, *[TRAIL] * PROOFS)
        for harmless in (SAME, TRAIL):
            cookies.note_check(HOST, harmless)
        assert not cookies.are_sent(HOST)
        assert not cookies.due
        for _ in range(2):  # several are under way
            cookies.note_check(HOST, None)
        assert cookies.are_sent(HOST)
        assert cookies.due == [HOST]
        cookies.note_asked_again(HOST)
        assert not cookies.due
        cookies.note_proof(HOST, SAME)
        assert cookies.are_sent(HOST)

    @pytest.mark.parametrize(
        ("domain", "name", "are_sent"),
        [
            (HOST, "session", False),
            (HOST, "cart", True),
            (".example.com", "cart", True),
            ("shop.example.com", "cart", False),
        ],
    )
    def test_a_new_cookie_is_sent_with_the_others(
        self, domain: str, name: str, are_sent: bool, database: Database
    ) -> None:
        cookies = tried(database, *[SAME] * PROOFS)
        cookies.note_new(domain, name)
        assert cookies.are_sent(HOST) == are_sent
        assert not cookies.due, "what came before it is asked again as it is where any comes late"

    def test_first_pages_of_sections_are_checked_and_few_others(self, database: Database) -> None:
        cookies = tried(database, *[SAME] * PROOFS)
        urls = [f"http://{HOST}/{part}/{number}" for part in "ab" for number in range(100)]
        assert sum(cookies.is_checked(HOST, "new", url) for url in urls) == 2 * (3 + 2)
        assert sum(cookies.is_checked(HOST, "wall", url) for url in urls) == 2 * (3 + 5)
        many = [f"http://{HOST}/{part}/" for part in range(2_000)]
        assert sum(cookies.is_checked(HOST, "new", url) for url in many) < 200
        assert all(cookies.is_checked(HOST, "404") for _ in range(100))
        assert sum(cookies.is_checked(HOST, "404") for _ in range(100)) == 5


class TestDifferences:
    @pytest.mark.parametrize(
        ("sent", "unsent", "expected"),
        [
            (told("One two"), told("one  two"), SAME),
            (told("one two"), told("one"), CookieDifference(["two"], is_trail=False)),
            (told("one"), told("one two"), None),
            (told("seen at 10:20:30"), told("seen at 10:20:31"), SAME),
            (told("3 visitors online"), told("4 visitors online"), SAME),
            (
                told("trace b one", link("/a"), link("/b", "b"), digest=b"1"),
                told("one", link("/a")),
                CookieDifference(["trace"], is_trail=True),
            ),
            (
                told(with_whole("one", "one two"), link("/b", "b"), digest=b"1"),
                told("one two"),
                CookieDifference([], is_trail=True),
            ),
            (told("one", link("/new", "new")), told("one"), None),
            (told("one"), told("one", link("/a")), None),
            (told("one", link("/x?t=1", "out")), told("one", link("/x?t=2", "out")), SAME),
            (told("one", link("/x", "x")), told("one", link("/x?sid=2", "x")), None),
            (told("one b", link("/b", "b")), told("one", link("/b", "c")), SAME),
            (told("one", link("/b")), told("one", link("/b?PHPSESSID=1", key=b"/b")), None),
            (told("one", link("/b")), told("one", link("/b;jsessionid=1", key=b"/b")), None),
        ],
    )
    def test_words_beside_links_and_new_links_count(
        self, sent: Answer, unsent: Answer, expected: CookieDifference | None
    ) -> None:
        assert difference(sent, unsent, lambda key: key != b"/new") == expected
