"""Adding, asking, flushing, reopening and crashing in any order."""

import shutil
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from neardup import LshIndex
from neardup.indexes.arrays import Signatures
from neardup.indexes.banding import Banding
from tests.neardup.indexes.generated import scattered
from tests.neardup.indexes.test_lsh import scanned

pytestmark = pytest.mark.slow

PERMUTATIONS = 12
shapes = st.sampled_from([Banding(12, 1), Banding(4, 3), Banding(2, 5), Banding(1, 12)])
seeds = st.integers(0, 2**20)


def drawn(seed: int, count: int) -> Signatures:
    """Signatures of few values, so that many share bands."""
    return scattered(seed, count, PERMUTATIONS, values=3)


class LshMachine(RuleBasedStateMachine):
    """An index on disk beside a list of what was added to it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.homes = 0
        self.stored = drawn(0, 0)
        self.ids = np.zeros(0, np.int64)
        self.promised = 0

    @property
    def path(self) -> Path:
        return self.folder / f"index{self.homes}"

    @initialize(shape=shapes)
    def begin(self, shape: Banding) -> None:
        self.shape = shape
        self.index = LshIndex(path=self.path, permutations=PERMUTATIONS, shape=shape)
        self.check()

    @rule(seed=seeds, number=st.integers(0, 2**63 - 1))
    def add(self, seed: int, number: int) -> None:
        one = drawn(seed, 1)
        self.index.add(one[0], number)
        self.hold(one, np.array([number]))

    @rule(seed=seeds, count=st.integers(0, 400))
    def add_many(self, seed: int, count: int) -> None:
        some, numbers = drawn(seed, count), np.arange(count) + seed
        self.index.add_many(some, numbers)
        self.hold(some, numbers)

    @rule(seed=seeds)
    def query(self, seed: int) -> None:
        (asked,) = drawn(seed, 1)
        assert self.index.query(asked) == scanned(self.stored, self.ids, asked, self.shape)

    @rule()
    def flush(self) -> None:
        self.index.flush()
        self.promised = len(self.stored)

    @rule()
    def reopen(self) -> None:
        self.index.close()
        self.promised = len(self.stored)
        self.index = LshIndex(path=self.path)
        assert self.index.shape == self.shape
        self.check()

    @rule()
    def crash(self) -> None:
        """Go on with what stands on disk: all that was promised, and nothing out of order."""
        old = self.path
        self.homes += 1
        shutil.copytree(old, self.path)
        self.index.close()
        self.index = LshIndex(path=self.path)
        count = len(self.index)
        assert self.promised <= count <= len(self.stored)
        self.stored, self.ids, self.promised = self.stored[:count], self.ids[:count], count
        self.check()

    def hold(self, signatures: Signatures, ids: npt.NDArray[np.int64]) -> None:
        self.stored = np.concatenate((self.stored, signatures))
        self.ids = np.concatenate((self.ids, ids))
        self.check()

    def check(self) -> None:
        assert len(self.index) == len(self.stored)
        for asked in self.stored[-2:]:
            assert self.index.query(asked) == scanned(self.stored, self.ids, asked, self.shape)

    def teardown(self) -> None:
        if hasattr(self, "index"):
            self.index.close()
        shutil.rmtree(self.folder)


TestLshMachine = LshMachine.TestCase
TestLshMachine.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
