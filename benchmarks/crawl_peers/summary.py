"""Runs into figures: medians, rates and the two ratios that the project promises."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from crawl_peers.runs import CRAWLERS, LINKS, OURS, TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawl_peers.runs import Run

# How far apart the pages fetched of one site may be for a comparison to stand.
UNEVEN = 0.05

WANTED_SPEED = 6
WANTED_MAIN_CPU = 0.18
WANTED_ALL_CPU = 0.25


@dataclass(frozen=True)
class Figures:
    """Medians over the repeats of one crawler on one site. CPU is in seconds a 1,000 pages.

    ``main_cpu`` leaves the start of the process out, ``main_cpu_whole`` has it in; so do
    ``pages_per_sec`` and ``pages_per_sec_whole``. ``browser_cpu`` is a part of ``all_cpu``; what is
    neither the main process's nor the browser's is that of reading workers.
    """

    crawler: str
    site: str
    pages: float
    pages_per_sec: float
    pages_per_sec_whole: float
    main_cpu: float
    main_cpu_whole: float
    all_cpu: float
    browser_cpu: float
    peak_megabytes: float


@dataclass(frozen=True)
class Ratios:
    """Ours over a peer on one site, or on all of them together."""

    site: str
    speed: float
    speed_whole: float
    main_cpu: float
    main_cpu_whole: float
    all_cpu: float


def figures(runs: Sequence[Run]) -> list[Figures]:
    """The medians of each site and crawler, in the order in which they ran."""
    groups: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.site, run.crawler].append(run)
    return [_figures(group) for group in groups.values()]


def _figures(runs: Sequence[Run]) -> Figures:
    return Figures(
        crawler=runs[0].crawler,
        site=runs[0].site,
        pages=median(run.pages for run in runs),
        pages_per_sec=median(run.pages / run.crawl_secs for run in runs),
        pages_per_sec_whole=median(run.pages / run.whole_secs for run in runs),
        main_cpu=median(1000 * run.crawl_cpu_secs / run.pages for run in runs),
        main_cpu_whole=median(
            1000 * (run.start_cpu_secs + run.crawl_cpu_secs) / run.pages for run in runs
        ),
        all_cpu=median(1000 * run.all_cpu_secs / run.pages for run in runs),
        browser_cpu=median(1000 * run.browser_cpu_secs / run.pages for run in runs),
        peak_megabytes=median(run.peak_bytes / 1e6 for run in runs),
    )


def together(by_site: Sequence[Figures]) -> list[Figures]:
    """All sites as if crawled one after another: each crawler's time and CPU are summed."""
    return [
        _together([one for one in by_site if one.crawler == crawler])
        for crawler in CRAWLERS
        if any(one.crawler == crawler for one in by_site)
    ]


def _together(sites: Sequence[Figures]) -> Figures:
    pages = sum(one.pages for one in sites)

    def a_thousand(name: str) -> float:
        return sum(float(getattr(one, name)) * one.pages for one in sites) / pages

    def a_second(name: str) -> float:
        return pages / sum(one.pages / float(getattr(one, name)) for one in sites)

    return Figures(
        crawler=sites[0].crawler,
        site="all",
        pages=pages,
        pages_per_sec=a_second("pages_per_sec"),
        pages_per_sec_whole=a_second("pages_per_sec_whole"),
        main_cpu=a_thousand("main_cpu"),
        main_cpu_whole=a_thousand("main_cpu_whole"),
        all_cpu=a_thousand("all_cpu"),
        browser_cpu=a_thousand("browser_cpu"),
        peak_megabytes=max(one.peak_megabytes for one in sites),
    )


def ratios(rows: Sequence[Figures]) -> list[Ratios]:
    """Ours over the peers for each site where all three ran.

    Speed and all CPU are held against links and text, which does the like work; CPU of the
    main process against links alone, which does less.
    """
    found = {(one.site, one.crawler): one for one in rows}
    made = []
    for site in dict.fromkeys(one.site for one in rows):
        if all((site, crawler) in found for crawler in CRAWLERS):
            links, text, ours = (found[site, crawler] for crawler in (LINKS, TEXT, OURS))
            made.append(
                Ratios(
                    site=site,
                    speed=ours.pages_per_sec / text.pages_per_sec,
                    speed_whole=ours.pages_per_sec_whole / text.pages_per_sec_whole,
                    main_cpu=ours.main_cpu / links.main_cpu,
                    main_cpu_whole=ours.main_cpu_whole / links.main_cpu_whole,
                    all_cpu=ours.all_cpu / text.all_cpu,
                )
            )
    return made


def uneven(rows: Sequence[Figures]) -> list[str]:
    """A line for each site of which the crawlers fetched different amounts."""
    pages: dict[str, dict[str, float]] = defaultdict(dict)
    for one in rows:
        pages[one.site][one.crawler] = one.pages
    return [
        f"{site}: not comparable, pages fetched: {counts}"
        for site, counts in pages.items()
        if min(counts.values()) < (1 - UNEVEN) * max(counts.values())
    ]
