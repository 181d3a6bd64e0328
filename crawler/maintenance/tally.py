"""Count pages: those of a visit and what changed, what is still to be requested, chosen ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.frontier.queue import MAX_TRIES
from crawler.pages.reasons import in_words
from crawler.pages.verdicts import (
    AWAY,
    DUPLICATES,
    FAILED,
    OUTCOMES,
    STILL_AWAY,
    UNCHANGED,
    VERDICTS,
    WITHOUT_PAGE,
    listed,
)
from crawler.storage import meta_names
from crawler.storage.states import UNFINISHED, WAITING

if TYPE_CHECKING:
    import sqlite3

    from crawler.pages.export import PageSelection

# Each part has an index of its own, which the sum of both would not use.
_QUEUED = f"""
SELECT (SELECT count(*) FROM requests WHERE state = {WAITING})
     + (SELECT count(*) FROM requests WHERE state IN ({UNFINISHED}) AND tries < ?)
"""
_DUPLICATES = listed(DUPLICATES)
_SEES_FAILURES = "SELECT EXISTS (SELECT 1 FROM meta WHERE name = ?) OR EXISTS (SELECT 1 FROM links)"
KEPT_PAGES = "SELECT count(*) FROM pages WHERE latest = 1 AND text IS NOT NULL"
ALL_PAGES = "SELECT count(*) FROM pages WHERE latest = 1"
DUPLICATE_PAGES = f"SELECT count(*) FROM pages WHERE latest = 1 AND verdict IN ({_DUPLICATES})"

LISTED = 20
"""Name at most this many URLs of each outcome, and values of a column, in a report."""

# A URL that was never read, such as a broken link, cannot have changed.
_PAGES = "known JOIN pages USING (key) WHERE pages.latest = 1 AND known.visit = ?"
_READ_ONCE = f"pages.verdict NOT IN ({listed(WITHOUT_PAGE)})"

_NOT_ASKED = f"""
SELECT count(*) FROM known JOIN pages USING (key)
WHERE pages.latest = 1 AND {_READ_ONCE} AND known.visit < ?
"""
_CHANGED_MOST = f"""
SELECT pages.url, known.distance, known.similarity, known.is_near, known.reason FROM {_PAGES}
AND known.outcome = 'changed'
ORDER BY known.is_near, coalesce(known.similarity, 1 - known.distance / 64.0, 0), pages.id LIMIT ?
"""

_WITHOUT_PAGE = f"""
SELECT pages.url, known.reason, known.moved_to, known.since FROM {_PAGES}
AND known.outcome = ? AND {_READ_ONCE} ORDER BY known.since DESC, pages.id LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of one visit, and of what the directory holds after it.

    Attributes:
        verdicts: Number of pages by verdict, with every verdict, zeros included.
        kept: Number of pages whose text is stored, whatever visit fetched them.
        duplicates: Number of pages that repeat a kept one, likewise.
        failed: Number of URLs that gave no page; None of a spider of another project, whose items
            alone are seen.
        queued: Requests that are still to be made.
        saved_bytes: Size of the bodies that repeat a kept page.
        fetched_bytes: Size of all bodies that came.
    """

    verdicts: dict[str, int]
    kept: int
    duplicates: int
    failed: int | None
    queued: int
    saved_bytes: int
    fetched_bytes: int


def make_tally(connection: sqlite3.Connection, visit: int) -> Tally:
    """Count a visit, within the open transaction.

    Complexity: O(pages and requests).
    """
    verdicts = _count_verdicts(connection, visit)
    is_seen = verdicts[FAILED] or scalar(connection, _SEES_FAILURES, meta_names.PLAN)
    return Tally(
        verdicts=verdicts,
        failed=verdicts[FAILED] if is_seen else None,
        kept=scalar(connection, KEPT_PAGES),
        duplicates=scalar(connection, DUPLICATE_PAGES),
        queued=count_queued(connection),
        saved_bytes=_sum_bytes(connection, visit, f"verdict IN ({_DUPLICATES})"),
        fetched_bytes=_sum_bytes(connection, visit, "1"),
    )


def count_queued(connection: sqlite3.Connection) -> int:
    """Return how many requests are still to be made. Complexity: O(these)."""
    return scalar(connection, _QUEUED, MAX_TRIES)


def _count_verdicts(connection: sqlite3.Connection, visit: int) -> dict[str, int]:
    counts = dict.fromkeys(VERDICTS, 0)
    rows = connection.execute(
        "SELECT verdict, count(*) FROM pages AS one WHERE visit = ? AND NOT EXISTS (SELECT 1"
        " FROM pages WHERE key = one.key AND visit = one.visit AND id > one.id) GROUP BY verdict",
        (visit,),  # a page whose clock was content was judged anew
    )
    for verdict, count in rows:
        counts[verdict] = count
    counts[UNCHANGED] = scalar(
        connection, "SELECT count(*) FROM pages WHERE seen_visit = ? AND visit < ?", visit, visit
    )
    return counts


def _sum_bytes(connection: sqlite3.Connection, visit: int, condition: str) -> int:
    """Return the bytes of bodies that came in a visit; a page that was not sent again had none."""
    return scalar(
        connection,
        f"SELECT coalesce(sum(body_bytes), 0) FROM pages WHERE seen_visit = ?1 AND {condition}"
        " AND key NOT IN (SELECT key FROM known WHERE visit = ?1 AND not_sent = 1)",
        visit,
    )


def scalar(connection: sqlite3.Connection, sql: str, *parameters: Any) -> int:
    return int(connection.execute(sql, parameters).fetchone()[0])


@dataclass(frozen=True, slots=True)
class Change:
    """A page whose text differs from that of its last visit.

    Attributes:
        distance: Hamming distance to its last version in bits, or None if it is unknown.
        similarity: Jaccard similarity to its last version, 0 to 1, or None if it is unknown.
        is_near: Whether the change is so small, such as a clock, that it counts as none.
    """

    url: str
    distance: int | None
    similarity: float | None
    is_near: bool
    reason: str | None


@dataclass(frozen=True, slots=True)
class Away:
    """A page that was not fetched: why, where it moved to, and since which visit."""

    url: str
    reason: str | None
    moved_to: str | None
    since: int


@dataclass(frozen=True, slots=True)
class Changes:
    """Counts and examples of the changes of a visit.

    Attributes:
        outcomes: Requested URLs of this visit by outcome, without those that are still away.
        still_away: URLs that moved, went or were forbidden before this visit, and are so yet.
        nearly_unchanged: Changed pages with next to no difference.
        not_sent: Unchanged pages that were not sent again (HTTP 304).
        not_sent_bytes: Size of their last versions.
        back: Changed and unchanged pages that had been away.
        changed: Changed pages, the most changed ones first.
        away: Pages that are away, by outcome, the newest first.
        not_asked: Known pages that this visit did not request.
    """

    outcomes: dict[str, int]
    still_away: int
    nearly_unchanged: int
    not_sent: int
    not_sent_bytes: int
    back: int
    changed: tuple[Change, ...]
    away: dict[str, tuple[Away, ...]]
    not_asked: int


def find_changes(connection: sqlite3.Connection, visit: int) -> Changes:
    """Read the changes of a visit. Complexity: O(URLs)."""
    kinds = f"iif({STILL_AWAY}, '', outcome)"
    sql = f"SELECT {kinds}, count(*) FROM {_PAGES} AND {_READ_ONCE} GROUP BY 1"
    outcomes = dict.fromkeys(OUTCOMES, 0) | dict(connection.execute(sql, (visit,)).fetchall())
    still_away = outcomes.pop("", 0)
    near, not_sent, not_sent_bytes, back = connection.execute(
        "SELECT sum(outcome = 'changed' AND is_near), sum(not_sent),"
        " sum(CASE WHEN not_sent THEN body_bytes ELSE 0 END), sum(was_away)"
        f" FROM {_PAGES}",
        (visit,),
    ).fetchone()
    return Changes(
        outcomes=outcomes,
        still_away=still_away,
        nearly_unchanged=near or 0,
        not_sent=not_sent or 0,
        not_sent_bytes=not_sent_bytes or 0,
        back=back or 0,
        changed=_changed(connection, visit),
        away={kind: _away(connection, visit, kind) for kind in OUTCOMES if kind in AWAY},
        not_asked=scalar(connection, _NOT_ASKED, visit),
    )


def _changed(connection: sqlite3.Connection, visit: int) -> tuple[Change, ...]:
    rows = connection.execute(_CHANGED_MOST, (visit, LISTED))
    return tuple(
        Change(url, distance, similarity, bool(is_near), in_words(reason))
        for url, distance, similarity, is_near, reason in rows
    )


def _away(connection: sqlite3.Connection, visit: int, kind: str) -> tuple[Away, ...]:
    rows = connection.execute(_WITHOUT_PAGE, (visit, kind, LISTED))
    return tuple(Away(url, in_words(reason), *rest) for url, reason, *rest in rows)


_COUNTS_OF_CHOSEN = """
SELECT count(*), count(text), coalesce(sum(body_bytes), 0), min(fetched_at),
       max(max(fetched_at, seen_at))
