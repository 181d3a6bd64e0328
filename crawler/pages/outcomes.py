"""Define the outcomes of a URL in a visit, relative to the visit before."""

from __future__ import annotations

from crawler.pages.reasons import Reason, Stored, codes

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
    GONE: "HTTP 404 or 410; its last text stays",
    FORBIDDEN: "robots.txt forbids it now; its last text stays",
    FAILED: "nothing, an error or a part came, not the page; its last text stays",
}
"""Map every outcome to its meaning, in the order of reports."""

READ = frozenset({NEW, UNCHANGED, CHANGED})
"""Outcomes of pages that were fetched."""

AWAY = frozenset({MOVED, GONE, FORBIDDEN, FAILED})
"""Outcomes of URLs that gave no page."""

_GONE_STATUSES = frozenset({404, 410})


def outcome_of_failure(status: int, reason: Stored) -> str:
    """Return the outcome of a failure for a page that was there before.

    Args:
        status: HTTP status, or 0 without an answer: that says nothing about the page.
        reason: Cause of the failure.
    """
    if Reason.FORBIDDEN in codes(reason):
        return FORBIDDEN
    return GONE if status in _GONE_STATUSES else FAILED
