"""Store the links of pages, for visits in which a page is not sent again, and read all of them."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import zstandard

from crawler.pages.page_row import newest_url
from crawler.pages.verdicts import GONE, MOVED, listed
from crawler.reading.link_kinds import ANCHOR, NUMBERS
from crawler.reading.reading import Link, StoredLink, distinct_urls

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from crawler.reading.reading import Places, Reading
    from crawler.storage.database import Database
    from crawler.urls.canonical import Known

_MARK = "!"
_KIND = "@"
_TEXT = "\t"  # a URL has none, nor a text

DICTIONARY_BYTES = 112_640
"""Collect this many bytes of URLs from the first pages as the dictionary of later lists.

At its usual level zstd looks back no farther.
"""

_RECENT_KEYS = 20_000

_PUT = """
INSERT INTO links (key, shared, urls, places) VALUES (?, ?, ?, ?) ON CONFLICT (key)
DO UPDATE SET shared = excluded.shared, urls = excluded.urls, places = excluded.places
WHERE (links.shared, links.urls, links.places)
    IS NOT (excluded.shared, excluded.urls, excluded.places)
"""


class LinkPacker:
    """Packs and unpacks lists of links.

    Args:
        dictionary: URLs that many pages link to, or nothing. A list is unpacked with the
            dictionary that it was packed with.
    """

    def __init__(self, dictionary: bytes = b"") -> None:
        shared = None
        if dictionary:
            shared = zstandard.ZstdCompressionDict(
                dictionary, dict_type=zstandard.DICT_TYPE_RAWCONTENT
            )
        self._compressor = zstandard.ZstdCompressor(dict_data=shared, write_checksum=True)
        self._decompressor = zstandard.ZstdDecompressor(dict_data=shared)

    def pack(self, links: Iterable[tuple[str, bool, str, str]], *, nofollow: bool) -> bytes:
        """Pack links in the order of the page."""
        lines = [_MARK if nofollow else ""]
        # Nearly every link is a plain one: written here, without a call for each.
        lines += [
            (f"{url}{_TEXT}{text}" if text else url)
            if kind == ANCHOR and not marked
            else _written(url, marked, kind, text)
            for url, marked, kind, text in links
        ]
        return self._compressor.compress("\n".join(lines).encode("utf-8", "surrogatepass"))

    def unpack(self, packed: bytes) -> tuple[list[StoredLink], bool]:
        """Return the links of a page, and whether it wants none of them followed."""
        text = self._decompressor.decompress(packed).decode("utf-8", "surrogatepass")
        first, *lines = text.split("\n")
        return list(map(_stored_link, lines)), first == _MARK


def _written(url: str, marked: bool, kind: str, text: str) -> str:  # a row
    sign = "" if kind == ANCHOR else f"{_KIND}{kind} "
    return (_MARK if marked else "") + sign + url + (text and _TEXT + text)


def _stored_link(line: str) -> StoredLink:
    """Read a line: the signs of ``nofollow`` and of a kind, a URL, which begins with none, a text.

    What is no URL has an empty kind.

    Raises:
        ValueError: It has another sign.
    """
    url, _, text = line.removeprefix(_MARK).partition(_TEXT)
    kind = ANCHOR
    if url.startswith(_KIND):
        kind, _, url = url.removeprefix(_KIND).partition(" ")
        if kind and kind not in NUMBERS:
            raise ValueError(f"no kind of links is called {kind!r}")
    return StoredLink(url, line.startswith(_MARK), kind, text)


class PlacesError(ValueError):
    """The stored value is no list of places."""


def unpack_places(packed: bytes) -> Places:
    """Return the places of a page, and the links to places.

    Raises:
        PlacesError: They are damaged.
    """
    try:
        names, linked = json.loads(zstandard.decompress(packed))
        lists = [names or [], *linked.values()]
    except (ValueError, TypeError, AttributeError):
        raise PlacesError("no places") from None
    if not all(isinstance(one, list) and all(isinstance(x, str) for x in one) for one in lists):
        raise PlacesError("no names of places")
    return names, linked


class LinkStore:
    """The links of each page's newest capture, as they were on the page.

    Measured on the manuals of Python, PostgreSQL, OpenJDK and Apache, 11 to 43 links a page: 5.8 to
    7.2 bytes a link, 10 to 16 without the dictionary; ids of URLs would take 1.6, and the table
    behind them 14 to 24. The row and its index take 60 to 80 bytes a page more. Storing takes 12 to
    23 us a page, reading 14 to 38.

    Args:
        database: The crawl's database.
        known_as: Function that returns the key of a URL; recent results are cached.
    """

    with_places = False  # whether the places of pages are stored, and the links to places

    def __init__(self, database: Database, known_as: Callable[[str], Known]) -> None:
        self._database = database
        self._known_as = lru_cache(_RECENT_KEYS)(known_as)
        self._plain = LinkPacker()
        self._shared: LinkPacker | None = None
        self._met: dict[str, None] = {}
        self._met_bytes = 0
        row = database.read("SELECT urls FROM link_dictionary").fetchone()
        if row is not None:
            self._shared = LinkPacker(row[0])

    def put(self, key: bytes, reading: Reading, *, nofollow: bool, places: Places | None) -> None:
        packer = self._shared or self._plain
        links = distinct_urls(reading.links)
        links += [(written, False, "", text) for written, text in reading.malformed]
        packed = packer.pack(links, nofollow=nofollow)
        said = json.dumps(places or (None, {})).encode() if self.with_places else None
        row = (self._shared is not None, packed, said and zstandard.compress(said))
        self._database.write(_PUT, (key, *row))
        if self._shared is None:
            self._learn(reading.links)

    def _learn(self, links: Sequence[Link]) -> None:
        for link in links:
            line = f"{link.url}{_TEXT}{link.text}" if link.text else link.url
            if line not in self._met:
                self._met[line] = None
                self._met_bytes += len(line) + 1
        if self._met_bytes >= DICTIONARY_BYTES:
            urls = "\n".join(self._met).encode("utf-8", "surrogatepass")[:DICTIONARY_BYTES]
            self._database.write("INSERT INTO link_dictionary VALUES (1, ?)", (urls,))
            self._shared = LinkPacker(urls)
            self._met.clear()

    def __contains__(self, key: bytes) -> bool:
        sql = "SELECT 1 FROM links WHERE key = ? AND (places IS NOT NULL OR NOT ?)"
        return self._database.value(sql, (key, self.with_places)) is not None

    def get(self, key: bytes) -> tuple[tuple[Link, ...], bool] | None:
        """Return the links of a page and whether none may be followed, or None if none are stored.

        Spellings of one URL are separate links here.
        """
        row = self._database.read(_LIST, (key,)).fetchone()
        if row is None:
            return None
        packer = self._shared if row[0] else self._plain
        assert packer is not None
        found, nofollow = packer.unpack(row[1])
        links = []
        for url, marked, kind, text in found:
            if not kind:
                continue
            key, is_canonical = self._known_as(url)
            links.append(Link(url, key, marked, is_canonical, (), kind, text))
        return tuple(links), nofollow


_BATCH = 200
"""Read at most this many lists at once: a read that lasts keeps SQLite from shortening its log."""

_LISTS = f"""
SELECT id, key, shared, urls, places FROM links
WHERE id > ? AND (places IS NOT NULL OR NOT ?) AND NOT EXISTS (
  SELECT 1 FROM known WHERE known.key = links.key AND outcome IN ({listed({GONE, MOVED})})
)
ORDER BY id LIMIT ?
"""
_LIST = "SELECT shared, urls, places FROM links WHERE key = ?"


class PageLink(NamedTuple):
    """A link of a page.

    Attributes:
        source: The URL of the page, as requested.
        target: The URL that it links to, without what stands behind ``#``.
        kind: The kind of the link, such as ``anchor`` (``crawler.reading.link_kinds``); empty where
            the target is no URL.
        text: What the link shows, at most 100 characters; empty where it shows nothing.
        follow: Whether the page lets crawlers follow it: no ``nofollow`` speaks against that.
    """

    source: str
    target: str
    kind: str
    text: str
    follow: bool


class LinksOfPage(NamedTuple):
    """The links of one page.

    Attributes:
        key: Key of the page.
        url: Its URL, as requested.
        links: Its links, in the order of the page.
        nofollow: Whether it wants none of them followed.
        places: Its places and the links to places; None where they were not asked for.
    """

    key: bytes
    url: str
    links: list[StoredLink]
    nofollow: bool
    places: Places | None


class LinkGraph:
    """The links of the newest capture of each page that is there.

    A page that is gone, or redirects now, has none; one that failed at its last visit has those
    that it had.

    Args:
        connection: Connection from ``open_for_reading``.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._plain = LinkPacker()
        self._shared: LinkPacker | None = None

    def count(self) -> int:
        """Return how many pages have a list of links."""
        return int(self._connection.execute("SELECT count(*) FROM links").fetchone()[0])

    def lists(self, *, with_places: bool = False) -> Iterator[LinksOfPage]:
        """Yield the links of each page, or of those alone whose places were asked for.

        Complexity: O(links), in constant memory.
        """
        last = 0
        while rows := self._connection.execute(_LISTS, (last, with_places, _BATCH)).fetchall():
            last = rows[-1][0]
            for _, key, is_shared, packed, said in rows:
                url = newest_url(self._connection.execute, key)
                if url is None:
                    continue
                places = unpack_places(said) if said is not None and with_places else None
                yield LinksOfPage(key, url, *self._packer(is_shared).unpack(packed), places)

    def links_of(self, key: bytes) -> list[StoredLink]:
        """Return the links of a page; none where no list is stored."""
        row = self._connection.execute(_LIST, (key,)).fetchone()
        return [] if row is None else self._packer(row[0]).unpack(row[1])[0]

    def places_of(self, key: bytes) -> frozenset[str] | None:
        """Return the names of the places of a page, None where they are not known."""
        row = self._connection.execute(_LIST, (key,)).fetchone()
        names = None if row is None or row[2] is None else unpack_places(row[2])[0]
        return None if names is None else frozenset(names)

    def __iter__(self) -> Iterator[PageLink]:
        """Yield every link, page after page."""
        for page in self.lists():
            for url, nofollow, kind, text in page.links:
                yield PageLink(page.url, url, kind, text, not (nofollow or page.nofollow))

    def _packer(self, is_shared: int) -> LinkPacker:
        if not is_shared:
            return self._plain
        if self._shared is None:
            row = self._connection.execute("SELECT urls FROM link_dictionary").fetchone()
            self._shared = LinkPacker(row[0])
        return self._shared
