"""Read the links between the pages of a crawl, a page at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.pages.page_links import LinkPacker
from crawler.pages.verdicts import GONE, MOVED, listed

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

    from crawler.reading.reading import StoredLink

_BATCH = 200
"""Read at most this many lists at once: a read that lasts keeps SQLite from shortening its log."""

_LISTS = f"""
SELECT links.id, links.key, pages.url, shared, urls FROM links
JOIN pages ON pages.key = links.key AND pages.latest = 1
WHERE links.id > ? AND NOT EXISTS (
  SELECT 1 FROM known WHERE known.key = links.key AND outcome IN ({listed({GONE, MOVED})})
)
ORDER BY links.id LIMIT ?
"""
_LIST = "SELECT shared, urls FROM links WHERE key = ?"


class PageLink(NamedTuple):
    """A link of a page.

    Attributes:
        source: The URL of the page, as requested.
        target: The URL that it links to, without what stands behind ``#``.
        kind: The kind of the link, such as ``anchor`` (``crawler.reading.link_kinds``).
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
    """

    key: bytes
    url: str
    links: list[StoredLink]
    nofollow: bool


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

    def lists(self) -> Iterator[LinksOfPage]:
        """Yield the links of each page.

        Complexity: O(links), in constant memory.
        """
        last = 0
        while rows := self._connection.execute(_LISTS, (last, _BATCH)).fetchall():
            last = rows[-1][0]
            for _, key, url, is_shared, packed in rows:
                yield LinksOfPage(key, url, *self._packer(is_shared).unpack(packed))

    def links_of(self, key: bytes) -> list[StoredLink]:
        """Return the links of a page; none where no list is stored."""
        row = self._connection.execute(_LIST, (key,)).fetchone()
        return [] if row is None else self._packer(row[0]).unpack(row[1])[0]

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
