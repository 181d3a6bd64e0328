"""Figures as Markdown, and the section of the documentation that holds them."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from crawl_peers.summary import WANTED_ALL_CPU, WANTED_MAIN_CPU, WANTED_SPEED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawl_peers.summary import Figures, Ratios

BEGIN = "<!-- written by benchmarks/crawl.py -->"
END = "<!-- end of benchmarks/crawl.py -->"


def figures_table(rows: Sequence[Figures]) -> str:
    lines = [
        "| site | crawler | pages | pages/s | CPU s per 1,000 pages, main process "
        "| the same with its start | reading workers | browser | all processes | peak MB, main |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {one.site} | {one.crawler} | {one.pages:,.0f} | {one.pages_per_sec:.1f} "
        f"| {one.main_cpu:.2f} | {one.main_cpu_whole:.2f} "
        f"| {max(0, one.all_cpu - one.main_cpu_whole - one.browser_cpu):.2f} "
        f"| {one.browser_cpu:.2f} | {one.all_cpu:.2f} "
        f"| {one.peak_megabytes:.0f} |"
        for one in rows
    ]
    return "\n".join(lines)


def ratios_table(rows: Sequence[Ratios]) -> str:
    lines = [
        "| site | pages/s, ours over links and text | with the start "
        "| main process CPU a page, ours over links | with the start "
        "| all CPU a page, ours over links and text |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {one.site} | {one.speed:.2f} | {one.speed_whole:.2f} | {one.main_cpu:.2f} "
        f"| {one.main_cpu_whole:.2f} | {one.all_cpu:.2f} |"
        for one in rows
    ]
    wanted = f"| wanted | >= {WANTED_SPEED} | | <= {WANTED_MAIN_CPU} | | <= {WANTED_ALL_CPU} |"
    return "\n".join([*lines, wanted])


def machine() -> str:
    """The processor, the number of CPUs that this process may use, and the Python."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = names[0].partition(":")[2].strip() if names else model
    return f"{model}, {len(os.sched_getaffinity(0))} CPUs, Python {platform.python_version()}"


def section(repeats: int, max_pages: int | None, tables: Sequence[str]) -> str:
    """The part of the documentation between the two marks, marks included."""
    limit = f", at most {max_pages:,} pages a site" if max_pages else ""
    measured = machine_line(f"medians of {repeats}{limit}")
    return "\n\n".join([BEGIN, measured, *tables, END])


def machine_line(how: str) -> str:
    """Say when, where and how figures were measured."""
    return f"Measured {datetime.now(UTC):%Y-%m-%d} on {machine()}; {how}."


def rewrite(document: Path, new: str) -> None:
    """Replace a section of a document; the marks are the first and the last line of the new one.

    Raises:
        ValueError: The document has not both marks.
    """
    text = document.read_text(encoding="utf-8")
    begin, end = new.partition("\n")[0], new.rpartition("\n")[2]
    before, begun, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not (begun and ended):
        raise ValueError(f"{document}: the marks {begin} and {end} are wanted")
    document.write_text(before + new + after, encoding="utf-8")
