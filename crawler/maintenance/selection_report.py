"""Count the pages that are chosen among those of a crawl."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.pages.verdicts import DUPLICATES, WITHOUT_PAGE, listed

if TYPE_CHECKING:
    import sqlite3

    from crawler.pages.page_selection import PageSelection

_COUNTS = """
SELECT count(*), count(text), coalesce(sum(body_bytes), 0), min(fetched_at),
       max(max(fetched_at, seen_at))
FROM pages WHERE latest = 1 AND {}
"""
_BY = "SELECT {}, count(*) FROM pages WHERE latest = 1 AND {} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ?"

MOST_VALUES = 20
"""Name at most this many values of a column."""


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
        return _read(connection, selection)
    finally:
        connection.execute("ROLLBACK")


def _read(connection: sqlite3.Connection, selection: PageSelection) -> SelectionReport:
    chosen, values = selection.condition()

    def by(column: str, also: str = "1") -> dict[str, int]:
        condition = f"{chosen} AND {also}"
        rows = connection.execute(_BY.format(column, condition), (*values, MOST_VALUES))
        return {"none" if value is None else str(value): count for value, count in rows}

    verdicts = by("verdict")
    counts = connection.execute(_COUNTS.format(chosen), values).fetchone()
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
