"""What the last visit of a crawl came to so far, counted over all of its pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.frontier.queue import MOST_TRIES
from crawler.pages.verdicts import DUPLICATES, UNCHANGED, VERDICTS

if TYPE_CHECKING:
    import sqlite3

# Each part has an index of its own, which the sum of both would not use.
_QUEUED = """
SELECT (SELECT count(*) FROM requests WHERE state = 0)
     + (SELECT count(*) FROM requests WHERE state IN (1, 3) AND tries < ?)
"""
_DUPLICATES = ", ".join(f"'{verdict}'" for verdict in sorted(DUPLICATES))


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of one visit.

    Attributes:
        verdicts: Pages by verdict, all verdicts, 0 included.
        queued: Requests that are still to be made.
        saved_bytes: Of bodies that repeat a kept page.
        fetched_bytes: Of all bodies that came.
    """

    verdicts: dict[str, int]
    queued: int
    saved_bytes: int
    fetched_bytes: int


def make_tally(connection: sqlite3.Connection, visit: int) -> Tally:
    """Count a visit, within the transaction that is open.

    Complexity: O(pages and requests).
    """
    return Tally(
        verdicts=_count_verdicts(connection, visit),
        queued=scalar(connection, _QUEUED, MOST_TRIES),
        saved_bytes=_sum_bytes(connection, visit, f"verdict IN ({_DUPLICATES})"),
        fetched_bytes=_sum_bytes(connection, visit, "1"),
    )


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
    """The bytes of bodies that came in a visit; a page that was not sent again had none."""
    return scalar(
        connection,
        f"SELECT coalesce(sum(body_bytes), 0) FROM pages WHERE seen_visit = ?1 AND {condition}"  # noqa: S608
        " AND key NOT IN (SELECT key FROM known WHERE visit = ?1 AND not_sent = 1)",
        visit,
    )


def scalar(connection: sqlite3.Connection, sql: str, *parameters: Any) -> int:
    """The one whole number that a query returns."""
    return int(connection.execute(sql, parameters).fetchone()[0])
