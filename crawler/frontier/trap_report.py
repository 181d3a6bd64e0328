"""What is said of a crawl's traps: clusters of URLs that are asked for last, or not at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.url_rules.url_clusters import OPEN

if TYPE_CHECKING:
    import sqlite3

MOST_CLUSTERS = 50

_CLUSTERS = """
SELECT name, fetched, new, state, reason, coalesce(waiting, 0)
FROM url_clusters LEFT JOIN (
    SELECT rule, count(*) AS waiting FROM requests WHERE state = 4 AND rule < 0 GROUP BY rule
) ON rule = -id
WHERE state != ? ORDER BY coalesce(waiting, 0) DESC, fetched DESC, id LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class StoredCluster:
    """A slow or closed cluster as the directory has it.

    Attributes:
        name: Host, path pattern and names of arguments.
        fetched: Pages fetched in this visit.
        new: Those of them whose text was new.
        state: "slow" or "closed".
        reason: Why.
        skipped: Requests that are not made because of it.
    """

    name: str
    fetched: int
    new: int
    state: str
    reason: str
    skipped: int


def trap_report(connection: sqlite3.Connection) -> tuple[StoredCluster, ...]:
    """Read the clusters of a crawl that are not open, also while it is running.

    Returns:
        At most 50, those first for which the most requests are not made.

    Complexity: O(requests that are skipped + clusters).
    """
    rows = connection.execute(_CLUSTERS, (OPEN, MOST_CLUSTERS))
    return tuple(StoredCluster(*row) for row in rows)
