"""A crawl directory that cannot be written, such as a backup, is read by all that read."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from filelock import FileLock

from tests.crawler.warc.foreign import answer
from tests.crawls.command import report, scrapy
from tests.read_only import run_read_only

pytestmark = pytest.mark.slow

WORDS = 150


def body(number: int) -> bytes:
    words = random.Random(number)
    text = " ".join(f"w{words.randrange(999)}" for _ in range(WORDS))
    return f"<html><title>Page {number}</title><p>lighthouse {text}".encode()


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    records = (answer(f"/{number}", body(number // 2)) for number in range(8))
    (folder / "x.warc").write_bytes(b"".join(records))
    done = scrapy("crawl", "replay", "-a", f"warc={folder / 'x.warc'}",
                  "-s", f"JOBDIR={folder / 'job'}")  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "job"


@pytest.fixture(params=["closed", "killed"])
def backup(request: pytest.FixtureRequest, made: Path, tmp_path: Path) -> Path:
    """A copy of a crawl that ended, or of one with what was written last in its log."""
    copy = tmp_path / "backup"
    if request.param == "closed":
        return Path(shutil.copytree(made, copy))
    source = Path(shutil.copytree(made, tmp_path / "running"))
    with closing(sqlite3.connect(source / "crawl.db", isolation_level=None)) as running:
        running.execute("PRAGMA wal_autocheckpoint = 0")
        running.execute("DELETE FROM pages WHERE url LIKE '%/1'")
        return Path(shutil.copytree(source, copy))


@pytest.mark.parametrize(
    "command",
    [
        ("report", "."),
        ("pages", ".", "--format", "jsonl"),
        ("pages", ".", "--search", "lighthouse"),
        ("links", "."),
        ("pairs", "."),
        ("rules", "."),
        ("sweep", "."),
        ("tune", "."),
        ("rejudge", ".", "--dry-run"),
    ],
    ids="-".join,
)
def test_every_reader_reads_it(backup: Path, command: tuple[str, ...]) -> None:
    name, _, *options = command
    done = run_read_only(backup, name, str(backup), *options)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def test_it_is_verified_as_one_that_can_be_written(backup: Path, tmp_path: Path) -> None:
    twin = shutil.copytree(backup, tmp_path / "twin")
    written = scrapy("verify", str(twin))
    done = run_read_only(backup, "verify", str(backup))
    assert done.stdout == written.stdout.replace(str(twin), str(backup)), done.stderr
    assert done.returncode == written.returncode
    tried = run_read_only(backup, "verify", str(backup), "--repair")
    assert tried.returncode == 2
    assert "cannot be written" in tried.stderr


def test_it_is_merged(backup: Path, tmp_path: Path) -> None:
    done = run_read_only(backup, "merge", str(backup), str(tmp_path / "merged"))
    assert done.returncode in {0, 1}, done.stderr
    assert report(tmp_path / "merged")["kept"] == report(backup)["kept"]


def test_one_that_is_in_use_is_told_so(made: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(made, tmp_path / "copy")
    with FileLock(copy / "lock"):
        done = run_read_only(copy, "verify", str(copy))
    assert done.returncode == 2
    assert "a crawl has it open" in done.stderr


def test_a_log_that_cannot_be_read_is_told(made: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(made, tmp_path / "copy")
    (copy / "crawl.db-wal").write_bytes(b"a log")
    (copy / "crawl.db-shm").unlink(missing_ok=True)
    done = run_read_only(copy, "report", str(copy))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "crawl.db-wal" in done.stderr
