"""Files cut, tables lost and made otherwise: verify says so."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.crawler.maintenance.verify.crawled import check, check_and_repair, execute, rules

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("file", ["fingerprints/*.log", "seen.bloom"])
@pytest.mark.parametrize("kept", [0.0, 0.5, 0.9])
def test_a_file_that_was_cut_is_found_and_made_anew(folder: Path, file: str, kept: float) -> None:
    (path,) = folder.glob(file)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    assert check(folder).problems
    assert check_and_repair(folder).findings == ()


@pytest.mark.parametrize("table", ["pages", "known", "near_texts", "requests"])
def test_a_table_that_is_not_there_is_damage(folder: Path, table: str) -> None:
    execute(folder, f"DROP TABLE {table}")
    assert "database-whole" in rules(check(folder))


@pytest.mark.parametrize("changed", ["etags TEXT,", "etag BLOB,"])
def test_a_column_of_another_name_or_type_is_damage(folder: Path, changed: str) -> None:
    change_schema(folder, "etag           TEXT,", changed)
    (finding,) = check(folder).problems
    assert finding.rule == "database-whole"
    assert finding.examples == ("the table pages is not as it was made",)


def test_a_condition_of_another_number_is_damage(folder: Path) -> None:
    """One bit of it, by which every page of the next crawl would be refused."""
    change_schema(folder, "CHECK (depth >= 0)", "CHECK (depth >= 8)")
    (finding,) = check(folder).problems
    assert finding.examples == (
        "the table requests is not as it was made",
        "the table pages is not as it was made",
    )


def test_other_comments_are_no_damage(folder: Path) -> None:
    change_schema(folder, "-- as requested", "-- of the request")
    assert check(folder).problems == ()


def change_schema(folder: Path, old: str, new: str) -> None:
    with closing(sqlite3.connect(folder / "crawl.db")) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, ?, ?)", (old, new))
