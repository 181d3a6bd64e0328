"""The log of a database stays short, and nothing is lost by it."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.storage.checkpoints import Checkpoints
from crawler.storage.database import Database
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOG_BYTES = 64 * 2**10
ROW = b"\x00" * 5_000

WRITER = f"""
import sqlite3, sys
from pathlib import Path
from crawler.storage.checkpoints import Checkpoints

path = Path(sys.argv[1])
connection = sqlite3.connect(path, isolation_level=None)
checkpoints = Checkpoints(path, {LOG_BYTES})
checkpoints.prepare(connection)
for number in range(1, 1_000_000):
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO rows VALUES (?, zeroblob(5000))", (number,))
    connection.execute("COMMIT")
    checkpoints.advance(connection)
    print(number, flush=True)
"""


class Writer:
    """A connection that appends a row at a time to a database with a short log."""

    def __init__(self, path: Path) -> None:
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("CREATE TABLE rows (number INTEGER PRIMARY KEY, content BLOB)")
        self.checkpoints = Checkpoints(path, LOG_BYTES)
        self.checkpoints.prepare(self.connection)
        self._log = path.with_name(f"{path.name}-wal")
        self.count = 0

    def append(self) -> None:
        self.count += 1
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.execute("INSERT INTO rows VALUES (?, ?)", (self.count, ROW))
        self.connection.execute("COMMIT")
        self.checkpoints.advance(self.connection)

    def append_until_log_is_shorter(self) -> bool:
        before = self.log_bytes
        self.append()
        return self.log_bytes < before

    @property
    def log_bytes(self) -> int:
        return self._log.stat().st_size

    def close(self) -> None:
        self.checkpoints.close()
        self.connection.close()


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[Writer]:
    with closing(Writer(tmp_path / "rows.db")) as writer:
        yield writer


def test_log_starts_again_while_rows_are_written(writer: Writer) -> None:
    for _ in range(3):
        wait_until(writer.append_until_log_is_shorter)
        assert writer.log_bytes < LOG_BYTES


def test_log_is_left_alone_until_it_is_long(writer: Writer) -> None:
    while writer.log_bytes < LOG_BYTES - 4 * len(ROW):
        before = writer.log_bytes
        writer.append()
        assert writer.log_bytes > before


def test_reader_keeps_its_view_and_the_log_is_shorter_after_it(
    writer: Writer, tmp_path: Path
) -> None:
    writer.append()
    with closing(sqlite3.connect(tmp_path / "rows.db", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM rows").fetchone() == (1,)
        while writer.log_bytes < 3 * LOG_BYTES:
            writer.append()
        assert reader.execute("SELECT count(*) FROM rows").fetchone() == (1,)
    wait_until(writer.append_until_log_is_shorter)
    assert writer.connection.execute("SELECT count(*) FROM rows").fetchone() == (writer.count,)


def test_killed_writer_loses_no_row_that_it_committed(tmp_path: Path) -> None:
    path = tmp_path / "rows.db"
    Writer(path).close()
    for _ in range(3):
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.execute("DELETE FROM rows")
        command = [sys.executable, "-c", WRITER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            last = next(int(line) for line in process.stdout if int(line) >= 100)
            process.send_signal(signal.SIGKILL)
            last = max([last, *(int(line) for line in process.stdout if line.endswith(b"\n"))])
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            (count,) = connection.execute("SELECT count(*) FROM rows").fetchone()
        assert count >= last


def test_closed_crawl_leaves_no_log(tmp_path: Path) -> None:
    database = Database(tmp_path)
    database.set_meta("a", "1" * 70_000)
    database.close()
    assert [path.name for path in tmp_path.iterdir()] == ["crawl.db"]
