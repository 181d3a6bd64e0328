"""What a crawl's fetches brought: distinct pages over fetches, and the figures of that curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_DRAWN = 200


@dataclass(frozen=True)
class Run:
    """One crawl of one site.

    Attributes:
        names: What each page fetched says, in order; None where it says nothing worth counting.
        has_ended: The crawl ran out of URLs; False: it came to the cap.
        cpu_secs: Of its process and those that this one waited for.
        total: How many distinct pages the site has, None where nobody knows.
    """

    site: str
    crawler: str
    names: tuple[str | None, ...]
    has_ended: bool
    cpu_secs: float
    total: int | None


@dataclass(frozen=True)
class Figures:
    """A row of the table.

    ``curve`` has about 200 points (fetches, distinct pages). ``area`` is the one under the whole
    curve, to the right prolonged to the cap, over cap times pages: 1 would be all pages at once.
    """

    site: str
    crawler: str
    fetches: int
    distinct: int
    fetches_a_page: float
    area: float
    has_ended: bool
    cpu_secs: float
    curve: tuple[tuple[int, int], ...]


def figures(runs: Sequence[Run], cap: int) -> list[Figures]:
    """The figures of all crawls of one site; where its size is unknown, the best one tells it."""
    curves = [_cumulated(run.names) for run in runs]
    best = max((curve[-1] for curve in curves if curve), default=0)
    return [
        _figures(run, curve, run.total or best, cap)
        for run, curve in zip(runs, curves, strict=True)
    ]


def _cumulated(names: Sequence[str | None]) -> list[int]:
    seen: set[str] = set()
    curve = []
    for name in names:
        if name is not None:
            seen.add(name)
        curve.append(len(seen))
    return curve


def _figures(run: Run, curve: list[int], total: int, cap: int) -> Figures:
    fetches, distinct = len(curve), curve[-1] if curve else 0
    under = sum(curve[:cap]) + max(0, cap - fetches) * distinct
    step = max(1, fetches // _DRAWN)
    drawn = [(place + 1, curve[place]) for place in range(0, fetches, step)]
    return Figures(
        site=run.site,
        crawler=run.crawler,
        fetches=fetches,
        distinct=distinct,
        fetches_a_page=fetches / distinct if distinct else 0.0,
        area=under / (cap * total) if total else 0.0,
        has_ended=run.has_ended,
        cpu_secs=run.cpu_secs,
        curve=(*drawn, (fetches, distinct)),
    )
