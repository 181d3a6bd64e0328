"""What a crawl was tuned to, and how many verdicts rest on it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.pages.export import iso_time
from crawler.pages.live_parameters import Tuned, history, to_json

if TYPE_CHECKING:
    import sqlite3

_COUNTS = """
SELECT parameters, count(*) FROM pages
WHERE latest = 1 AND parameters IS NOT NULL GROUP BY parameters
"""


@dataclass(frozen=True, slots=True)
class TuningReport:
    """What ``scrapy tune`` says.

    Attributes:
        history: All parameters that ever held; the last ones hold.
        pages: Newest captures that were judged with each, in the same order.
    """

    history: tuple[Tuned, ...]
    pages: tuple[int, ...]

    def to_dict(self) -> dict[str, Any]:
        """As ``scrapy tune --json`` prints it."""
        rows = [
            {
                "id": tuned.id,
                "since": iso_time(tuned.since),
                "origin": tuned.origin,
                **json.loads(to_json(tuned.parameters)),
                "pages": pages,
            }
            for tuned, pages in zip(self.history, self.pages, strict=True)
        ]
        return {"current": rows[-1] if rows else None, "history": rows}


def tuning_report(connection: sqlite3.Connection) -> TuningReport:
    """Read it from a crawl's database.

    Complexity: O(pages).
    """
    connection.execute("BEGIN")
    try:
        found = history(connection)
        counts = dict(map(tuple, connection.execute(_COUNTS)))
    finally:
        connection.execute("ROLLBACK")
    return TuningReport(tuple(found), tuple(counts.get(tuned.id, 0) for tuned in found))
