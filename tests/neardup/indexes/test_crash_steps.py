"""What a crash between any two steps of an index directory leaves, or a kill at any moment."""

import os
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from neardup import HammingIndex
from neardup.indexes import index_engine
from neardup.indexes.arrays import Match
from neardup.indexes.index_files import layout_of
from tests.neardup.indexes.flushing import fingerprint_of, is_deleted
from tests.neardup.indexes.generated import promised_before_a_kill

KILLS = 6


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
    stored = 0
    for round_ in range(3):
        with HammingIndex(steps.home, buffer_size=2) as index:
            for number in range(stored, stored + 12):
                index.add(number << 8, number)
                index.add(number << 8 | 1, 1000)
                assert index.delete(1000) == 1
                if number % 5 == round_:
                    index.flush()
                    steps.known = number + 1
            stored += 12
        steps.known = stored
    steps.active = False
    assert len(steps.promised) > 100
    for copy, promised in enumerate(steps.promised):
        path = steps.copies / str(copy)
        for _ in range(2):
            with HammingIndex(path, radius=0) as index:
                # What was deleted before the crash may be there, but only the last of it.
                count = len(index) - (index.max_id == 1000)
                assert promised <= count <= stored
                for number in range(count):
                    assert index.query(number << 8) == [Match(number, 0)]
        assert not [name for name in os.listdir(path) if name.endswith(".tmp")]


def rewritten_alone(path: Path) -> set[str]:
    """Return the segments that are about to be replaced by one that leaves the log as it is."""
    names = os.listdir(path)
    log = layout_of(names).log
    staged = {name.removesuffix(".tmp") for name in names if name.endswith(".seg.tmp")}
    return {name for name in staged if int(name[9:17]) < log}


def test_a_crash_while_old_segments_are_written_again_leaves_a_state_that_was(
    steps: Steps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_engine, "MAX_MERGED", 8)
    states: list[set[int]] = [set()]
    done: list[int] = []
    with HammingIndex(steps.home, buffer_size=2) as index:
        steps.active = True
        for number in range(40):
            index.add(number << 8, number)
            states.append(states[-1] | {number})
            if number >= 20:
                # Both from the middle and from the oldest end.
                gone = number - 21 if number % 2 else number - 11
                assert index.delete(gone) == 1
                states.append(states[-1] - {gone})
            if number % 4 == 0:
                index.flush()
                steps.known = len(states) - 1
            done += [len(states)] * (len(steps.promised) - len(done))
        steps.active = False
    names = {
        name in os.listdir(steps.copies / str(copy))
        for copy in range(len(done))
        for name in rewritten_alone(steps.copies / str(copy))
    }
    # A segment took the place of itself, and one that of its neighbours.
    assert names == {True, False}
    for copy, (promised, end) in enumerate(zip(steps.promised, done, strict=True)):
        with HammingIndex(steps.copies / str(copy), radius=0) as index:
            found = set(index.query_many([number << 8 for number in range(40)]).ids.tolist())
            assert len(found) == len(index)
            assert found in states[promised : end + 1]
        assert layout_of(os.listdir(steps.copies / str(copy))).obsolete == []


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_kill_9_at_any_moment_keeps_all_that_was_promised_and_invents_nothing(
    tmp_path: Path,
) -> None:
    moments = random.Random(9)
    last = 0
    for seed in range(KILLS):
        promised = promised_before_a_kill("flushing", tmp_path / "index", seed, moments)
        with HammingIndex(tmp_path / "index", radius=0) as index:
            end = index.max_id + 1
            assert end >= promised >= last
            last = end
            found = index.query_many([fingerprint_of(number) for number in range(end)])
            assert len(found.ids) == len(index)
        assert found.positions.tolist() == found.ids.tolist()
        stored = set(found.ids.tolist())
        assert stored >= {number for number in range(end) if not is_deleted(number)}
        assert not [number for number in range(promised) if is_deleted(number) and number in stored]
