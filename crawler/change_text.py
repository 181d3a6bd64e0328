"""The changes that a visit found, as people read them on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.console.progress import readable_bytes
from crawler.pages.outcomes import CHANGED, MOVED, OUTCOMES, UNCHANGED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.pages.change_report import Away, Change, Changes

SHOWN = 5


def change_lines(changes: Changes) -> Iterator[str]:
    """Counts by outcome, then the foremost examples of each."""
    yield ""
    yield "since the last visit:"
    for outcome, count in changes.outcomes.items():
        if count:
            yield f"  {count:>9,}  {outcome:<16} {OUTCOMES[outcome]}{_besides(outcome, changes)}"
    if changes.not_asked:
        yield f"  {changes.not_asked:>9,}  not asked for    not due, or not part of this visit"
    if changes.back:
        yield f"  {changes.back:>9,}  back             of the above, had been away"
    yield from _most_changed(changes)
    for outcome, pages in changes.away.items():
        yield from _away(outcome, pages, changes.outcomes[outcome])


def _besides(outcome: str, changes: Changes) -> str:
    if outcome == CHANGED and changes.nearly_unchanged:
        return f"; {changes.nearly_unchanged:,} only by a little, such as a clock"
    if outcome == UNCHANGED and changes.not_sent:
        size = readable_bytes(changes.not_sent_bytes)
        return f"; {changes.not_sent:,} of them, {size}, were not sent again"
    return ""


def _most_changed(changes: Changes) -> Iterator[str]:
    if not changes.changed:
        return
    yield ""
    yield "most changed (similarity of the texts, 0 to 1; distance of the fingerprints in bits):"
    for change in changes.changed[:SHOWN]:
        yield f"  {_measures(change)}  {change.url}"
    yield from _more(changes.outcomes[CHANGED])


def _measures(change: Change) -> str:
    similarity = "   ?" if change.similarity is None else f"{change.similarity:.2f}"
    distance = " ?" if change.distance is None else f"{change.distance:>2}"
    return f"{similarity} {distance} bits{', nearly the same' if change.is_near else ''}"


def _away(outcome: str, pages: tuple[Away, ...], count: int) -> Iterator[str]:
    if not pages:
        return
    yield ""
    yield f"{outcome}:"
    for page in pages[:SHOWN]:
        target = f" -> {page.moved_to}" if outcome == MOVED else ""
        yield f"  {page.url}{target} ({page.reason})"
    yield from _more(count)


def _more(count: int) -> Iterator[str]:
    if count > SHOWN:
        yield f"  {count - SHOWN:,} more"
