"""Add up the running totals of a visit, for reports and live views."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.storage.database import Database

INTERVAL_SECS = 1.0
"""Write the totals at most once in this many seconds, together with other writes."""


class RunningTotal:
    """Adds the sums of this process to those of earlier ones in the same visit.

    Args:
        database: Database of the crawl.
        name: Name of the total in ``meta``.
        sums: Live sums by name, read at each write.
    """

    def __init__(self, database: Database, name: str, sums: Mapping[str, float]) -> None:
        self._database = database
        self._name = name
        self._sums = sums
        self._before: dict[str, float] = json.loads(database.meta(name) or "{}")
        self._noted = time.monotonic()

    def begin_visit(self) -> None:
        """Reset the total."""
        self._database.set_meta(self._name, "{}")
        self._before = {}

    def note_if_due(self) -> None:
        """Write the total now and then, if a transaction is open anyway."""
        now = time.monotonic()
        if now - self._noted >= INTERVAL_SECS and self._database.is_written_to:
            self._noted = now
            self.note()

    def note(self) -> None:
        """Write the total."""
        names = {**self._before, **self._sums}
        total = {name: self._sums.get(name, 0) + self._before.get(name, 0) for name in names}
        self._database.set_meta(self._name, json.dumps(total))
