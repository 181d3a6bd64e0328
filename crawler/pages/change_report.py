"""What a visit found changed, in counts and the foremost examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.pages.outcomes import AWAY, OUTCOMES

if TYPE_CHECKING:
    import sqlite3

LISTED = 20
"""URLs that a report names of each outcome."""

# Of URLs that were never read, such as broken links, nothing can have changed.
_PAGES = "known JOIN pages USING (key) WHERE pages.latest = 1 AND known.visit = ?"
_READ_ONCE = "pages.verdict NOT IN ('failed', 'unreadable')"

_CHANGED_MOST = f"""
SELECT pages.url, known.distance, known.similarity, known.is_near, known.reason FROM {_PAGES}
AND known.outcome = 'changed'
ORDER BY known.is_near, coalesce(known.similarity, 1 - known.distance / 64.0, 0), pages.id LIMIT ?
"""  # noqa: S608

_WITHOUT_PAGE = f"""
SELECT pages.url, known.reason, known.moved_to, known.since FROM {_PAGES}
AND known.outcome = ? AND {_READ_ONCE} ORDER BY known.since DESC, pages.id LIMIT ?
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class Change:
    """A page that says something else than at its last visit.

    Attributes:
        distance: To its own last version, in bits; None where that cannot be told.
        similarity: The same as Jaccard, 0 to 1.
        is_near: Whether so little changed, such as a clock, that it counts as nothing.
    """

    url: str
    distance: int | None
    similarity: float | None
    is_near: bool
    reason: str | None


@dataclass(frozen=True, slots=True)
class Away:
    """A page that was not got: why, where it moved to, and the visit since which that is so."""

    url: str
    reason: str | None
    moved_to: str | None
    since: int


@dataclass(frozen=True, slots=True)
class Changes:
    """What became of the pages that were known, and how many are new.

    Attributes:
        outcomes: URLs by outcome, of those that this visit asked for.
        nearly_unchanged: Of the changed, those of which next to nothing changed.
        not_sent: Of the unchanged, those that were not sent again (HTTP 304).
        not_sent_bytes: What they would have had, going by their last versions.
        back: Of the changed and unchanged, those that had been away.
        changed: The most changed ones first.
        away: By outcome, the newest first.
        not_asked: Known pages that this visit did not ask for.
        next_due_at: When the next of all is due, in seconds since 1970.
    """

    outcomes: dict[str, int]
    nearly_unchanged: int
    not_sent: int
    not_sent_bytes: int
    back: int
    changed: tuple[Change, ...]
    away: dict[str, tuple[Away, ...]]
    not_asked: int
    next_due_at: float | None


def find_changes(connection: sqlite3.Connection, visit: int) -> Changes:
    """Read what changed. Complexity: O(URLs)."""
    outcomes = dict.fromkeys(OUTCOMES, 0)
    counted = connection.execute(
        f"SELECT outcome, count(*) FROM {_PAGES} AND {_READ_ONCE} GROUP BY 1",  # noqa: S608
        (visit,),
    )
    outcomes.update(tuple(row) for row in counted)
    near, not_sent, not_sent_bytes, back = connection.execute(
        "SELECT sum(outcome = 'changed' AND is_near), sum(not_sent),"
        " sum(CASE WHEN not_sent THEN body_bytes ELSE 0 END), sum(was_away)"
        " FROM known JOIN pages USING (key) WHERE pages.latest = 1 AND known.visit = ?",
        (visit,),
    ).fetchone()
    (next_due,) = connection.execute(
        "SELECT min(due_at) FROM known WHERE key IN (SELECT key FROM pages)"
    ).fetchone()
    not_asked = connection.execute(
        "SELECT count(*) FROM known JOIN pages USING (key)"
        " WHERE pages.latest = 1 AND pages.verdict NOT IN ('failed', 'unreadable')"
        " AND known.visit < ?",
        (visit,),
    ).fetchone()[0]
    return Changes(
        outcomes=outcomes,
        nearly_unchanged=near or 0,
        not_sent=not_sent or 0,
        not_sent_bytes=not_sent_bytes or 0,
        back=back or 0,
        changed=_changed(connection, visit),
        away={kind: _away(connection, visit, kind) for kind in OUTCOMES if kind in AWAY},
        not_asked=not_asked,
        next_due_at=next_due,
    )


def _changed(connection: sqlite3.Connection, visit: int) -> tuple[Change, ...]:
    rows = connection.execute(_CHANGED_MOST, (visit, LISTED))
    return tuple(
        Change(url, distance, similarity, bool(is_near), reason)
        for url, distance, similarity, is_near, reason in rows
    )


def _away(connection: sqlite3.Connection, visit: int, kind: str) -> tuple[Away, ...]:
    rows = connection.execute(_WITHOUT_PAGE, (visit, kind, LISTED))
    return tuple(Away(*row) for row in rows)
