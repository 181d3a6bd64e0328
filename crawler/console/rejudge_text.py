"""What came of judging all pages again, as people read it on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.rejudge.rejudging import Rejudgement


def rejudgement_lines(found: Rejudgement, folder: str, *, dry_run: bool) -> Iterator[str]:
    """What changes, or would, and what to do now."""
    kept = f"{found.kept:,} {'would be kept' if dry_run else 'kept'}"
    yield f"{found.judged:,} pages judged again: {kept}, {found.kept_before:,} before"
    if not found.changes:
        yield "nothing changes"
        return
    yield ""
    yield f"{found.now_kept:>11,}  duplicates before, kept now"
    yield from _urls(found.kept_examples, found.now_kept)
    yield f"{found.now_dropped:>11,}  kept before, duplicates now"
    yield from _urls(found.dropped_examples, found.now_dropped)
    yield f"{found.otherwise:>11,}  duplicates as before, of another page or by another measure"
    yield from _to_fetch(found, dry_run=dry_run)
    yield ""
    if dry_run:
        yield "nothing was changed: without --dry-run it is"
    else:
        yield f"feeds hold what was kept before: export anew with scrapy pages {folder}"


def _to_fetch(found: Rejudgement, *, dry_run: bool) -> Iterator[str]:
    if not found.to_fetch:
        return
    if not found.can_fetch:
        yield f"{found.to_fetch:>11,}  of which nobody holds the text: the next visit reads them"
    else:
        done = "would be queued" if dry_run else "queued"
        yield f"{found.to_fetch:>11,}  of which nobody holds the text: {done}, to be fetched again"


def _urls(urls: tuple[str, ...], count: int) -> Iterator[str]:
    for url in urls:
        yield f"             {url}"
    if count > len(urls):
        yield f"             and {count - len(urls):,} more"
