"""Adding, deleting, asking, merging, flushing, reopening and crashing in any order."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from neardup import HammingIndex
from neardup.indexes import index_engine
from neardup.indexes.arrays import Match
from tests.neardup.indexes.generated import fingerprints, ids, radii, scan

pytestmark = pytest.mark.slow

sizes = st.integers(1, 6)
numbers = st.one_of(st.integers(0, 9), ids)
"""Few ids, so that some are deleted, and added again."""


class HammingMachine(RuleBasedStateMachine):
    """An index on disk beside a list of what was added to it."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        # So small that many segments are too large to be merged.
        self.patch.setattr(index_engine, "MAX_MERGED", 10)
        self.folder = Path(tempfile.mkdtemp())
        self.homes = 0
        self.held: list[tuple[int, int]] = []
        self.states: list[list[tuple[int, int]]] = [[]]
        """What was held after each change since the last promise."""

    @property
    def path(self) -> Path:
        return self.folder / f"index{self.homes}"

    @initialize(radius=radii, size=sizes)
    def open(self, radius: int, size: int) -> None:
        self.index = HammingIndex(self.path, radius=radius, buffer_size=size)
        self.check()

    @rule(fingerprint=fingerprints(), number=numbers)
    def add(self, fingerprint: int, number: int) -> None:
        self.index.add(fingerprint, number)
        self.change([*self.held, (fingerprint, number)])

    @rule(batch=st.lists(st.tuples(fingerprints(), numbers), max_size=30))
    def add_many(self, batch: list[tuple[int, int]]) -> None:
        self.index.add_many([entry[0] for entry in batch], [entry[1] for entry in batch])
        self.change(self.held + batch)

    @rule(number=numbers)
    def delete(self, number: int) -> None:
        kept = [entry for entry in self.held if entry[1] != number]
        assert self.index.delete(number) == len(self.held) - len(kept)
        self.change(kept)

    @rule(data=st.data())
    def delete_what_is_held(self, data: st.DataObject) -> None:
        if self.held:
            self.delete(data.draw(st.sampled_from(self.held))[1])

    @rule(value=fingerprints())
    def query(self, value: int) -> None:
        assert self.index.query(value) == self.scan(value)

    @rule(values=st.lists(fingerprints(), max_size=5), limit=st.none() | st.integers(1, 4))
    def query_many(self, values: list[int], limit: int | None) -> None:
        found = zip(
            *(array.tolist() for array in self.index.query_many(values, limit=limit)), strict=True
        )
        assert list(found) == [
            (place, *match)
            for place, value in enumerate(values)
            for match in self.scan(value, limit)
        ]

    @rule()
    def flush(self) -> None:
        self.index.flush()
        self.states = [self.held]
        self.check()

    @rule(radius=radii, size=sizes)
    def reopen(self, radius: int, size: int) -> None:
        self.index.close()
        self.states = [self.held]
        self.open(radius, size)

    @rule(radius=radii, size=sizes)
    def crash(self, radius: int, size: int) -> None:
        """Go on with what stands on disk: some state since the last promise."""
        old = self.path
        self.homes += 1
        shutil.copytree(old, self.path)
        self.index.close()
        self.index = HammingIndex(self.path, radius=radius, buffer_size=size)
        known = sorted({fingerprint for held in self.states for fingerprint, _ in held})
        found = zip(*(array.tolist() for array in self.index.query_many(known)), strict=True)
        stored = sorted((known[place], number) for place, number, apart in found if not apart)
        assert len(stored) == len(self.index)
        fitting = [held for held in self.states if sorted(held) == stored]
        assert fitting
        self.held = fitting[-1]
        self.states = [self.held]
        self.check()

    def change(self, held: list[tuple[int, int]]) -> None:
        self.held = held
        self.states.append(held)
        self.check()

    def scan(self, value: int, limit: int | None = None) -> list[Match]:
        return scan(self.held, value, self.index.radius, limit)

    def check(self) -> None:
        assert len(self.index) == len(self.held)
        assert self.index.max_id == max((number for _, number in self.held), default=-1)
        for value in {0, *(fingerprint for fingerprint, _ in self.held[-3:])}:
            assert self.index.query(value) == self.scan(value)

    def teardown(self) -> None:
        if hasattr(self, "index"):
            self.index.close()
        shutil.rmtree(self.folder)
        self.patch.undo()


TestHammingMachine = HammingMachine.TestCase
TestHammingMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
