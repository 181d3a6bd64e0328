"""Shingle sets, fingerprints and signatures of texts, made with as few reads as possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from crawler.lab.page_columns import UNREAD
from neardup.errors import FingerprintError
from neardup.evaluation.shingle_sets import ShingleSets
from neardup.fingerprints.digest import text_digest
from neardup.fingerprints.minhash import minhash
from neardup.fingerprints.simhash import simhash
from neardup.indexes.banding import CANDIDATE_PERMUTATIONS
from neardup.whole import part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from crawler.lab.page_columns import PageColumns
    from neardup import Features
    from neardup.evaluation.shingle_sets import SetArrays

    Texts = Callable[[Sequence[int]], Iterator[str | None]]


class TextShelf:
    """Shingle sets, fingerprints and signatures of texts, by the numbers of these.

    Args:
        texts: Gives the texts of pages by their ids; None for one that is not held.
        pages: The columns of the pages whose texts they are.
    """

    def __init__(self, texts: Texts, pages: PageColumns) -> None:
        self._texts = texts
        self._pages = pages
        self._sets: dict[int, ShingleSets] = {}
        self._fingerprints: dict[Features, dict[int, int | None]] = {}

    @property
    def size_bytes(self) -> int:
        return sum(sets.size_bytes for sets in self._sets.values())

    def sets(self, texts: NDArray[np.int64], shingle_size: int) -> SetArrays:
        """Return all sets made so far, those of some texts among them."""
        held = self._sets.setdefault(shingle_size, ShingleSets(shingle_size))
        held.grow(len(self._pages.holders))
        missing = held.missing(texts)
        for number, text in zip(missing.tolist(), self.read(missing), strict=True):
            held.add(number, text)
        return held.arrays()

    def fingerprints(
        self, texts: NDArray[np.int64], features: Features
    ) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
        """Return the fingerprints of texts, and which have one: their text is held."""
        known = self._fingerprints.setdefault(features, {})
        missing = np.array([one for one in texts.tolist() if one not in known], np.int64)
        missing = np.unique(missing)
        for number, text in zip(missing.tolist(), self.read(missing), strict=True):
            known[number] = _fingerprint(text, features)
        found = [known[number] for number in texts.tolist()]
        has_one = np.array([value is not None for value in found], np.bool_)
        return np.array([value or 0 for value in found], np.uint64), has_one

    def signatures(
        self, texts: NDArray[np.int64], shingle_size: int
    ) -> tuple[NDArray[np.uint32], NDArray[np.bool_]]:
        """Return the signatures of those texts that are held, and which these are."""
        wanted, places = np.unique(texts, return_inverse=True)
        signatures = np.zeros((len(wanted), CANDIDATE_PERMUTATIONS), np.uint32)
        has_one = np.zeros(len(wanted), np.bool_)
        for row, text in enumerate(self.read(wanted)):
            if text is not None:
                signatures[row] = minhash(
                    part_of(text), permutations=CANDIDATE_PERMUTATIONS, shingle_size=shingle_size
                )
                has_one[row] = True
        return signatures[places][has_one[places]], has_one[places]

    def read_mains(self, places: NDArray[np.int64]) -> None:
        """Tell the pages the digests of main texts that are ``UNREAD``."""
        unread = places[self._pages.mains.values[places] == UNREAD].tolist()
        ids = [self._pages.pages[place].id for place in unread]
        for place, text in zip(unread, self._texts(ids), strict=True):
            self._pages.read_main(place, None if text is None else text_digest(text))

    def read(self, texts: NDArray[np.int64]) -> Iterator[str | None]:
        """Yield texts by their numbers; None for one that is not stored."""
        return self._texts(self._pages.ids_of(texts))


def _fingerprint(text: str | None, features: Features) -> int | None:
    if text is None:
        return None
    try:
        return simhash(part_of(text), features)
    except FingerprintError:
        # Of words that weigh nothing.
        return None
