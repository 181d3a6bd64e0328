"""Every column of every table damaged: verify says so."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest

from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.maintenance.verify.column_checks import CONDITIONS, VALUES, find_strange_values
from crawler.storage.schema import TABLES
from tests.crawler.maintenance.verify.crawled import (
    check,
    check_and_repair,
    damaging,
    rules,
)
from tests.crawler.maintenance.verify.whole_crawl import make_whole
from tests.no_watch import NoWatch

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Value = int | float | str | bytes

WITNESSED = {
    "requests": ("id", "priority", "host", "url", "key", "rule", "group_digest", "request"),
    "hosts": ("host", "priority"),
    "url_rules": ("id", "state", "rule", "tried"),
    "url_groups": ("key",),
    "url_kinds": ("question", "state"),
    "redirects": ("key", "url"),
    "wall_clusters": ("id", "verdict"),
    "wall_pages": ("cluster",),
    "host_blocks": ("host",),
    "parameters": ("id", "chosen"),
    "labels": ("label",),
}
"""Columns of tables without checksums: what stands elsewhere too, or may be one of few values."""

_NOT_MADE = {"meta", "files", "file_parts", "downloads", "elsewhere", "spellings", "superseded"}
"""Tables without rows here, and that of single values."""


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "job"
    make_whole(folder)
    return folder


def columns() -> list[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES)
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return [
            (table, name)
            for (table,) in tables.fetchall()
            for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")
            if table not in _NOT_MADE
        ]


def damage(
    folder: Path, table: str, column: str, new: Callable[[Value], Value | None], number: int = 0
) -> None:
    """Put another value into one row that has one: the first, or, round and round, a later one."""
    order = "url LIKE '%/edited' DESC" if column in {"duplicate_of", "distance"} else "1"
    where = f"{column} IS NOT NULL" + (" AND latest = 1" if table == "pages" else "")
    order = f"{order}, url LIKE '%/other' DESC" if table == "pages" else "1"
    with damaging(folder) as connection:
        keys = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[5]]
        sql = f"SELECT {', '.join(keys)}, {column} FROM {table} WHERE {where} ORDER BY {order}"
        rows = connection.execute(sql).fetchall()
        assert rows, "no row has one"
        *key, old = rows[number % len(rows)]
        match = " AND ".join(f"{name} = ?" for name in keys)
        sql = f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {match}"
        connection.execute(sql, (new(old), *key))


def of_no_type(old: Value) -> Value:
    """What no column of its type holds."""
    return b"\xff\xfe" if isinstance(old, str) else "text"


def another(old: Value) -> Value:
    """A value of its type."""
    if isinstance(old, str):
        return "something else"
    if isinstance(old, bytes):
        return bytes([old[0] ^ 1]) + old[1:] if old else b"z" * 16
    return old + 1


@pytest.mark.parametrize("table", dict.fromkeys(table for table, _ in columns()))
def test_values_of_no_type_are_found_each_and_mended_together(folder: Path, table: str) -> None:
    names = [name for its_table, name in columns() if its_table == table]
    whole, damaged = (folder / "crawl.db").read_bytes(), []
    for column in names:
        with suppress(sqlite3.IntegrityError):  # the key of a table is refused always
            damage(folder, table, column, of_no_type)
            damaged.append(column)
            assert strange_tables(folder) == {table}, column
        (folder / "crawl.db").write_bytes(whole)
    assert len(damaged) >= len(names) - 1
    for number, column in enumerate(damaged):
        damage(folder, table, column, of_no_type, number)
    assert VALUES.name in rules(check(folder))
    assert check_and_repair(folder).findings == ()


@pytest.mark.parametrize("table", dict.fromkeys(table for table, _ in CONDITIONS))
def test_values_that_the_schema_excludes_are_refused_found_and_mended(
    folder: Path, table: str
) -> None:
    names = [name for its_table, name in CONDITIONS if its_table == table]
    wrong = {name: refused(folder, table, name) for name in names}
    whole = (folder / "crawl.db").read_bytes()
    for column, value in wrong.items():
        damage(folder, table, column, always(value))
        assert strange_tables(folder) == {table}, column
        (folder / "crawl.db").write_bytes(whole)
    for number, (column, value) in enumerate(wrong.items()):
        damage(folder, table, column, always(value), number)
    assert VALUES.name in rules(check(folder))
    assert check_and_repair(folder).findings == ()


def always(value: Value | None) -> Callable[[Value], Value | None]:
    return lambda _: value


def refused(folder: Path, table: str, column: str) -> Value | None:
    """Return a value of the right type that a crawl cannot write into a column."""
    with closing(sqlite3.connect(folder / "crawl.db")) as connection:
        for value in (-1, 7, 70, "text", bytes(15), b"1" * 16, None):
            try:
                connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
            except sqlite3.IntegrityError as error:
                if str(error).startswith("CHECK constraint failed"):
                    return value
    pytest.fail(f"no value is refused: {table} {column}")


def strange_tables(folder: Path) -> set[str]:
    """Return the tables in which a value is found that no crawl writes."""
    with closing(CrawlDirectory(folder)) as directory:
        found = find_strange_values(directory, NoWatch())
        return {finding.what.split()[4] for finding in found}


@pytest.mark.parametrize(
    ("table", "column"), [(table, name) for table, names in WITNESSED.items() for name in names]
)
def test_another_value_is_found_where_something_else_knows(
    folder: Path, table: str, column: str
) -> None:
    damage(folder, table, column, another)
    assert check(folder).problems
    assert check_and_repair(folder).findings == ()
