"""A directory as an index sees it: what is refused, and what a crash between two steps leaves."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from neardup.errors import IndexFileError, IndexLockedError
from neardup.indexes import HammingIndex, Match

REPOSITORY = Path(__file__).parents[4]


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


def test_a_merge_leaves_one_segment(path: Path) -> None:
    with HammingIndex(path, buffer_size=1) as index:
        index.add(10, 10)
        index.add(11, 11)
    assert names_in(path) == {"00000001-00000004.seg", "00000005.log"}
    with HammingIndex(path) as index:
        assert len(index) == 12


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

    def test_a_directory_of_other_files_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "crawl.db").write_text("other")
        with pytest.raises(IndexFileError, match=r"an empty directory, found 'crawl\.db'; "):
            HammingIndex(tmp_path)
        assert os.listdir(tmp_path) == ["crawl.db"]

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
def test_a_full_disk_loses_nothing_that_is_held(path: Path) -> None:
    index = HammingIndex(path, buffer_size=2)
    index.flush()
    blocked = path / "00000001-00000003.seg.tmp"
    blocked.symlink_to("/dev/full")
    index.add(20, 20)
    with pytest.raises(OSError, match="No space left"):
        index.add_many([21, 22], [21, 22])
    assert not blocked.exists()
    assert index.query(20)[0] == Match(20, 0)
    index.add_many([21, 22], [21, 22])
    index.close()
    with HammingIndex(path, radius=0) as index:
        assert len(index) == 13
        assert index.query(22) == [Match(22, 0)]


class Steps:
    """Copies a directory before each step that changes it, as a crash there would leave it."""

    EVENTS = frozenset({"open", "os.rename", "os.remove"})

    def __init__(self, home: Path, copies: Path) -> None:
        self.home = home
        self.copies = copies
        self.promised: list[int] = []
        self.known = 0
        self.active = False
        sys.addaudithook(self.on_event)

    def on_event(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.active or event not in self.EVENTS:
            return
        if not str(arguments[0]).startswith(str(self.home)):
            return
        self.active = False
        shutil.copytree(self.home, self.copies / str(len(self.promised)))
        self.promised.append(self.known)
        self.active = True


@pytest.fixture
def steps(tmp_path: Path) -> Iterator[Steps]:
    (tmp_path / "home").mkdir()
    steps = Steps(tmp_path / "home", tmp_path / "copies")
    yield steps
    steps.active = False


def test_a_crash_before_any_step_loses_nothing_that_was_promised(steps: Steps) -> None:
    steps.active = True
    held = 0
    for round_ in range(3):
        with HammingIndex(steps.home, buffer_size=2) as index:
            for number in range(held, held + 12):
                index.add(number << 8, number)
                if number % 5 == round_:
                    index.flush()
                    steps.known = number + 1
            held += 12
        steps.known = held
    steps.active = False
    assert len(steps.promised) > 100
    for copy, promised in enumerate(steps.promised):
        path = steps.copies / str(copy)
        for _ in range(2):
            with HammingIndex(path, radius=0) as index:
                assert promised <= len(index) <= held
                assert index.max_id == len(index) - 1
                for number in range(len(index)):
                    assert index.query(number << 8) == [Match(number, 0)]
        assert not [name for name in os.listdir(path) if name.endswith(".tmp")]
