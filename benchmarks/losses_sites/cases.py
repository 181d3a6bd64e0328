"""How each of the sites is crawled."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from losses_sites import gates, sites
from tests.sites.endless import SHAPES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence, Set

    from losses_sites.served import Measured, Site

Stopped = Literal["crawl", "workers", "both"]
Served = TypeVar("Served", bound="Measured")


@dataclass(frozen=True, slots=True)
class Case(Generic[Served]):
    """A site and the crawls that are made of it, one after the other, into one directory.

    Attributes:
        name: What it shows.
        site: Make it.
        visits: Arguments of each crawl.
        change: Change the site before a visit, given by its number; the first is 0.
        stopped: Processes that are stopped for a while, when half of the pages were asked for.
        uncounted: Visits that end early, at a limit or at a gate. After them a site's pages are
            not what is kept of them, so that nothing counts as lost or as kept twice.
    """

    name: str
    site: Callable[[], Served]
    visits: Sequence[Sequence[str]] = ((),)
    change: Callable[[Served, int], None] | None = None
    stopped: Stopped | None = None
    uncounted: Set[int] = frozenset()


def _stopped(name: str, stopped: Stopped) -> Case[Site]:
    return Case(name, sites.tree, (("-s", "READING_TIMEOUT_SECS=3"),), stopped=stopped)


_CAP = ("-a", "max_pages=2000")
"""A crawl without an end is stopped after so many pages."""
_REVISIT = ("-a", "revisit=yes")
_PROXIED = (
    "-a",
    "scope=domain",
    "-s",
    "DOWNLOAD_DELAY=0",
    "-s",
    "CONCURRENT_REQUESTS_PER_DOMAIN=8",
)
_PATIENT = ("-s", "READING_TIMEOUT_SECS=300")
_SITEMAPS = ("-a", "sitemaps=yes")
_UTM = "utm_source=nav"

CASES: tuple[Case[Any], ...] = (
    Case(
        "spelling forbidden by robots.txt",
        partial(sites.spellings, _UTM, robots="User-agent: *\nDisallow: /*?\n"),
    ),
    Case("spelling refused by deny", partial(sites.spellings, _UTM), (("-a", "deny=utm_"),)),
    Case("spelling that answers 403", partial(sites.spellings, "PHPSESSID=old", status=403)),
    Case("host of an odd spelling", sites.odd_hosts),
    Case("argument that matters on 12 of 400", partial(sites.Twins, "copies", 400, seed=3)),
    Case("argument that matters on 12 of 1,200", partial(sites.Twins, "copies", 1_200)),
    Case("path that matters on 7 of 300", partial(sites.Twins, "prints", 300, seed=2)),
    Case("host that matters on 7 of 300", partial(sites.Twins, "hosts", 300)),
    Case("path and argument that matter together on 12 of 300", partial(sites.Twins, "pairs", 300)),
    Case("429 beyond 10 requests in 3 s", sites.busy),
    Case("connections lost for 4 s", sites.outage),
    _stopped("crawl stopped for 6 s", "crawl"),
    _stopped("workers stopped for 6 s", "workers"),
    _stopped("crawl and workers stopped for 6 s", "both"),
    Case("pages named like files", sites.endings),
    Case("short way answers late", sites.slow_parents, (("-a", "max_depth=3"),)),
    Case("one main text, other words beside it", sites.beside),
    Case("one template, a sign, an order or a table more", sites.small_differences),
    Case("login wall that changes", sites.wall, ((), _REVISIT), sites.change_wall),
    Case(
        "notice for one visit",
        sites.notice,
        ((), _REVISIT, _REVISIT),
        sites.change_notice,
        uncounted={1},
    ),
    *(
        Case(f"endless names: {shape}", partial(sites.Endless, shape), (_PROXIED,))
        for shape in SHAPES
    ),
    Case("footers with a clock", sites.Clocked, ((), _REVISIT)),
    Case("times of this minute", sites.passing, ((), _REVISIT)),
    *(
        Case(
            f"cookie at the entry, without it {kind}",
            partial(gates.entry_cookie, kind),
            (("-a", "max_pages=6"), (), _REVISIT),
            uncounted={0},
        )
        for kind in gates.KINDS
    ),
    *(
        Case(
            f"cookie at the entry, without it {kind}, by a sitemap",
            partial(gates.entry_cookie, kind, by_sitemap=True),
            (_SITEMAPS, (*_SITEMAPS, *_REVISIT)),
        )
        for kind in gates.KINDS
    ),
    Case("pages that want a Referer", gates.referer, ((), _REVISIT)),
    Case("notice for a while, of few words", partial(gates.passing_notice, 12)),
    Case("notice for a while, of many words", partial(gates.passing_notice, 200)),
    Case("packed sitemaps of several types", gates.packed_sitemaps, (_SITEMAPS,)),
    Case("pages half alike", sites.half_alike),
    Case("40,000 links on 40 pages to one text", partial(sites.hubs, 40, 1_000), (_CAP,)),
    Case("40,000 links on one page to one text", partial(sites.hubs, 1, 40_000), (_CAP,)),
    Case("40,000 links to a slow host", sites.slow_host, (("-a", "max_pages=215"),)),
    Case("texts of 14 MB", partial(sites.long_texts, 4, 1_270_000), (_PATIENT,)),
    Case("texts of 1.9 MB, not quite alike", partial(sites.long_texts, 12, 170_000, 0.88)),
    Case("texts of 1.9 MB, nearly alike", partial(sites.long_texts, 12, 170_000, 0.99)),
    Case("robots.txt of 64 kB", partial(sites.long_robots, 64)),
    Case("robots.txt of 512 kB", partial(sites.long_robots, 512)),
)
