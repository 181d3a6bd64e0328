"""Records are synced to the disk at each commit, and nothing waits for it."""

from __future__ import annotations

import errno
import os
import threading
from typing import TYPE_CHECKING

import pytest

from crawler.warc.archive import Archive
from crawler.warc.sources import ArchiveError
from tests.crawler.warc.exchanges import exchange, kinds, read_all
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path


class Disk:
    """The disk below the operating system: notes the sizes of files that it was asked to sync."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.synced: list[int] = []
        self.begun = 0
        self.answers = threading.Event()
        self.answers.set()
        self.error: OSError | None = None
        monkeypatch.setattr(os, "fsync", self._sync)

    def _sync(self, descriptor: int) -> None:
        self.begun += 1
        self.answers.wait(60)
        if self.error is not None:
            raise self.error
        self.synced.append(os.fstat(descriptor).st_size)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


def test_every_commit_syncs_what_is_new(tmp_path: Path, disk: Disk) -> None:
    archive = Archive(tmp_path, "test")
    for number in range(3):
        archive.record(exchange(f"/{number}"))
        archive.flush()
        wait_until(lambda wanted=number + 1: len(disk.synced) == wanted)  # type: ignore[misc]
        (file,) = tmp_path.glob("*.open")
        assert disk.synced[-1] == file.stat().st_size
    archive.flush()
    assert disk.begun == 3
    archive.close()


def test_nothing_waits_for_a_slow_disk(tmp_path: Path, disk: Disk) -> None:
    archive = Archive(tmp_path, "test")
    disk.answers.clear()
    for number in range(5):
        archive.record(exchange(f"/{number}", b"%d" % number))
        archive.flush()
    wait_until(lambda: disk.begun == 1)
    disk.answers.set()
    archive.close()
    (file,) = tmp_path.glob("*.warc.gz")
    assert disk.synced[-1] == file.stat().st_size
    assert kinds(read_all(tmp_path)).count("response") == 5


def test_disk_that_fails_ends_the_crawl_at_the_next_commit(tmp_path: Path, disk: Disk) -> None:
    archive = Archive(tmp_path, "test")
    disk.error = OSError(errno.EIO, "Input/output error")
    archive.record(exchange("/a"))
    archive.flush()
    wait_until(lambda: disk.begun == 1)

    def record_on() -> None:
        archive.record(exchange("/b"))
        archive.flush()

    with pytest.raises(ArchiveError, match="Input/output error"):
        wait_until(lambda: record_on() or False)  # type: ignore[func-returns-value]
    archive.close()
