"""Links to pages are counted as a person would who follows each of them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.maintenance.fault import Inlinks
from crawler.pages.page_links import LinkGraph, LinkStore
from crawler.reading.link_kinds import ANCHOR, CANONICAL
from crawler.reading.reading import Link, Reading
from crawler.storage.database import Database, open_for_reading
from crawler.urls.canonical import Canonicalizer

if TYPE_CHECKING:
    from collections.abc import Iterator

CANONICALIZER = Canonicalizer()
NUMBERS = st.integers(0, 11)
LINKS = st.lists(st.tuples(NUMBERS, NUMBERS, st.sampled_from((ANCHOR, CANONICAL))), max_size=25)
REDIRECTS = st.dictionaries(NUMBERS, NUMBERS, max_size=6)


def url(number: int) -> str:
    return f"http://example.com/{number}"


def key(number: int) -> bytes:
    return CANONICALIZER.key(url(number))


def spellings(number: int) -> tuple[str, ...]:
    """Return other URLs of a page, of every second one."""
    return (f"{url(number)}?utm_source=x", f"{url(number)}#top") if number % 2 else ()


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    opened = Database(tmp_path_factory.mktemp("crawl"))
    yield opened
    opened.close()


def fill(
    database: Database, links: list[tuple[int, int, str]], redirects: dict[int, int]
) -> tuple[dict[int, list[tuple[int, str]]], list[int]]:
    """Store pages with links, and redirects; return the links of each page, and the pages."""
    for table in ("pages", "links", "redirects"):
        database.write(f"DELETE FROM {table}", ())
    pages = [number for number in range(12) if number not in redirects]
    lists: dict[int, list[tuple[int, str]]] = {number: [] for number in pages}
    for source, target, kind in links:
        if source in lists and target not in {number for number, _ in lists[source]}:
            lists[source].append((target, kind))
    store = LinkStore(database, CANONICALIZER.known_as)
    for number in pages:
        row = (number + 1, key(number), url(number), url(number))
        database.write(
            "INSERT INTO pages (id, key, url, canonical_url, latest, visit, fetched_at, seen_visit,"
            " seen_at, depth, body_bytes, links, verdict, better_copy, checksum)"
            " VALUES (?, ?, ?, ?, 1, 1, 0, 1, 0, 1, 0, 0, 'new', 0, 0)",
            row,
        )
        found = tuple(
            Link(url(target), key(target), False, True, spellings(target), kind, f"to {target}")
            for target, kind in lists[number]
        )
        store.put(key(number), Reading(url(number), links=found), nofollow=False, places=None)
    for source, target in redirects.items():
        redirect = (key(source), url(source), key(target))
        database.write("INSERT INTO redirects VALUES (?, ?, ?, '')", redirect)
    database.commit()
    return lists, pages


def passed(start: int, redirects: dict[int, int]) -> set[int]:
    """Return what somebody passes who goes somewhere, and on as redirects lead."""
    places, place = set(), start
    while place not in places:
        places.add(place)
        place = redirects.get(place, place)
    return places


@settings(deadline=None)
@given(links=LINKS, redirects=REDIRECTS)
def test_counts_are_those_of_somebody_who_follows_each_link(
    database: Database, links: list[tuple[int, int, str]], redirects: dict[int, int]
) -> None:
    lists, pages = fill(database, links, redirects)
    assert database.path is not None
    with closing(open_for_reading(database.path.parent)) as connection:
        inlinks = Inlinks(connection, {key(number): False for number in range(12)}, 3)
        inlinks.read(LinkGraph(connection), CANONICALIZER, lambda: None)
    reached = set()
    for source, targets in lists.items():
        for target, kind in targets:
            if kind == ANCHOR and target != source:
                reached |= passed(target, redirects)
    known = [*pages, *redirects]
    for number in known:
        sources = [
            source
            for source, targets in lists.items()
            if source != number and (number, ANCHOR) in targets
        ]
        count, examples = inlinks.of(key(number))
        assert count == len(sources)
        assert [one.url for one in examples] == [url(source) for source in sources[:3]]
        assert all(one.text == f"to {number}" for one in examples)
    linked = inlinks.are_linked([key(number) for number in known])
    assert {number for number, is_linked in zip(known, linked, strict=True) if is_linked} == {
        number for number in known if number in reached
    }
