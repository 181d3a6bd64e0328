"""Keep a checksum of each row of what is kept of pages, so that every change of it is seen."""

from __future__ import annotations

import marshal
from typing import TYPE_CHECKING

import xxhash

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

CHECKED = {"pages": "id", "near_texts": "page", "links": "id", "known": "key"}
"""Tables of what is kept of pages, whose rows have checksums, with their keys.

The queue has none: its rows change three times a request, and live for one visit.
"""


def keep_checksums(connection: sqlite3.Connection) -> None:
    """Let a connection keep the checksums of the rows that it writes.

    Its triggers are temporary, so that other programs can read, mend and recover the file: what
    they change is found. A row that was damaged before stays so, whatever is written into it.
    """
    connection.create_function("row_checksum", -1, _row_checksum, deterministic=True)
    for table, key in CHECKED.items():
        old, new = (checksum_sql(connection.execute, table, row) for row in ("OLD.{}", "NEW.{}"))
        keep = f"BEGIN UPDATE {table} SET checksum = {new} WHERE {key} = NEW.{key}; END"
        names = ", ".join(_checked_columns(connection.execute, table))
        trigger = f"CREATE TEMP TRIGGER IF NOT EXISTS {table}"
        update = f"UPDATE OF {names} ON main.{table} WHEN OLD.checksum = {old}"
        connection.execute(f"{trigger}_updated AFTER {update} {keep}")
        if table != "pages":  # whose INSERT has it: to write such a row twice takes 10 us
            connection.execute(f"{trigger}_inserted AFTER INSERT ON main.{table} {keep}")


def checksum_sql(read: Callable[[str], sqlite3.Cursor], table: str, value: str = "{}") -> str:
    """Return the SQL of the right checksum of a row.

    Each value is cast to the type of its column, text to bytes: none is refused, even text that is
    no UTF-8. Values of other types are the matter of ``verify``.

    Args:
        read: Runs a query.
        table: One of ``CHECKED``.
        value: Form of a value, such as ``NEW.{}`` with the name of its column, ``?{1}`` with its
            number.
    """
    casts = []
    for number, (name, kind) in enumerate(_checked_columns(read, table).items(), 1):
        casts.append(f"CAST({value.format(name, number)} AS {kind.replace('TEXT', 'BLOB')})")
    return f"row_checksum({', '.join(casts)})"


def _checked_columns(read: Callable[[str], sqlite3.Cursor], table: str) -> dict[str, str]:
    rows = read(f"PRAGMA table_info({table})")
    return {name: kind for _, name, kind, *_ in rows if name != "checksum"}


def _row_checksum(*values: float | bytes | None) -> int:
    """Return a hash of 64 bits as SQLite's signed integer; version 2 of marshal never changes."""
    return xxhash.xxh3_64_intdigest(marshal.dumps(values, 2)) - (1 << 63)
