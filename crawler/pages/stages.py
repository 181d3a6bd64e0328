"""What the stages of a crawl took, for reports and for those who look on."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from crawler.pages.database import Database

INTERVAL_SECS = 1.0
"""It is written this often, with what is written anyway."""

_META = "stages"


class StageTimes:
    """Adds the seconds of this process to those of earlier ones in the same visit.

    Args:
        database: Of the crawl.
        seconds: By stage, as they grow.
    """

    def __init__(self, database: Database, seconds: Mapping[str, float]) -> None:
        self._database = database
        self._seconds = seconds
        self._before: dict[str, float] = json.loads(database.meta(_META) or "{}")
        self._noted = time.monotonic()

    def begin_visit(self) -> None:
        """Count from nothing."""
        self._database.set_meta(_META, "{}")
        self._before = {}

    def note_if_due(self) -> None:
        """Write them now and then; never only for their own sake."""
        now = time.monotonic()
        if now - self._noted >= INTERVAL_SECS and self._database.is_written_to:
            self._noted = now
            self.note()

    def note(self) -> None:
        """Write them."""
        total = {name: secs + self._before.get(name, 0.0) for name, secs in self._seconds.items()}
        self._database.set_meta(_META, json.dumps(total))
