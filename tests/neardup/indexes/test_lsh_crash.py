"""What was flushed survives the death of the process, and the failure of any single step."""

import os
import random
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from neardup import LshIndex
from neardup.errors import IndexFileError, IndexLockedError
from tests.damage import largest_file
from tests.neardup.indexes.generated import promised_before_a_kill
from tests.neardup.indexes.lsh_flushing import PERMUTATIONS, signature_of

pytestmark = pytest.mark.slow

KILLS = 5


def holds_the_first(index: LshIndex) -> bool:
    """Whether the index holds the signatures of 0, 1, 2... and nothing else."""
    asked = [signature_of(number) for number in range(len(index))]
    found = index.query_many(np.array(asked, np.uint32).reshape(-1, PERMUTATIONS))
    numbers = np.arange(len(index))
    return np.array_equal(found.ids, numbers) and np.array_equal(found.positions, numbers)


def add_up_to(index: LshIndex, count: int) -> None:
    """Add the signatures that are not held yet, one by one."""
    for number in range(len(index), count):
        index.add(signature_of(number), number)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_kill_9_at_any_moment_keeps_all_that_was_promised_and_invents_nothing(
    tmp_path: Path,
) -> None:
    moments = random.Random(9)
    stored = 0
    for seed in range(KILLS):
        promised = promised_before_a_kill("lsh_flushing", tmp_path / "index", seed, moments)
        with LshIndex(path=tmp_path / "index") as index:
            assert len(index) >= promised > stored
            stored = len(index)
            assert holds_the_first(index)


def test_an_index_that_is_open_is_locked_as_one_of_fingerprints_is(tmp_path: Path) -> None:
    with LshIndex(0.8, path=tmp_path), pytest.raises(IndexLockedError, match="close it there"):
        LshIndex(0.8, path=tmp_path)
    LshIndex(path=tmp_path).close()


class TestFullDisk:
    """A limit on the size of files stands for a disk that is full."""

    def test_what_could_not_be_written_is_stored_and_written_later(self, tmp_path: Path) -> None:
        index = LshIndex(0.8, path=tmp_path, permutations=PERMUTATIONS)
        index.add(signature_of(0), 0)
        index.flush()
        size = (tmp_path / "documents.lsh").stat().st_size
        index.add(signature_of(1), 1)
        with largest_file(size + 50):
            with pytest.raises(OSError, match="File too large"):
                index.flush()
            assert holds_the_first(index)
        shutil.copytree(tmp_path, tmp_path.with_name("copy"))
        with LshIndex(path=tmp_path.with_name("copy")) as copy:
            assert len(copy) == 1
        index.add(signature_of(2), 2)
        index.close()
        with LshIndex(path=tmp_path) as again:
            assert len(again) == 3
            assert holds_the_first(again)

    def test_nothing_is_added_once_too_much_waits(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("neardup.indexes.lsh.FRESH", 300)
        index = LshIndex(0.8, path=tmp_path, permutations=PERMUTATIONS)
        with largest_file(1000):
            with pytest.raises(OSError, match="File too large"):
                add_up_to(index, 10_000)
            stored = len(index)
            assert 300 <= stored < 10_000
            with pytest.raises(OSError, match="File too large"):
                index.add_many(np.array([signature_of(stored)]), [stored])
            assert len(index) == stored
        index.add(signature_of(stored), stored)
        index.close()
        with LshIndex(path=tmp_path) as again:
            assert len(again) == stored + 1
            assert holds_the_first(again)

    def test_close_lets_go_of_the_directory_even_so(self, tmp_path: Path) -> None:
        index = LshIndex(0.8, path=tmp_path, permutations=PERMUTATIONS)
        index.add(signature_of(0), 0)
        with largest_file(60), pytest.raises(OSError, match="File too large"):
            index.close()
        with LshIndex(path=tmp_path) as again:
            assert len(again) == 0


def test_a_file_that_was_never_begun_is_begun_again(tmp_path: Path) -> None:
    LshIndex(0.8, path=tmp_path).close()
    os.rename(tmp_path / "documents.lsh", tmp_path / "documents.lsh.tmp")
    with LshIndex(0.8, path=tmp_path) as index:
        assert len(index) == 0
    assert sorted(os.listdir(tmp_path)) == ["documents.lsh", "index.lock"]


def test_every_single_failing_step_leaves_the_old_or_the_new_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = 0
    real_fsync = os.fsync

    def copied(descriptor: int) -> None:
        nonlocal steps
        shutil.copytree(tmp_path / "index", tmp_path / f"before{steps}")
        real_fsync(descriptor)
        shutil.copytree(tmp_path / "index", tmp_path / f"after{steps}")
        promised.append(len(durable))
        steps += 1

    durable: list[int] = []
    promised: list[int] = []
    (tmp_path / "index").mkdir()
    monkeypatch.setattr("os.fsync", copied)
    with LshIndex(0.8, path=tmp_path / "index", permutations=PERMUTATIONS) as index:
        for number in range(8):
            index.add(signature_of(number), number)
            if number % 3 == 2:
                index.flush()
                durable = list(range(number + 1))
    monkeypatch.undo()
    assert steps >= 5
    for step, count in enumerate(promised):
        for moment in ("before", "after"):
            with LshIndex(
                0.8, path=tmp_path / f"{moment}{step}", permutations=PERMUTATIONS
            ) as index:
                assert count <= len(index) <= 8
                assert holds_the_first(index)


def test_a_directory_of_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<p>")
    with pytest.raises(IndexFileError, match=r"an LshIndex or an empty directory, found 'page"):
        LshIndex(0.8, path=tmp_path)
    assert os.listdir(tmp_path) == ["page.html"]
    with pytest.raises(IndexFileError, match="expected a directory, found a file"):
        LshIndex(0.8, path=tmp_path / "page.html")
