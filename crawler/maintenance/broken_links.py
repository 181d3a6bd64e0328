"""Find the URLs that gave no page, and the pages that led to them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from crawler.pages.page_metadata import linked_from
from crawler.pages.reasons import Reason, codes, in_words
from crawler.pages.verdicts import FAILED

if TYPE_CHECKING:
    import sqlite3

LARGEST = 20
"""Examples that a report holds at most."""

_BROKEN = """
SELECT url, status, reason, metadata FROM pages
WHERE visit = ? AND verdict = ? AND latest = 1 AND metadata IS NOT NULL
ORDER BY status IS NULL, status, id
"""

_NOT_BROKEN = frozenset({Reason.FORBIDDEN, Reason.REDIRECTED_OUT})
"""Reasons for which the crawl does not look where a link leads."""


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


def broken_links(
    connection: sqlite3.Connection, visit: int, most: int | None = LARGEST
) -> tuple[BrokenLink, ...]:
    """Return links of a visit that lead to no page, those with an HTTP status first.

    What robots.txt forbids, or what leads out of the scope, may well be there.

    Args:
        connection: The crawl's database.
        visit: The visit.
        most: The largest number of links; None: all.

    Complexity: O(failed URLs of the visit).
    """
    found = (
        BrokenLink(row["url"], row["status"], in_words(row["reason"]), source)
        for row in connection.execute(_BROKEN, (visit, FAILED))
        if not codes(row["reason"]) & _NOT_BROKEN
        and (source := linked_from(row["metadata"])) is not None
    )
    return tuple(islice(found, most))
