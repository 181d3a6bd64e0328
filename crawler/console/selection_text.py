"""Describe chosen pages for people on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.filesize import decimal

from crawler.pages.export import iso_time

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.selection_report import SelectionReport


def selection_lines(found: SelectionReport, folder: str, words: str) -> Iterator[str]:
    """Yield the counts of chosen pages.

    Args:
        found: The counts.
        folder: The crawl directory.
        words: The options that chose the pages.
    """
    yield f"{folder}, {words}:"
    if not found.pages or found.first_at is None or found.last_at is None:
        yield "  no page"
        return
    yield f"  {found.pages:>9,}  URLs, {decimal(found.body_bytes)}"
    yield f"  {found.kept:>9,}  kept"
    yield f"  {found.duplicates:>9,}  duplicates"
    yield f"fetched from {iso_time(found.first_at)} to {iso_time(found.last_at)}"
    for name in ("verdicts", "statuses", "types", "languages"):
        counts: dict[str, int] = getattr(found, name)
        yield f"{name}:"
        yield from (f"  {count:>9,}  {value}" for value, count in counts.items())
