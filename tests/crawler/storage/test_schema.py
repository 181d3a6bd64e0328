"""SQLite refuses what no crawl writes; ``verify`` knows each condition by which it does."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from crawler.maintenance.verify.column_checks import CONDITIONS
from crawler.storage.schema import TABLES

OF_TYPE = {"INTEGER": 1, "REAL": 0.5, "TEXT": "text", "BLOB": b"bytes"}


def test_every_column_refuses_a_value_of_another_type() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES)
        connection.execute("PRAGMA ignore_check_constraints = ON")
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        for (table,) in tables.fetchall():
            columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
            right = {name: OF_TYPE[kind] for _, name, kind, *_ in columns}
            insert = f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})"
            for column, value in right.items():
                wrong = b"bytes" if value == "text" else "text"
                refused = f"cannot store .* column {table}.{column}|datatype mismatch"
                with pytest.raises(sqlite3.IntegrityError, match=refused):
                    connection.execute(insert, tuple((right | {column: wrong}).values()))
            connection.execute(insert, tuple(right.values()))


def test_every_condition_is_known_by_its_column() -> None:
    assert len(CONDITIONS) == TABLES.count("CHECK (")
