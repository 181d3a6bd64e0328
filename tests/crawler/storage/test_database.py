"""What the database refuses, and what survives."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from crawler.storage.database import Database, open_for_reading
from crawler.storage.errors import JobError, JobVersionError
from crawler.storage.schema import SCHEMA_VERSION


def test_a_file_of_something_else_is_named(tmp_path: Path) -> None:
    (tmp_path / "crawl.db").write_bytes(b"no database " * 100)
    with pytest.raises(JobError, match=r"crawl\.db: not a crawl database"):
        Database(tmp_path)
    with pytest.raises(JobError, match=r"crawl\.db: not a crawl database"):
        open_for_reading(tmp_path)


def test_a_database_of_something_else_is_refused(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "crawl.db")
    connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()
    with pytest.raises(JobError, match="a database of something else"):
        Database(tmp_path)


def test_another_schema_is_refused_and_named(tmp_path: Path) -> None:
    database = Database(tmp_path)
    database.set_meta("schema_version", "99")
    database.close()
    with pytest.raises(JobVersionError, match=f"schema {SCHEMA_VERSION} expected, got 99"):
        Database(tmp_path)
    with pytest.raises(JobVersionError, match=f"schema {SCHEMA_VERSION} expected, got 99"):
        open_for_reading(tmp_path)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files cannot be listed here")
def test_what_is_refused_is_not_left_open(tmp_path: Path) -> None:
    database = Database(tmp_path)
    database.set_meta("schema_version", "0")
    database.close()
    with pytest.raises(JobVersionError) as refused:
        open_for_reading(tmp_path)
    # While its traceback is held too, as whoever reports it does.
    assert refused.tb is not None
    links = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
    assert not any(link.startswith(os.path.realpath(tmp_path)) for link in links)


def test_a_missing_directory_and_a_directory_without_a_crawl_are_told_apart(
    tmp_path: Path,
) -> None:
    with pytest.raises(JobError, match="no such directory"):
        open_for_reading(tmp_path / "absent")
    with pytest.raises(JobError, match="no crawl in it"):
        open_for_reading(tmp_path)


def test_what_was_not_committed_is_not_there(tmp_path: Path) -> None:
    database = Database(tmp_path)
    database.set_meta("a", "1")
    database.commit()
    database.set_meta("b", "2")
    reader = open_for_reading(tmp_path)
    names = {row["name"] for row in reader.execute("SELECT name FROM meta")}
    assert "a" in names
    assert "b" not in names
    reader.close()
    database.close()


def test_closing_twice_is_allowed(tmp_path: Path) -> None:
    database = Database(tmp_path)
    database.close()
    database.close()


def test_a_damaged_schema_whose_names_are_no_utf8_is_told(tmp_path: Path) -> None:
    with closing(Database(tmp_path)) as database:
        database.commit()
    path = tmp_path / "crawl.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole = path.read_bytes()
    assert b"CREATE TABLE meta" in whole
    path.write_bytes(whole.replace(b"CREATE TABLE meta", b"CREATE TABLE \xff(ta"))
    with pytest.raises(JobError, match="not a crawl database"):
        open_for_reading(tmp_path)
