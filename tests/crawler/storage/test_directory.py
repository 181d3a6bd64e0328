"""Who may write to a crawl directory, and who may ask whether somebody does."""

from __future__ import annotations

from threading import Event, Thread
from typing import TYPE_CHECKING

import pytest

from crawler.storage.directory import is_in_use, locked
from crawler.storage.errors import JobInUseError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_directory_is_in_use_while_it_is_locked(tmp_path: Path) -> None:
    assert not is_in_use(tmp_path)
    lock = locked(tmp_path)
    assert lock is not None
    assert is_in_use(tmp_path)
    lock.release()
    assert not is_in_use(tmp_path)


def test_asking_leaves_no_file_behind(tmp_path: Path) -> None:
    assert not is_in_use(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    lock = locked(tmp_path)
    assert lock is not None
    with pytest.raises(JobInUseError, match="in use by another process"):
        locked(tmp_path)
    lock.release()


def test_who_only_asks_keeps_no_crawl_from_starting(tmp_path: Path) -> None:
    lock = locked(tmp_path)
    assert lock is not None
    lock.release()
    is_over = Event()

    def ask() -> None:
        while not is_over.wait(0.002):
            is_in_use(tmp_path)

    asking = Thread(target=ask)
    asking.start()
    try:
        for _ in range(100):
            lock = locked(tmp_path)
            assert lock is not None
            lock.release()
            is_over.wait(0.01)
    finally:
        is_over.set()
        asking.join()
