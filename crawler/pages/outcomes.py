"""What became of a URL in a visit, seen from what was known of it before."""

from __future__ import annotations

NEW = "new"
UNCHANGED = "unchanged"
CHANGED = "changed"
MOVED = "moved"
GONE = "gone"
FORBIDDEN = "forbidden"
FAILED = "failed"

OUTCOMES: dict[str, str] = {
    NEW: "a page that was not known",
    CHANGED: "says something else than at its last visit",
    UNCHANGED: "not modified (HTTP 304), or the same text",
    MOVED: "redirects elsewhere now",
    GONE: "HTTP 404 or 410, or nothing answers any more; its last text stays",
    FORBIDDEN: "robots.txt forbids it now; its last text stays",
    FAILED: "an error came, not the page; its last text stays",
}
"""Every outcome with its meaning, in the order of reports."""

READ = frozenset({NEW, UNCHANGED, CHANGED})
"""Outcomes of pages that were got."""

AWAY = frozenset({MOVED, GONE, FORBIDDEN, FAILED})
"""Outcomes of URLs that gave no page."""

_GONE_STATUSES = frozenset({404, 410})
_FORBIDDEN = "forbidden by robots.txt"
_UNREACHABLE = "robots.txt cannot be had"


def outcome_of_failure(status: int, reason: str, *, unreadable: bool) -> str:
    """What a failure says of a page that was there before.

    Args:
        status: That of the answer, 0 where none came.
        reason: Why there was no page.
        unreadable: Whether an answer came that could not be taken as it was.
    """
    if reason == _FORBIDDEN:
        return FORBIDDEN
    if reason.startswith(_UNREACHABLE):
        return FAILED
    if status in _GONE_STATUSES or (not status and not unreadable):
        return GONE
    return FAILED
