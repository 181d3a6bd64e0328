"""Judge the learner of URL rules by simulated crawls: what it saves, loses and costs."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from statistics import fmean, median
from typing import TYPE_CHECKING, NamedTuple

from crawl_peers.tables import machine_line

from rules_peers.curves import Run, figures
from rules_peers.recordings import ENDING, read_recording
from rules_peers.simulated_crawl import simulate
from rules_peers.simulated_sites import SIMULATED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from rules_peers.curves import Figures
    from rules_peers.simulated_crawl import Simulated
    from rules_peers.simulated_site import SimulatedSite

BEGIN = "<!-- written by benchmarks/rules.py --simulate -->"
END = "<!-- end of benchmarks/rules.py --simulate -->"

_CAP = 8
"""A crawl ends after this many fetches a content."""

_LARGE = "12,000"
"""Sites with this in their names take minutes; they must be named to be simulated."""

_MICRO = 1e6


@dataclass(frozen=True)
class Row:
    """A row of the table: a site, crawled once with each seed.

    Attributes:
        contents: How many there are to be found.
        lost: Contents that were not found, of all crawls.
        losing: How many crawls lost any.
        ended: How many crawls ran out of URLs.
        area: The area under distinct contents over fetches, as ``rules_peers.curves`` has it.
        link_us: CPU time of a link that is due to learning: less that of a crawl without it. This
            and the following are medians of all crawls.
        page_us: The same of a page.
        whole_link_us: CPU time of a link with all that its key, seen set and queue take.
        whole_page_us: The same of a page, from the queue into the store.
    """

    site: str
    seeds: int
    contents: int
    fetches_a_page: float
    lost: int
    losing: int
    ended: int
    area: float
    link_us: float
    page_us: float
    whole_link_us: float
    whole_page_us: float


def chosen_names(patterns: Sequence[str]) -> list[str]:
    """Return the names of made sites that match; without patterns, of all but the large ones."""
    if not patterns:
        return [name for name in SIMULATED if _LARGE not in name]
    return [name for name in SIMULATED if any(fnmatchcase(name, one) for one in patterns)]


def chosen_recordings(patterns: Sequence[str], folder: Path | None) -> list[Path]:
    """Return the recordings in a folder whose names match, all of them without patterns."""
    files = [] if folder is None else sorted(folder.glob(f"*{ENDING}"))
    return [
        file
        for file in files
        if not patterns or any(fnmatchcase(_recorded_name(file), one) for one in patterns)
    ]


def _recorded_name(file: Path) -> str:
    return file.name.removesuffix(ENDING)


def judged(site: str | Path, seeds: int) -> Row:
    """Crawl a made site with each of some seeds, or a recording once, which has no use for them."""
    if isinstance(site, str):
        return _row(site, [_crawled(SIMULATED[site], seed) for seed in range(1, seeds + 1)])
    recording = read_recording(site)
    return _row(f"{_recorded_name(site)}, recorded", [_crawled(lambda _: recording, 1)])


class _Crawled(NamedTuple):
    """A crawl with learning, and one without it that came as far."""

    contents: int
    learning: Simulated
    plain: Simulated
    figures: Figures

    def link_us(self) -> float:
        return _MICRO * self.learning.secs_of_links / max(1, self.learning.links)

    def page_us(self) -> float:
        return _MICRO * self.learning.secs_of_pages / max(1, len(self.learning.names))

    def own_link_us(self) -> float:
        """What learning adds to a link."""
        return self.link_us() - _MICRO * self.plain.secs_of_links / max(1, self.plain.links)

    def own_page_us(self) -> float:
        """What learning adds to a page."""
        plain = _MICRO * self.plain.secs_of_pages / max(1, len(self.plain.names))
        return self.page_us() - plain


def _crawled(make: Callable[[int], SimulatedSite], seed: int) -> _Crawled:
    site = make(seed)
    cap = _CAP * len(site.truth)
    learning = simulate(site, cap)
    plain = simulate(make(seed), len(learning.names), is_learning=False)
    names = tuple(name if name in site.truth else None for name in learning.names)
    run = Run("", "", names, learning.has_ended, 0.0, len(site.truth))
    return _Crawled(len(site.truth), learning, plain, figures([run], cap)[0])


def _row(name: str, crawls: Sequence[_Crawled]) -> Row:
    return Row(
        site=name,
        seeds=len(crawls),
        contents=round(fmean(one.contents for one in crawls)),
        fetches_a_page=fmean(one.figures.fetches_a_page for one in crawls),
        lost=sum(len(one.learning.lost) for one in crawls),
        losing=sum(bool(one.learning.lost) for one in crawls),
        ended=sum(one.learning.has_ended for one in crawls),
        area=fmean(one.figures.area for one in crawls),
        link_us=median(one.own_link_us() for one in crawls),
        page_us=median(one.own_page_us() for one in crawls),
        whole_link_us=median(one.link_us() for one in crawls),
        whole_page_us=median(one.page_us() for one in crawls),
    )


def rows(sites: Sequence[str | Path], seeds: int, jobs: int) -> Iterator[Row]:
    """Judge each site, in order, in so many processes; with one in this process."""
    judge = partial(judged, seeds=seeds)
    if jobs == 1:
        yield from map(judge, sites)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(judge, sites)


def table(found: Iterable[Row]) -> str:
    """Write the rows as Markdown."""
    lines = [
        "| site | contents | fetches a page | pages lost | in crawls | ended by itself "
        "| area under the curve | us a link | us a page |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {one.site} | {one.contents:,} | {one.fetches_a_page:.2f} | {one.lost:,} "
        f"| {one.losing} of {one.seeds} | {one.ended} of {one.seeds} | {one.area:.3f} "
        f"| {one.link_us:.1f} | {one.page_us:.0f} |"
        for one in found
    ]
    return "\n".join(lines)


def section(found: Sequence[Row], seeds: int) -> str:
    """Return the part of the documentation between the two marks, marks included."""
    crawls = "one crawl" if seeds == 1 else f"{seeds} crawls, with a seed each,"
    how = machine_line(f"{crawls} of each made site")
    return "\n\n".join([BEGIN, how, table(found), END])
