"""A directory as an index sees it: what is refused, and what a crash between two steps leaves."""

import gc
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from neardup import HammingIndex
from neardup.errors import IndexFileError, IndexLockedError, StorageError
from neardup.indexes.arrays import Match, Rows
from neardup.indexes.index_directory import LogHeader
from neardup.indexes.index_engine import built
from neardup.indexes.index_files import (
    LAST_LOG,
    SegmentLabel,
    Span,
    log_name,
    read_segment,
    stage_segment,
)
from neardup.indexes.segment import no_rows
from tests.damage import full_for, largest_file

REPOSITORY = Path(__file__).parents[3]


def names_in(path: Path) -> set[str]:
    return {file.name for file in path.iterdir()} - {"index.lock"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """An index of two segments and a log: 8, 1 and 1 entries."""
    path = tmp_path / "index"
    with HammingIndex(path, buffer_size=1) as index:
        index.add_many(range(8), range(8))
        index.add(8, 8)
        index.add(9, 9)
    return path


def test_files_are_named_after_the_logs_that_they_hold(path: Path) -> None:
    assert names_in(path) == {"00000001-00000001.seg", "00000002-00000002.seg", "00000003.log"}


def test_adding_merges_what_is_worth_it(path: Path) -> None:
    with HammingIndex(path, buffer_size=1) as index:
        for number in range(10, 40):
            index.add(number, number)
        assert len(names_in(path)) < 8
    with HammingIndex(path) as index:
        assert len(index) == 40


def test_a_segment_is_merged_without_its_deleted_entries(path: Path) -> None:
    with HammingIndex(path, buffer_size=1, radius=0) as index:
        for number in range(6):
            assert index.delete(number) == 1
            assert not index.query(number)
    (segment,) = path.glob("*.seg")
    assert read_segment(segment)[1].ids.tolist() == [5, 6, 7, 8, 9]  # the last is deleted in a log
    with HammingIndex(path, radius=0) as index:
        assert len(index) == 4
        assert not index.query(3)


class TestLock:
    def test_a_second_index_is_refused_until_the_first_is_closed(self, path: Path) -> None:
        first = HammingIndex(path)
        with pytest.raises(IndexLockedError) as caught:
            HammingIndex(path)
        assert str(caught.value) == (
            f"{path}: the index is open already, here or in another process; close it there first"
        )
        first.close()
        HammingIndex(path).close()

    def test_another_process_is_refused(self, path: Path) -> None:
        code = f"from neardup import HammingIndex; HammingIndex({str(path)!r})"
        with HammingIndex(path):
            result = subprocess.run(
                [sys.executable, "-c", code],
                cwd=REPOSITORY,
                capture_output=True,
                text=True,
                check=False,
            )
        assert "IndexLockedError" in result.stderr

    def test_an_index_that_could_not_be_opened_is_not_locked(self, path: Path) -> None:
        log = path / "00000003.log"
        whole = log.read_bytes()
        log.write_bytes(b"damage")
        with pytest.raises(IndexFileError):
            HammingIndex(path)
        log.write_bytes(whole)
        HammingIndex(path).close()


class TestRefusals:
    def test_a_file_is_no_directory(self, tmp_path: Path) -> None:
        (tmp_path / "index").write_text("hello")
        for path in (tmp_path / "index", tmp_path / "index" / "below"):
            with pytest.raises(IndexFileError, match="expected a directory, found a file; name"):
                HammingIndex(path)

    @pytest.mark.parametrize("name", ["crawl.db", "crawl.log", "crawl.tmp"])
    def test_a_directory_of_other_files_is_left_alone(self, tmp_path: Path, name: str) -> None:
        (tmp_path / name).write_text("other")
        with pytest.raises(IndexFileError) as caught:
            HammingIndex(tmp_path)
        assert str(caught.value) == (
            f"{tmp_path}: expected an index or an empty directory, found '{name}'; "
            "name another path"
        )
        assert os.listdir(tmp_path) == [name]

    @pytest.mark.parametrize(
        "name", ["00000001-00000001.seg", "00000002-00000002.seg", "00000003.log"]
    )
    def test_a_missing_file_is_named(self, path: Path, name: str) -> None:
        (path / name).unlink()
        with pytest.raises(IndexFileError, match=rf"{path}: expected .*; restore it"):
            HammingIndex(path)

    def test_a_renamed_segment_is_named(self, path: Path) -> None:
        (path / "00000001-00000001.seg").unlink()
        (path / "00000002-00000002.seg").rename(path / "00000001-00000002.seg")
        with pytest.raises(IndexFileError, match=r"found the one named 00000002-00000002\.seg"):
            HammingIndex(path)

    def test_a_renamed_log_is_named(self, path: Path, tmp_path: Path) -> None:
        HammingIndex(tmp_path / "other").close()
        (tmp_path / "other" / "00000001.log").replace(path / "00000003.log")
        with pytest.raises(IndexFileError, match="expected log 3, found log 1"):
            HammingIndex(path)

    @pytest.mark.parametrize("name", ["00000001-00000001.seg", "00000003.log"])
    def test_a_file_of_another_index_is_named(self, path: Path, tmp_path: Path, name: str) -> None:
        other = tmp_path / "other"
        with HammingIndex(other, buffer_size=1) as index:
            index.add_many(range(8), range(8))
            index.add(8, 8)
            index.add(9, 9)
        (other / name).replace(path / name)
        with pytest.raises(IndexFileError, match="a file of this index, found a file of another"):
            HammingIndex(path)

    @pytest.mark.parametrize("name", ["00000001-00000001.seg", "00000003.log"])
    def test_a_flipped_byte_is_found_when_opened(self, path: Path, name: str) -> None:
        data = bytearray((path / name).read_bytes())
        data[-20] ^= 0x10
        (path / name).write_bytes(data)
        with pytest.raises(IndexFileError, match=rf"{name}: expected .*checksum"):
            HammingIndex(path)

    def test_nothing_is_removed_from_an_index_that_is_refused(self, path: Path) -> None:
        shutil.copy(path / "00000003.log", path / "00000002.log")
        (path / "00000001-00000001.seg").write_bytes(b"damage")
        before = names_in(path)
        with pytest.raises(IndexFileError):
            HammingIndex(path)
        assert names_in(path) == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is no file here")
def test_a_full_disk_loses_nothing_that_is_stored(path: Path) -> None:
    index = HammingIndex(path, buffer_size=2)
    index.flush()
    blocked = path / "00000001-00000003.seg.tmp"
    index.add(20, 20)
    with full_for(blocked), pytest.raises(OSError, match="No space left"):
        index.add_many([21, 22], [21, 22])
    assert not blocked.exists()
    assert index.query(20)[0] == Match(20, 0)
    index.add_many([21, 22], [21, 22])
    index.close()
    with HammingIndex(path, radius=0) as index:
        assert len(index) == 13
        assert index.query(22) == [Match(22, 0)]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is no file here")
def test_a_full_disk_for_the_next_log_changes_nothing(path: Path) -> None:
    before = names_in(path)
    with HammingIndex(path, buffer_size=2, radius=0) as index:
        blocked = path / "00000004.log.tmp"
        with full_for(blocked), pytest.raises(OSError, match="No space left"):
            index.add_many([20, 21, 22], [20, 21, 22])
        assert names_in(path) == before
        assert not index.query(20)
        index.add_many([20, 21, 22], [20, 21, 22])
    with HammingIndex(path, radius=0) as index:
        assert len(index) == 13
        assert index.query(22) == [Match(22, 0)]


def test_a_failure_between_two_renames_says_what_to_do(path: Path) -> None:
    index = HammingIndex(path, buffer_size=2, radius=0)
    (path / "00000004.log").mkdir()
    with pytest.raises(
        StorageError, match=r"directory.*; open it again; it may hold what"
    ) as caught:
        index.add_many([20, 21, 22], [20, 21, 22])
    assert str(path) in str(caught.value)
    with pytest.raises(StorageError, match="open it again; it may hold what"):
        index.query(20)
    index.close()
    (path / "00000004.log").rmdir()
    with HammingIndex(path, radius=0) as index:
        assert len(index) == 13
        assert index.query(22) == [Match(22, 0)]


def test_a_merge_that_cannot_get_its_name_says_what_to_do(path: Path) -> None:
    index = HammingIndex(path, buffer_size=1, radius=0)
    (path / "00000002-00000003.seg").mkdir()
    for _ in range(2):
        with pytest.raises(StorageError, match="open it again"):
            index.add(10, 10)
    index.close()
    (path / "00000002-00000003.seg").rmdir()
    with HammingIndex(path, radius=0) as index:
        assert len(index) == 10


def test_a_replaced_file_that_cannot_be_removed_is_no_failure(path: Path) -> None:
    with HammingIndex(path, buffer_size=2, radius=0) as index:
        (path / "00000003.log").unlink()
        (path / "00000003.log").mkdir()
        index.add_many([20, 21, 22], [20, 21, 22])
        assert index.query(20) == [Match(20, 0)]
    with HammingIndex(path, radius=0) as index:
        assert len(index) == 13


def test_when_the_numbers_of_logs_are_used_up_nothing_is_lost(tmp_path: Path) -> None:
    identity, span = bytes(16), Span(1, LAST_LOG - 1)
    rows = Rows(np.arange(8, dtype=np.uint64), np.arange(8))
    segment = stage_segment(
        tmp_path / span.name, SegmentLabel(identity, span), built(rows, no_rows())
    )
    segment.rename(tmp_path / span.name)
    (tmp_path / log_name(LAST_LOG)).write_bytes(LogHeader(identity, LAST_LOG).empty_log())
    with HammingIndex(tmp_path, buffer_size=2, radius=0) as index:
        index.add_many([10, 11], [10, 11])
        with pytest.raises(StorageError, match="its last log is full; add the rest to another"):
            index.add(12, 12)
        assert index.query(11) == [Match(11, 0)]
    with HammingIndex(tmp_path, radius=0) as index:
        assert len(index) == 10


def test_an_opening_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with HammingIndex(tmp_path, buffer_size=2) as index:
        index.add_many(range(75), range(75))
        index.add_many([150, 151], [150, 151])
    before = names_in(tmp_path)
    # The log is too long for this buffer, and a segment of it takes 5 kB.
    with largest_file(2048), pytest.raises(OSError, match="File too large"):
        HammingIndex(tmp_path, buffer_size=1)
    gc.collect()  # of an open file this would warn
    assert names_in(tmp_path) == before
    with HammingIndex(tmp_path, buffer_size=1) as index:
        assert len(index) == 77


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is no file here")
def test_a_full_disk_during_a_merge_changes_nothing(path: Path) -> None:
    with HammingIndex(path, buffer_size=1, radius=0) as index:
        blocked = path / "00000002-00000003.seg.tmp"
        with full_for(blocked), pytest.raises(OSError, match="No space left"):
            index.add(10, 10)
        assert not blocked.exists()
        assert [index.query(number) for number in range(10)] == [
            [Match(number, 0)] for number in range(10)
        ]
        index.add(10, 10)
    assert names_in(path) == {"00000001-00000001.seg", "00000002-00000003.seg", "00000004.log"}
    with HammingIndex(path) as index:
        assert len(index) == 11


def test_a_log_cut_at_any_byte_is_refused_and_left_as_it_is(path: Path) -> None:
    log = path / "00000003.log"
    whole, before = log.read_bytes(), names_in(path)
    for size in range(len(whole)):
        log.write_bytes(whole[:size])
        with pytest.raises(
            IndexFileError, match=rf"{log}: expected .*; restore it from a copy, or"
        ):
            HammingIndex(path)
        assert log.read_bytes() == whole[:size]
    assert names_in(path) == before


def test_a_torn_tail_is_set_aside(path: Path) -> None:
    log = path / "00000003.log"
    whole, before = log.read_bytes(), names_in(path)
    for tail in (b"NDB", b"NDB\n"):
        log.write_bytes(log.read_bytes() + tail)
        with HammingIndex(path, radius=0) as index:
            assert len(index) == 10
    assert log.read_bytes() == whole
    tails = {f"{log.name}.tail-1", f"{log.name}.tail-2"}
    assert names_in(path) == before | tails
    # A crash while it is set aside.
    (path / f"{log.name}.tail-3.tmp").write_bytes(b"NDB")
    with HammingIndex(path) as index:
        assert len(index) == 10
    assert names_in(path) == before | tails
    assert (path / f"{log.name}.tail-2").read_bytes() == b"NDB\n"
