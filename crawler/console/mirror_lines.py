"""Describe in lines what a mirror has beside the files of its site, and what a check found."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rich.filesize import decimal

from crawler.console.count_tables import example_lines
from crawler.mirror.paths import SEARCH
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from crawler.mirror.checking import Check
    from crawler.mirror.offline_search import OfflineSearch


def search_line(search: OfflineSearch, folder: Path) -> str:
    """Return what the search of a mirror has, and its size."""
    line = f"search {folder / SEARCH}: {many(search.pages, 'page')}, {decimal(search.size)}"
    if search.without_text:
        line += f"; {many(search.without_text, 'page')} by title alone, since the index is full"
    return line


def check_lines(found: Check, folder: Path, queued: int) -> Iterator[str]:
    if queued:
        command = f"crawl-once mirror {shlex.quote(str(folder))}"
        state = f"{many(queued, 'URL is', 'URLs are')} queued"
        yield f"{folder}: the mirror is not finished, {state}; this goes on with it: {command}"
    yield (
        f"{folder}: {many(found.files, 'file')}, {many(found.links, 'link')} within it, "
        f"{found.outward:,} to the network"
    )
    for kind, count in found.counts.items():
        yield f"  PROBLEM  {kind}: {count:,}"
        yield from example_lines(found.findings[kind], count)
    if not found.files:
        yield "  PROBLEM  nothing was mirrored yet"
    elif not found.problems:
        yield "  ok       every link leads to a file, every file is linked, every digest is right"
    elif not queued and set(found.counts) - {"files that are not of the mirror"}:
        yield "           the command that made the mirror fetches again what is missing or changed"
