"""Near lists of texts, made as a session makes them."""

import numpy as np
from numpy.typing import NDArray

from neardup import Features, Parameters
from neardup.document import analyse
from neardup.evaluation.judging import Columns, Near
from neardup.evaluation.near_arrays import NewPlaces, SetArrays
from neardup.evaluation.near_lists import NameTable, NearLists, ShingleSets
from neardup.fingerprints.digest import text_digest
from neardup.fingerprints.minhash import minhash_many
from neardup.indexes.banding import CANDIDATE_PERMUTATIONS
from neardup.names import NO_NAME, Name
from neardup.whole import part_of

FEATURES = Features("word", 1, "log_count")
"""Shuffled texts have the same fingerprint."""


class Crawl:
    """Texts in crawl order, all of them long enough to be compared.

    Args:
        texts: Equal ones share a number.
        is_changed: Places whose layer is "changed" where they are kept.
        at_once: So many are taken at once.
        fingerprints: Those of the texts, instead of their own.
        names: What the texts are called; None: they have no names.
    """

    def __init__(
        self,
        texts: list[str],
        is_changed: frozenset[int] = frozenset(),
        at_once: int = 7,
        fingerprints: list[int] | None = None,
        names: list[Name] | None = None,
    ) -> None:
        self.texts = texts
        self.names = names or [NO_NAME] * len(texts)
        self.parameters = Parameters(features=FEATURES, min_words=1)
        numbers: dict[bytes, int] = {}
        count = len(texts)
        keys = [numbers.setdefault(text_digest(text), len(numbers)) for text in texts]
        self.numbers = np.array(keys, np.int32)
        changed = np.array([place in is_changed for place in range(count)], np.bool_)
        words = np.full(count, 100, np.int32)
        payloads = np.full(count, -1, np.int32)
        self.columns = Columns(self.numbers, payloads, words, np.ones(count, np.bool_), changed)
        self._fingerprints = fingerprints or [
            analyse(text, self.parameters).fingerprint or 0 for text in texts
        ]
        self._sets = ShingleSets(5)
        self._table = NameTable()
        self.lists = NearLists(self._table)
        for start in range(0, count, at_once):
            self._extend(start, min(count, start + at_once))

    def near(self) -> Near:
        """Return all that was found."""
        return Near(self.lists.members(), self.lists.lists(), self.lists.fingerprints)

    def _extend(self, start: int, stop: int) -> None:
        count, prints = stop - start, self._fingerprints[start:stop]
        parts = [part_of(text) for text in self.texts[start:stop]]
        new = NewPlaces(
            self.numbers[start:stop],
            self._table.numbers([name.packed() for name in self.names[start:stop]]),
            np.array(prints, np.uint64),
            np.ones(count, np.bool_),
            minhash_many(parts, permutations=CANDIDATE_PERMUTATIONS),
            np.ones(count, np.bool_),
            np.full(count, -1, np.int32),
            np.full(count, -1.0),
        )
        self.lists.extend(new, int(self.numbers[:stop].max()) + 1, self._load)

    def _load(self, texts: NDArray[np.int64]) -> SetArrays:
        self._sets.grow(int(self.numbers.max()) + 1)
        for number in self._sets.missing(texts).tolist():
            self._sets.add(number, self.texts[int(np.flatnonzero(self.numbers == number)[0])])
        return self._sets.arrays()
