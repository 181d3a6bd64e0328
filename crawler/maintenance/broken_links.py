"""Find the URLs that gave no page, and the pages that led to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.pages.page_metadata import linked_from
from crawler.pages.reasons import in_words
from crawler.pages.verdicts import FAILED

if TYPE_CHECKING:
    import sqlite3

LARGEST = 20
"""Examples that a report holds at most."""

_BROKEN = """
SELECT url, status, reason, metadata FROM pages
WHERE visit = ? AND verdict = ? AND latest = 1 AND metadata IS NOT NULL
ORDER BY status IS NULL, status, id
LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class BrokenLink:
    """A link that leads to no page.

    Attributes:
        url: Where it leads.
        status: HTTP status of the answer; None where none came.
        reason: Why there is no page.
        linked_from: The URL of the page on which the link was met first.
    """

    url: str
    status: int | None
    reason: str | None
    linked_from: str


def broken_links(connection: sqlite3.Connection, visit: int) -> tuple[BrokenLink, ...]:
    """Return links of a visit that lead to no page, those with an HTTP status first.

    Complexity: O(failed URLs of the visit).
    """
    rows = connection.execute(_BROKEN, (visit, FAILED, LARGEST)).fetchall()
    return tuple(
        BrokenLink(row["url"], row["status"] or None, in_words(row["reason"]), source)
        for row in rows
        if (source := linked_from(row["metadata"])) is not None
    )
