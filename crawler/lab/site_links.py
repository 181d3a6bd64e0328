"""Count the links of a crawl by kind: inside and outside the site, nofollow, broken."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from crawler.lab.crawl_source import opened
from crawler.maintenance.broken_links import BrokenLink, broken_links, stored_canonicalizer
from crawler.pages.link_graph import LinkGraph
from crawler.pages.wall_clusters import host_with_port
from crawler.reading.link_kinds import NAMES
from crawler.storage import meta_names
from crawler.storage.database import meta_of
from crawler.url_rules.learning.address import Address
from crawler.url_rules.rule_report import RuleReport, rule_report
from crawler.urls.canonical import Canonicalizer
from crawler.urls.parts import MalformedUrl
from crawler.urls.path_patterns import ANY, REST, PathPatterns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from crawler.lab.crawl_source import LabPage
    from crawler.lab.judgement import Judgement
    from crawler.pages.link_graph import LinksOfPage

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
    with opened(folder) as connection:
        visit = int(meta_of(connection.execute, meta_names.VISIT) or 0)
        broken = broken_links(connection, visit, most=None)
        counter = _Counter(stored_canonicalizer(connection), broken)
        graph = LinkGraph(connection)
        for page in islice(graph.lists(), MAX_PAGES):
            counter.add(page)
        rules = rule_report(connection)
        return CrawledSite(counter.kinds(), counter.pages, graph.count(), broken, rules)


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


NUMBER = "#"
"""The pattern of a folder whose name holds a digit."""

_MAX_FOLDERS = 3
_MAX_ARGUMENTS = 8
_ENDING = re.compile(r"\.[A-Za-z]{1,5}\Z")


class TemplatePages(NamedTuple):
    """The pages whose URLs have one template.

    Attributes:
        template: Host and path with ``*`` for what varies and ``#`` for names with a digit, and
            the names of arguments.
        pages: The number of pages.
        dropped: The number of pages that repeat a kept one.
        clusters: The number of kept pages that these repeat.
        example: The URL of a dropped page; of a kept one where none is dropped.
    """

    template: str
    pages: int
    dropped: int
    clusters: int
    example: str


def templates_of(pages: Sequence[LabPage], judgement: Judgement) -> list[TemplatePages]:
    """Return the templates of URLs, those with the most dropped pages first.

    Complexity: O(characters of URLs).
    """
    names = _names([page.url for page in pages])
    counts = Counter(names)
    dropped: dict[str, list[int]] = defaultdict(list)
    for place in (~judgement.kept).nonzero()[0].tolist():
        dropped[names[place]].append(place)
    examples = dict(zip(reversed(names), (page.url for page in reversed(pages)), strict=True))
    found = []
    for name, count in counts.items():
        places = dropped.get(name, [])
        originals = {int(judgement.original[place]) for place in places}
        example = pages[places[0]].url if places else examples[name]
        found.append(TemplatePages(name, count, len(places), len(originals), example))
    return sorted(found, key=lambda one: (-one.dropped, -one.pages, one.template))


def _names(urls: Sequence[str]) -> list[str]:
    """Return the template of each URL, by what varies in all of them."""
    canonical = Canonicalizer()
    addresses = []
    for url in urls:
        written = url
        # A file may name its pages in any way.
        with suppress(MalformedUrl):
            written = canonical(url)
        addresses.append(Address.parse(written))
    naming = _Naming()
    # A folder is found to vary late: first all are met, then they are named.
    for address in addresses:
        naming(address)
    return [naming(address) for address in addresses]


class _Naming:
    """Names the template of an address.

    Its last segment varies unless arguments follow; a folder varies where many were met. Few
    folders below the first one are enough, so that the copies of a whole site below ``/print/``
    have one template.
    """

    def __init__(self) -> None:
        self._first: dict[str, PathPatterns] = defaultdict(lambda: PathPatterns(NUMBER))
        self._below: dict[tuple[str, str], PathPatterns] = defaultdict(
            lambda: PathPatterns(NUMBER, _MAX_FOLDERS)
        )
        self._scripts: dict[tuple[str, str], PathPatterns] = defaultdict(
            lambda: PathPatterns(NUMBER)
        )

    def __call__(self, address: Address) -> str:
        *folders, last = address.segments
        path = ""
        if folders:
            path = self._first[address.host]((folders[0],))
        if folders[1:]:
            path += self._below[address.host, path](tuple(folders[1:]))
        ending = _ENDING.search(last)
        page = f"/{ANY}{ending.group() if ending else ''}" if last else "/"
        if last and address.arguments:
            # A script, say, which means the same for all values of its arguments.
            page = self._scripts[address.host, path]((last,))
        names = sorted(address.names)
        written = [f"{name}=" for name in names[:_MAX_ARGUMENTS]]
        if len(names) > _MAX_ARGUMENTS:
            written.append(REST)
        query = f"?{'&'.join(written)}" if written else ""
        return f"{address.host}{path}{page}{query}"