FROM pages WHERE latest = 1 AND {}
"""
_BY = "SELECT {}, count(*) FROM pages WHERE latest = 1 AND {} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?"


@dataclass(frozen=True, slots=True)
class SelectionReport:
    """Counts of the chosen pages, of the newest capture of each URL.

    Attributes:
        pages: Number of URLs.
        kept: Number of pages whose text is stored.
        duplicates: Number of pages that repeat a kept one, chosen or not.
        body_bytes: Size of all bodies.
        first_at: Time of the first fetch, in seconds since 1970; None without a page.
        last_at: Time of the last fetch, also of a page that was found unchanged.
        verdicts: Number of pages by verdict.
        statuses: Number of pages by HTTP status; ``none`` where no answer came.
        types: Number of pages by the type of their content, where it is known.
        languages: Number of pages by the language that they declare, of those that were read.
    """

    pages: int
    kept: int
    duplicates: int
    body_bytes: int
    first_at: float | None
    last_at: float | None
    verdicts: dict[str, int]
    statuses: dict[str, int]
    types: dict[str, int]
    languages: dict[str, int]


def report_selection(connection: sqlite3.Connection, selection: PageSelection) -> SelectionReport:
    """Count the chosen pages, as they are at one moment.

    Complexity: O(pages).
    """
    connection.execute("BEGIN")
    try:
        return _read_selection(connection, selection)
    finally:
        connection.execute("ROLLBACK")


def _read_selection(connection: sqlite3.Connection, selection: PageSelection) -> SelectionReport:
    chosen, values = selection.condition()

    def by(column: str, also: str = "1") -> dict[str, int]:
        condition = f"{chosen} AND {also}"
        rows = connection.execute(_BY.format(column, condition), (*values, LISTED))
        return {"none" if value is None else str(value): count for value, count in rows}

    verdicts = by("verdict")
    counts = connection.execute(_COUNTS_OF_CHOSEN.format(chosen), values).fetchone()
    pages, kept, body_bytes, first_at, last_at = counts
    return SelectionReport(
        pages=pages,
        kept=kept,
        duplicates=sum(verdicts.get(verdict, 0) for verdict in DUPLICATES),
        body_bytes=body_bytes,
        first_at=first_at,
        last_at=last_at,
        verdicts=verdicts,
        statuses=by("status"),
        types=by("page_type"),
        languages=by("language", f"verdict NOT IN ({listed(WITHOUT_PAGE)})"),
    )
