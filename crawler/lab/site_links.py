"""Count the links of a crawl by kind: inside and outside the site, nofollow, broken."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing, suppress
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import zstandard

from crawler.lab.sources.source import SourceError
from crawler.maintenance.broken_links import (
    BrokenLink,
    broken_links,
    stored_canonicalizer,
)
from crawler.pages.link_graph import LinkGraph
from crawler.pages.wall_clusters import host_with_port
from crawler.reading.link_kinds import NAMES
from crawler.storage import meta_names
from crawler.storage.database import open_for_reading
from crawler.storage.errors import JobError
from crawler.url_rules.rule_report import RuleReport, rule_report
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from crawler.pages.link_graph import LinksOfPage
    from crawler.urls.canonical import Canonicalizer

MAX_PAGES = 20_000
"""The links of at most this many pages are counted, the first ones."""


class KindLinks(NamedTuple):
    """The links of one kind; a URL counts once on each page that links to it.

    Attributes:
        kind: The kind, as ``docs/links.md`` names it.
        links: The number of all.
        internal: Those to the host of the page.
        external: Those to another host.
        nofollow: Those that ask not to be followed, or stand on a page that asks so.
        broken: Those to a URL that gave no page.
    """

    kind: str
    links: int
    internal: int
    external: int
    nofollow: int
    broken: int


class CrawledSite(NamedTuple):
    """A crawl as its site's owner sees it.

    Attributes:
        links: The links of each kind that there is, in the order of ``docs/links.md``.
        counted: The number of pages whose links were counted.
        pages: The number of pages with links.
        broken: The URLs that gave no page, and where each was met first.
        rules: The URL rules that were learned.
    """

    links: tuple[KindLinks, ...]
    counted: int
    pages: int
    broken: tuple[BrokenLink, ...]
    rules: RuleReport


def read_site(folder: Path) -> CrawledSite:
    """Read links, broken URLs and rules of a crawl directory, also beside a running crawl.

    Complexity: O(links of the first 20,000 pages + failed URLs).

    Raises:
        SourceError: There is no crawl that can be read.
    """
    try:
        with closing(open_for_reading(folder)) as connection:
            sql = "SELECT value FROM meta WHERE name = ?"
            visit = connection.execute(sql, (meta_names.VISIT,)).fetchone()
            broken = broken_links(connection, int(visit[0]) if visit else 0, most=None)
            counter = _Counter(stored_canonicalizer(connection), broken)
            graph = LinkGraph(connection)
            for page in islice(graph.lists(), MAX_PAGES):
                counter.add(page)
            rules = rule_report(connection)
            return CrawledSite(counter.kinds(), counter.pages, graph.count(), broken, rules)
    except JobError as error:
        raise SourceError(str(error)) from None
    except (sqlite3.Error, zstandard.ZstdError) as error:
        raise SourceError(f"{folder}: cannot be read: {error}") from None


class _Counter:
    """Counts links by kind.

    Args:
        canonicalizer: What makes the keys of URLs in the crawl; None: it is not known.
        broken: The URLs that gave no page.
    """

    def __init__(self, canonicalizer: Canonicalizer | None, broken: Iterable[BrokenLink]) -> None:
        self._canonicalizer = canonicalizer
        self._broken = {self._key(link.url) for link in broken} - {None}
        self._counts: dict[str, Counter[str]] = {}
        self._seen: dict[str, tuple[str, bool]] = {}
        self.pages = 0

    def add(self, page: LinksOfPage) -> None:
        host = host_with_port(page.url)
        self.pages += 1
        for target, marked, kind, _ in page.links:
            if target not in self._seen:
                self._seen[target] = host_with_port(target), self._is_broken(target)
            its_host, is_broken = self._seen[target]
            counts = self._counts.setdefault(kind, Counter())
            counts["links"] += 1
            counts["internal" if its_host == host else "external"] += 1
            counts["nofollow"] += marked or page.nofollow
            counts["broken"] += is_broken

    def kinds(self) -> tuple[KindLinks, ...]:
        found = self._counts
        columns = KindLinks._fields[1:]
        return tuple(
            KindLinks(kind, *(found[kind][column] for column in columns))
            for kind in NAMES
            if kind in found
        )

    def _is_broken(self, url: str) -> bool:
        return bool(self._broken) and self._key(url) in self._broken

    def _key(self, url: str) -> bytes | None:
        if self._canonicalizer is not None:
            with suppress(MalformedUrl):
                return self._canonicalizer.key(url)
        return None
