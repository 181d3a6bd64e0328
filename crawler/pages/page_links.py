"""Store the links of pages, for the visit in which a page is not sent again."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import zstandard

from crawler.reading.link_kinds import ANCHOR, NUMBERS
from crawler.reading.reading import Link, StoredLink, distinct_urls

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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

    def pack(self, links: Iterable[StoredLink], *, nofollow: bool) -> bytes:
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

    Raises:
        ValueError: It has another sign.
    """
    url, _, text = line.removeprefix(_MARK).partition(_TEXT)
    kind = ANCHOR
    if url.startswith(_KIND):
        kind, _, url = url.removeprefix(_KIND).partition(" ")
        if kind not in NUMBERS:
            raise ValueError(f"no kind of links is called {kind!r}")
    return StoredLink(url, line.startswith(_MARK), kind, text)


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

    def put(self, key: bytes, links: Sequence[Link], *, nofollow: bool) -> None:
        packer = self._shared or self._plain
        packed = packer.pack(distinct_urls(links), nofollow=nofollow)
        row = (self._shared is not None, packed)
        stored = self._database.read("SELECT shared, urls FROM links WHERE key = ?", (key,))
        if stored.fetchone() != row:
            self._database.write(
                "INSERT INTO links (key, shared, urls) VALUES (?, ?, ?) ON CONFLICT (key)"
                " DO UPDATE SET shared = excluded.shared, urls = excluded.urls",
                (key, *row),
            )
        if self._shared is None:
            self._learn(links)

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
        row = self._database.read("SELECT 1 FROM links WHERE key = ?", (key,)).fetchone()
        return row is not None

    def get(self, key: bytes) -> tuple[tuple[Link, ...], bool] | None:
        """Return the links of a page and whether none may be followed, or None if none are stored.

        Spellings of one URL are separate links here.
        """
        row = self._database.read("SELECT shared, urls FROM links WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        packer = self._shared if row[0] else self._plain
        assert packer is not None
        found, nofollow = packer.unpack(row[1])
        links = []
        for url, marked, kind, text in found:
            key, is_canonical = self._known_as(url)
            links.append(Link(url, key, marked, is_canonical, (), kind, text))
        return tuple(links), nofollow
