"""Runs into medians, and medians into Markdown."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from mirror_peers.mirrors import HTTRACK, NO_TEXT, OURS, WGET

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from mirror_peers.runs import Run

WANTED_CPU = 1.2
WANTED_FETCHES = 1.1


@dataclass(frozen=True)
class Figures:
    """Medians over the repeats of one mirror of one site.

    ``cpu_a_thousand`` is in seconds for 1,000 distinct pages.
    """

    mirror: str
    site: str
    wall_secs: float
    cpu_secs: float
    cpu_a_thousand: float
    peak_megabytes: float
    asked: float
    fetches: float
    distinct: float
    site_texts: int
    fetches_a_page: float
    pages: float
    files_a_page: float
    files: float
    megabytes: float
    disk_megabytes: float
    disk_megabytes_with_state: float
    broken: float
    online: float
    is_whole: bool


def figures(runs: Sequence[Run]) -> list[Figures]:
    """The medians of each site and mirror, in the order in which they ran."""
    groups: dict[tuple[str, str], list[Run]] = defaultdict(list)
    for run in runs:
        groups[run.site, run.mirror].append(run)
    return [_figures(group) for group in groups.values()]


def _figures(runs: Sequence[Run]) -> Figures:
    def of(what: Callable[[Run], float]) -> float:
        return median(map(what, runs))

    return Figures(
        mirror=runs[0].mirror,
        site=runs[0].site,
        wall_secs=of(lambda run: run.wall_secs),
        cpu_secs=of(lambda run: run.cpu_secs),
        cpu_a_thousand=of(lambda run: 1000 * run.cpu_secs / max(1, run.tree.distinct)),
        peak_megabytes=of(lambda run: run.peak_bytes / 1e6),
        asked=of(lambda run: run.asked),
        fetches=of(lambda run: run.fetches),
        distinct=of(lambda run: run.tree.distinct),
        site_texts=runs[0].site_texts,
        fetches_a_page=of(lambda run: run.fetches / max(1, run.tree.distinct)),
        pages=of(lambda run: run.tree.pages),
        files_a_page=of(lambda run: run.tree.pages / max(1, run.tree.distinct)),
        files=of(lambda run: run.tree.files),
        megabytes=of(lambda run: run.tree.tree_bytes / 1e6),
        disk_megabytes=of(lambda run: run.tree.disk_bytes / 1e6),
        disk_megabytes_with_state=of(lambda run: run.tree.disk_bytes_with_state / 1e6),
        broken=of(lambda run: run.tree.broken),
        online=of(lambda run: run.tree.online),
        is_whole=all(run.is_whole for run in runs),
    )


def cost_table(rows: Sequence[Figures]) -> str:
    """What each mirror took."""
    lines = [
        "| site | mirror | wall s | CPU s | CPU s per 1,000 distinct pages | peak MB | requests "
        "| pages fetched | distinct pages | fetched a distinct page |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {one.site} | {one.mirror}{'' if one.is_whole else ' (stopped)'} | {one.wall_secs:.1f} "
        f"| {one.cpu_secs:.1f} | {one.cpu_a_thousand:.2f} | {one.peak_megabytes:.0f} "
        f"| {one.asked:,.0f} | {one.fetches:,.0f} | {one.distinct:,.0f} of {one.site_texts:,} "
        f"| {one.fetches_a_page:.2f} |"
        for one in rows
    ]
    return "\n".join(lines)


def tree_table(rows: Sequence[Figures]) -> str:
    """What each mirror left."""
    lines = [
        "| site | mirror | files | HTML files | HTML files a distinct page | MB | MB on disk "
        "| MB on disk with its state | broken links | links to the network for what is here |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {one.site} | {one.mirror} | {one.files:,.0f} | {one.pages:,.0f} "
        f"| {one.files_a_page:.2f} | {one.megabytes:.1f} | {one.disk_megabytes:.1f} "
        f"| {one.disk_megabytes_with_state:.1f} | {one.broken:,.0f} | {one.online:,.0f} |"
        for one in rows
    ]
    return "\n".join(lines)


def ratios_table(rows: Sequence[Figures]) -> str | None:
    """Ours over the peers; None where one side is missing."""
    found = {(one.site, one.mirror): one for one in rows}
    lines = [
        _ratios(one, found[one.site, peer])
        for one in rows
        for peer in (WGET, HTTRACK)
        if one.mirror in {OURS, NO_TEXT} and (one.site, peer) in found
    ]
    if not lines:
        return None
    head = [
        "| site | ours over its peer | CPU a distinct page | wall a distinct page | peak memory "
        "| fetches a distinct page | bytes on disk a distinct page |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    wanted = f"| wanted | {NO_TEXT} / {HTTRACK} | <= {WANTED_CPU} | | | | < 1 |"
    return "\n".join([*head, *lines, wanted])


def _ratios(ours: Figures, peer: Figures) -> str:
    def a_page(one: Figures, value: float) -> float:
        return value / max(1.0, one.distinct)

    ratios = (
        ours.cpu_a_thousand / peer.cpu_a_thousand,
        a_page(ours, ours.wall_secs) / a_page(peer, peer.wall_secs),
        ours.peak_megabytes / peer.peak_megabytes,
        ours.fetches_a_page / peer.fetches_a_page,
        a_page(ours, ours.disk_megabytes) / a_page(peer, peer.disk_megabytes),
    )
    cells = " | ".join(f"{ratio:.2f}" for ratio in ratios)
    return f"| {ours.site} | {ours.mirror} / {peer.mirror} | {cells} |"
