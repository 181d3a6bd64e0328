"""Verdicts by cluster, on disk, so that memory does not grow with the input."""

import json
import sqlite3
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from neardup.command_line.errors import InputError
from neardup.command_line.rows.row import Id
from neardup.verdict import Verdict

_TABLE = """
CREATE TABLE verdicts (
  number INTEGER PRIMARY KEY,  -- place in the input
  id TEXT NOT NULL,            -- the user's, as JSON
  kept INTEGER NOT NULL,       -- number of the kept text: its own, or that which it repeats
  kind TEXT NOT NULL,
  tier TEXT,
  distance INTEGER,
  similarity REAL
) STRICT
"""


class Ledger:
    """Which text was kept, and which repeats which.

    Files:
        ``path``: SQLite, for one run; nothing is made durable.

    Raises:
        InputError: The disk is full.
    """

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        try:
            for pragma in ("journal_mode = OFF", "synchronous = OFF"):
                self._database.execute(f"PRAGMA {pragma}")
            self._database.execute(_TABLE)
            self._database.execute("BEGIN")
        except sqlite3.OperationalError as error:
            self._database.close()
            raise _full(error) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._database.close()

    def add(self, number: int, name: Id, verdict: Verdict) -> None:
        """Note what became of a text.

        Raises:
            InputError: The disk is full.
        """
        kept = number if verdict.duplicate_of is None else verdict.duplicate_of
        found = (verdict.kind, verdict.tier, verdict.distance, verdict.similarity)
        row = (number, json.dumps(name), kept, *found)
        try:
            self._database.execute("INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        except sqlite3.OperationalError as error:
            raise _full(error) from error

    def clusters(self, *, singles: bool) -> Iterator[dict[str, Any]]:
        """Yield each kept text with its duplicates, in the order of the input.

        Args:
            singles: Whether texts without a duplicate come too.

        Raises:
            InputError: The disk is full.
        """
        columns = "kept, id, kind, tier, distance, similarity"
        try:
            self._database.execute("CREATE INDEX clusters ON verdicts (kept, number)")
            # The kept text comes first: what repeats it was judged later.
            query = f"SELECT {columns} FROM verdicts ORDER BY kept, number"  # noqa: S608  (a constant)
            for _, rows in groupby(self._database.execute(query), key=lambda row: row[0]):
                (_, name, *_), *duplicates = rows
                if duplicates or singles:
                    yield {
                        "kept": json.loads(name),
                        "duplicates": [_duplicate(*row[1:]) for row in duplicates],
                    }
        except sqlite3.OperationalError as error:
            raise _full(error) from error

    def repeated_ids(self, limit: int) -> tuple[list[str], int]:
        """Return ids that more than one text has, as JSON, and how many such ids there are.

        Args:
            limit: Return at most so many, those of the first texts.

        Raises:
            InputError: The disk is full.
        """
        repeated = "SELECT min(number) AS first, id FROM verdicts GROUP BY id HAVING count(*) > 1"
        try:
            execute = self._database.execute
            (total,) = execute(f"SELECT count(*) FROM ({repeated})").fetchone()  # noqa: S608
            found = execute(f"{repeated} ORDER BY first LIMIT ?", (limit,)).fetchall()
        except sqlite3.OperationalError as error:
            raise _full(error) from error
        return [name for _, name in found], total


def _duplicate(
    name: str, kind: str, tier: str | None, distance: int | None, similarity: float | None
) -> dict[str, Any]:
    return {
        "id": json.loads(name),
        "verdict": kind,
        "tier": tier,
        "distance": distance,
        "similarity": None if similarity is None else round(similarity, 4),
    }


def _full(error: sqlite3.OperationalError) -> InputError:
    return InputError(f"temporary files: {error}; TMPDIR may name a larger disk")
