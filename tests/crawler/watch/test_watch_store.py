"""What the store of a watch keeps of changes and receivers."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.storage.errors import JobError, JobInUseError
from crawler.watch.delivery import BATCH, JsonLines, UserCommand, deliver_all
from crawler.watch.watch_store import NEWEST_KEPT, WatchStore
from tests.crawler.watch.test_delivery import crawl, deliver, ids, note, store

if TYPE_CHECKING:
    from pathlib import Path


__all__ = ["crawl", "store"]


class TestWatchStore:
    def test_a_failing_receiver_keeps_no_other_from_the_changes(
        self, store: WatchStore, tmp_path: Path
    ) -> None:
        file = tmp_path / "changes.jsonl"
        receivers = [UserCommand("false"), JsonLines(str(file))]
        store.register([receiver.name for receiver in receivers])
        note(store, "a")
        assert len(deliver(store, *receivers)) == 1
        assert ids(file.read_text()) == ["a"]

    def test_a_receiver_begins_where_it_is_registered(
        self, store: WatchStore, tmp_path: Path
    ) -> None:
        note(store, "a")
        lines = JsonLines(str(tmp_path / "changes.jsonl"))
        store.register([lines.name])
        note(store, "b")
        store.register([lines.name])
        deliver(store, lines)
        assert ids((tmp_path / "changes.jsonl").read_text()) == ["b"]

    def test_what_all_took_is_removed_but_for_the_newest(
        self, store: WatchStore, tmp_path: Path
    ) -> None:
        """One that is left out of a start has the changes kept for it."""
        once = tmp_path / "once"
        lines, failing = JsonLines(str(tmp_path / "changes.jsonl")), UserCommand(f"test -e {once}")
        store.register([lines.name, failing.name])
        names = [f"{number}" for number in range(2 * NEWEST_KEPT)]
        note(store, *names)
        deliver(store, lines, failing)
        deliver(store, lines)
        assert len(store.newest(10_000)) == 2 * NEWEST_KEPT
        once.touch()
        deliver(store, lines, failing)
        left = [noted.change.id for noted in store.newest(10_000)]
        assert left == names[: NEWEST_KEPT - 1 : -1]

    def test_nothing_more_is_handed_over_once_it_is_stopped(
        self, store: WatchStore, tmp_path: Path
    ) -> None:
        lines = JsonLines(str(tmp_path / "changes.jsonl"))
        store.register([lines.name])
        note(store, *(f"{number}" for number in range(BATCH + 1)))
        stops = iter((False, True))
        assert list(deliver_all(store, [lines], lambda: next(stops))) == []
        assert len(ids((tmp_path / "changes.jsonl").read_text())) == BATCH
        assert len(store.untaken(lines.name, 10)) == 1

    def test_a_second_watch_names_the_process_of_the_first(
        self, store: WatchStore, crawl: Path
    ) -> None:
        with pytest.raises(JobInUseError, match=f"process {os.getpid()} is watching it already"):
            WatchStore(crawl)

    def test_a_visit_that_did_not_end_was_interrupted(self, crawl: Path) -> None:
        with closing(WatchStore(crawl)) as store:
            assert not store.is_interrupted
            store.note_begin(1_000.25)
        with closing(WatchStore(crawl)) as store:
            assert store.is_interrupted
            store.note_end()
        with closing(WatchStore(crawl)) as store:
            assert not store.is_interrupted
            assert store.began == 1_000.25

    def test_a_damaged_memory_is_told(self, crawl: Path) -> None:
        (crawl / "watch.db").write_bytes(b"no database at all " * 100)
        with pytest.raises(JobError, match=r"watch\.db: cannot be used: .*; delete it to begin"):
            WatchStore(crawl)

    def test_a_folder_without_a_crawl_stays_as_it_is(self, tmp_path: Path) -> None:
        with pytest.raises(JobError, match="no crawl in it"):
            WatchStore(tmp_path)
        assert not list(tmp_path.iterdir())
