"""Adding, asking, flushing, reopening and crashing in any order."""

import shutil
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from neardup.indexes import HammingIndex, ScanIndex
from tests.neardup.indexes.generated import entries, fingerprints, ids, radii

sizes = st.integers(1, 6)


class HammingMachine(RuleBasedStateMachine):
    """An index on disk beside a list of what was added to it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.homes = 0
        self.held: list[tuple[int, int]] = []
        self.promised = 0

    @property
    def path(self) -> Path:
        return self.folder / f"index{self.homes}"

    @initialize(radius=radii, size=sizes)
    def open(self, radius: int, size: int) -> None:
        self.index = HammingIndex(self.path, radius=radius, buffer_size=size)
        self.check()

    @rule(fingerprint=fingerprints(), number=ids)
    def add(self, fingerprint: int, number: int) -> None:
        self.index.add(fingerprint, number)
        self.held.append((fingerprint, number))
        self.check()

    @rule(batch=entries)
    def add_many(self, batch: list[tuple[int, int]]) -> None:
        self.index.add_many([entry[0] for entry in batch], [entry[1] for entry in batch])
        self.held += batch
        self.check()

    @rule(value=fingerprints())
    def query(self, value: int) -> None:
        assert self.index.query(value) == self.oracle().query(value)

    @rule()
    def flush(self) -> None:
        self.index.flush()
        self.promised = len(self.held)
        self.check()

    @rule(radius=radii, size=sizes)
    def reopen(self, radius: int, size: int) -> None:
        self.index.close()
        self.promised = len(self.held)
        self.open(radius, size)

    @rule(radius=radii, size=sizes)
    def crash(self, radius: int, size: int) -> None:
        """Go on with what stands on disk: all that was promised, and nothing out of order."""
        old = self.path
        self.homes += 1
        shutil.copytree(old, self.path)
        self.index.close()
        self.index = HammingIndex(self.path, radius=radius, buffer_size=size)
        assert self.promised <= len(self.index) <= len(self.held)
        self.held = self.held[: len(self.index)]
        self.promised = len(self.held)
        self.check()

    def oracle(self) -> ScanIndex:
        oracle = ScanIndex(radius=self.index.radius)
        for fingerprint, number in self.held:
            oracle.add(fingerprint, number)
        return oracle

    def check(self) -> None:
        oracle = self.oracle()
        assert len(self.index) == len(oracle)
        assert self.index.max_id == oracle.max_id
        for value in {0, *(fingerprint for fingerprint, _ in self.held[-3:])}:
            assert self.index.query(value) == oracle.query(value)

    def teardown(self) -> None:
        if hasattr(self, "index"):
            self.index.close()
        shutil.rmtree(self.folder)


TestHammingMachine = HammingMachine.TestCase
TestHammingMachine.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
