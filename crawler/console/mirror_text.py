"""Describe a mirror for people on a terminal."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rich.filesize import decimal

from crawler.console.report_text import change_lines, many
from crawler.mirror.paths import CHANGES, DUPLICATES

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from crawler.maintenance.crawl_report import Report
    from crawler.mirror.checking import Check
    from crawler.mirror.link_rewriting import FinishedMirror

_SHOWN = 5

_COUNTS = """
SELECT coalesce(sum(state = 'own' AND is_page), 0), coalesce(sum(state = 'own' AND NOT is_page), 0),
       coalesce(sum(state = 'link'), 0), coalesce(sum(state = 'skip'), 0)
FROM files
"""
_ON_DISK = "SELECT sum(size) FROM (SELECT size FROM files WHERE state = 'own' GROUP BY digest)"


def mirror_lines(
    connection: sqlite3.Connection, report: Report, finished: FinishedMirror, folder: Path
) -> Iterator[str]:
    pages, others, linked, skipped = connection.execute(_COUNTS).fetchone()
    size = connection.execute(_ON_DISK).fetchone()[0] or 0
    yield f"{many(pages, 'page')} and {many(others, 'other file')}, {decimal(size)}"
    if linked or skipped:
        yield (
            f"{linked + skipped:,} fetched without a file of their own, since they repeat others: "
            f"{folder / DUPLICATES}"
        )
    if report.url_rules:
        yield (
            f"{many(report.skipped, 'request')} not made, by "
            f"{many(report.url_rules, 'learned URL rule')}: scrapy rules {folder / '.mirror'}"
        )
    if report.missing:
        yield "not there:"
        for why, count in report.missing.items():
            yield f"  {count:>9,}  {why}"
        state = shlex.quote(str(folder / ".mirror"))
        yield f"  which they are: scrapy pages {state} --verdict failed"
    if finished.parts:
        are = "is only a part" if len(finished.parts) == 1 else "are only parts"
        yield (
            f"{many(len(finished.parts), 'file')} {are} of what the site has; "
            "the same command asks again:"
        )
        yield from _first(finished.parts)
    if finished.damaged:
        yield f"{many(len(finished.damaged), 'file')} changed by somebody else, left as they are:"
        yield from _first(finished.damaged)
    if report.changes is not None:
        yield from change_lines(report.changes)
        yield f"all of it: {folder / CHANGES}"


def _first(paths: Sequence[str]) -> Iterator[str]:
    yield from (f"  {path}" for path in paths[:_SHOWN])
    if len(paths) > _SHOWN:
        yield f"  {len(paths) - _SHOWN:,} more"


def check_lines(found: Check, folder: Path) -> Iterator[str]:
    yield (
        f"{folder}: {many(found.files, 'file')}, {many(found.links, 'link')} within it, "
        f"{found.outward:,} to the network"
    )
    for kind, count in found.counts.items():
        yield f"  PROBLEM  {kind}: {count:,}"
        for what in found.findings[kind]:
            yield f"             {what}"
        if count > len(found.findings[kind]):
            yield f"             and {count - len(found.findings[kind]):,} more"
    if not found.files:
        yield "  PROBLEM  nothing was mirrored yet"
    elif not found.problems:
        yield "  ok       every link leads to a file, every file is linked, every digest is right"
    elif set(found.counts) - {"a file is not of the mirror"}:
        yield "           the command that made the mirror fetches again what is missing or changed"
