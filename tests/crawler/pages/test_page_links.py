"""The links of a page come back as they were, whatever was stored before them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.pages.page_links import DICTIONARY_BYTES, LinkGraph, LinkPacker, LinkStore
from crawler.reading.link_kinds import NAMES
from crawler.reading.reading import Link, Reading, StoredLink
from crawler.storage.database import Database, open_for_reading
from crawler.urls.canonical import Known
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    from pathlib import Path

WRITTEN = st.text(st.characters(blacklist_characters="\r\n\t")).map("http://example.com/".__add__)
TEXTS = st.text(st.characters(blacklist_characters="\r\n\t"))
LISTS = st.lists(
    st.builds(StoredLink, WRITTEN, st.booleans(), st.sampled_from([*NAMES, ""]), TEXTS)
)


def key(url: str) -> bytes:
    return payload_digest(url.encode("utf-8", "surrogatepass"))


def known_as(url: str) -> Known:
    return Known(key(url), is_canonical=True)


def links(*paths: str) -> tuple[Link, ...]:
    urls = [f"http://example.com/{path}" for path in paths]
    return tuple(
        Link(url, key(url), number % 3 == 2, text="" if number % 4 else f"to {url[-3:]}")
        for number, url in enumerate(urls)
    )


def put(store: LinkStore, page: bytes, found: tuple[Link, ...], *, nofollow: bool = False) -> None:
    store.put(page, Reading("", links=found), nofollow=nofollow, places=None)


class TestLinkPackerProperties:
    @given(LISTS, st.booleans(), st.lists(WRITTEN))
    def test_unpacks_what_it_packed(
        self,
        found: list[StoredLink],
        nofollow: bool,
        shared: list[str],
    ) -> None:
        packer = LinkPacker("\n".join(shared).encode("utf-8", "surrogatepass"))
        assert packer.unpack(packer.pack(found, nofollow=nofollow)) == (found, nofollow)


@pytest.fixture
def database(tmp_path: Path) -> Database:
    return Database(tmp_path)


def test_nothing_was_stored(database: Database) -> None:
    store = LinkStore(database, known_as)
    assert b"page" not in store
    assert store.get(b"page") is None


def test_the_newest_list_counts(database: Database) -> None:
    store = LinkStore(database, known_as)
    put(store, b"page", links("a", "b", "c"))
    put(store, b"page", links("c", "d"), nofollow=True)
    assert b"page" in store
    assert store.get(b"page") == (links("c", "d"), True)


def test_a_page_without_links_has_a_list(database: Database) -> None:
    store = LinkStore(database, known_as)
    put(store, b"page", ())
    assert b"page" in store
    assert store.get(b"page") == ((), False)


def test_what_is_no_url_is_stored_beside_the_links_and_followed_by_no_visit(
    database: Database, tmp_path: Path
) -> None:
    store = LinkStore(database, known_as)
    reading = Reading("", links=links("a"), malformed=(("http://[ x", "Words"), ("!@", "")))
    store.put(b"page", reading, nofollow=False, places=None)
    assert store.get(b"page") == (links("a"), False)
    database.commit()
    with closing(open_for_reading(tmp_path)) as connection:
        stored = LinkGraph(connection).links_of(b"page")
    assert stored[1:] == [
        StoredLink("http://[ x", False, "", "Words"),
        StoredLink("!@", False, "", ""),
    ]


def test_lists_before_and_after_the_dictionary_are_read_by_another_process(
    database: Database,
) -> None:
    pages = DICTIONARY_BYTES // (20 * 40)
    lists = {
        number: links(*(f"page/{number * 20 + step}/{'x' * 20}" for step in range(20)))
        for number in range(pages * 2)
    }
    store = LinkStore(database, known_as)
    for number, found in lists.items():
        put(store, number.to_bytes(16), found)
    rows = database.read("SELECT DISTINCT shared FROM links ORDER BY 1").fetchall()
    assert rows == [(0,), (1,)], "some were stored before the dictionary, some after it"
    again = LinkStore(database, known_as)
    for number, found in lists.items():
        assert again.get(number.to_bytes(16)) == (found, False)
