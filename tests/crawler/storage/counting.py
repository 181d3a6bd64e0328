"""What a database was asked to write."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.storage.database import Database


def rows_written(database: Database) -> int:
    """Rows that were inserted, updated or deleted since the database was opened."""
    return int(database.read("SELECT total_changes()").fetchone()[0])
