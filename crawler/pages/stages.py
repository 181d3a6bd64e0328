"""What is added up in a visit beside its pages, for reports and for those who look on."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.storage.database import Database

INTERVAL_SECS = 1.0
"""It is written this often, with what is written anyway."""

SECONDS_BY_STAGE = "stages"
"""Name of the total of what the stages of a crawl took."""

REFUSED_LINKS = "refused_links"
"""Name of the total of links that were not followed, by what kept them out."""


class RunningTotal:
    """Adds the sums of this process to those of earlier ones in the same visit.

    Args:
        database: Of the crawl.
        name: Under which it stands in ``meta``.
        sums: By what is summed up, as they grow.
    """

    def __init__(self, database: Database, name: str, sums: Mapping[str, float]) -> None:
        self._database = database
        self._name = name
        self._sums = sums
        self._before: dict[str, float] = json.loads(database.meta(name) or "{}")
        self._noted = time.monotonic()

    def begin_visit(self) -> None:
        """Count from nothing."""
        self._database.set_meta(self._name, "{}")
        self._before = {}

    def note_if_due(self) -> None:
        """Write them now and then; never only for their own sake."""
        now = time.monotonic()
        if now - self._noted >= INTERVAL_SECS and self._database.is_written_to:
            self._noted = now
            self.note()

    def note(self) -> None:
        """Write them."""
        names = {**self._before, **self._sums}
        total = {name: self._sums.get(name, 0) + self._before.get(name, 0) for name in names}
        self._database.set_meta(self._name, json.dumps(total))
