"""Count the pages of a visit by verdict, and what is still to be requested."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.frontier.queue import MAX_TRIES
from crawler.pages.verdicts import DUPLICATES, UNCHANGED, VERDICTS
from crawler.storage.states import UNFINISHED, WAITING

if TYPE_CHECKING:
    import sqlite3

# Each part has an index of its own, which the sum of both would not use.
_QUEUED = f"""
SELECT (SELECT count(*) FROM requests WHERE state = {WAITING})
     + (SELECT count(*) FROM requests WHERE state IN ({UNFINISHED}) AND tries < ?)
"""
_DUPLICATES = ", ".join(f"'{verdict}'" for verdict in sorted(DUPLICATES))
KEPT_PAGES = "SELECT count(*) FROM pages WHERE latest = 1 AND text IS NOT NULL"
ALL_PAGES = "SELECT count(*) FROM pages WHERE latest = 1"
_REPEATING = f"SELECT count(*) FROM pages WHERE latest = 1 AND verdict IN ({_DUPLICATES})"


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of one visit, and of what the directory holds after it.

    Attributes:
        verdicts: Number of pages by verdict, with every verdict, zeros included.
        kept: Number of pages whose text is stored, whatever visit fetched them.
        duplicates: Number of pages that repeat a kept one, likewise.
        queued: Requests that are still to be made.
        saved_bytes: Size of the bodies that repeat a kept page.
        fetched_bytes: Size of all bodies that came.
    """

    verdicts: dict[str, int]
    kept: int
    duplicates: int
    queued: int
    saved_bytes: int
    fetched_bytes: int


def make_tally(connection: sqlite3.Connection, visit: int) -> Tally:
    """Count a visit, within the open transaction.

    Complexity: O(pages and requests).
    """
    return Tally(
        verdicts=_count_verdicts(connection, visit),
        kept=scalar(connection, KEPT_PAGES),
        duplicates=scalar(connection, _REPEATING),
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
        "SELECT verdict, count(*) FROM pages WHERE visit = ? GROUP BY verdict", (visit,)
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
