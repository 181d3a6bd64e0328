"""Near lists that are found once and serve all bounds that are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawler.lab.choice import MINHASH, SIMHASH
from neardup.evaluation.judging import Near
from neardup.evaluation.minhash_lists import MinHashLists
from neardup.evaluation.near_arrays import NewPlaces
from neardup.evaluation.near_lists import NearLists
from neardup.parameters import CONFIRMED

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from crawler.lab.choice import Choice
    from crawler.lab.page_columns import PageColumns
    from crawler.lab.text_shelf import TextShelf
    from neardup import Features
    from neardup.evaluation.shingle_sets import SetArrays

    Watch = Callable[[float, str], None]

_PAGES_AT_ONCE = 1000
_MIN_WORDS = 10
"""Texts of at least this many words are in the lists whatever is asked for, so that bounds from
here on are tried at once.

Most shorter texts are near to many.
"""


class Key(NamedTuple):
    """The kind of near lists: those of one kind serve the same choices.

    Attributes:
        method: The method, ``simhash`` or ``minhash``.
        features: The features of the fingerprints; MinHash does not use them.
        shingle_size: The words of a shingle, for the similarity.
        min_words: The fewest words of a text in the lists.
    """

    method: str
    features: Features
    shingle_size: int
    min_words: int

    def serves(self, other: Key) -> bool:
        """Whether lists of this kind hold all that the other one asks for."""
        return self[:3] == other[:3] and self.min_words <= other.min_words


def key_of(choice: Choice) -> Key:
    """Return the key of a choice's near lists; with ``exact`` they serve pictures alone."""
    parameters = choice.parameters
    words = _MIN_WORDS if parameters.min_words >= _MIN_WORDS else 1
    is_minhash = choice.method == MINHASH
    features = CONFIRMED if is_minhash else parameters.fingerprint_features
    method = MINHASH if is_minhash else SIMHASH
    return Key(method, features, parameters.verify_shingle_size, words)


class Prepared:
    """Near lists of all pages so far, which grow with them.

    Args:
        key: The kind of the lists.
        pages: The columns of all pages.
        shelf: The texts of the pages.
        running: The features of the fingerprints that the pages have.
    """

    def __init__(self, key: Key, pages: PageColumns, shelf: TextShelf, running: Features) -> None:
        self.key = key
        self._pages = pages
        self._shelf = shelf
        self._has_own = key.features == running
        self._near = self._nothing()

    def __len__(self) -> int:
        return len(self._near)

    @property
    def size_bytes(self) -> int:
        return self._near.size_bytes

    def near(self) -> Near:
        """Return the near lists, as views that ``catch_up`` may leave behind."""
        sets = self._load(np.zeros(0, np.int64))
        members, lists = self._near.members(), self._near.lists()
        if isinstance(self._near, NearLists):
            return Near(members, lists, sets, self._near.fingerprints.values)
        return Near(members, lists, sets, np.zeros(1, np.uint64))

    def catch_up(self, watch: Watch) -> None:
        """Take all pages that came since; what was taken stays, should ``watch`` raise.

        Args:
            watch: Called with the share that is done, and with what is being done.
        """
        first, count = len(self), len(self._pages)
        for start in range(first, count, _PAGES_AT_ONCE):
            stop = min(count, start + _PAGES_AT_ONCE)
            watch(
                (start - first) / (count - first),
                f"{start - first:,} of {count - first:,} pages compared",
            )
            try:
                self._shelf.read_mains(np.flatnonzero(self._is_judged(start, stop)) + start)
                self._take(start, stop)
            except BaseException:
                # A text that cannot be read leaves lists half way.
                self._near = self._nothing()
                raise

    def _nothing(self) -> NearLists | MinHashLists:
        return NearLists() if self.key.method == SIMHASH else MinHashLists()

    def _take(self, start: int, stop: int) -> None:
        if isinstance(self._near, NearLists):
            self._take_fingerprints(self._near, start, stop)
        else:
            self._take_signatures(self._near, start, stop)

    def _load(self, texts: NDArray[np.int64]) -> SetArrays:
        return self._shelf.sets(texts, self.key.shingle_size)

    def _is_judged(self, start: int, stop: int) -> NDArray[np.bool_]:
        columns = self._pages.columns()
        is_long = columns.words[start:stop] >= self.key.min_words
        has_text = columns.texts[start:stop] >= 0
        is_judged: NDArray[np.bool_] = columns.is_main[start:stop] & is_long & has_text
        return is_judged

    def _take_fingerprints(self, near: NearLists, start: int, stop: int) -> None:
        pages, is_judged = self._pages, self._is_judged(start, stop)
        texts = pages.columns().texts[start:stop]
        fingerprints = pages.fingerprints.values[start:stop].copy()
        is_missing = is_judged.copy()
        if self._has_own:
            is_missing &= ~pages.has_fingerprint.values[start:stop]
        asked = texts[is_missing].astype(np.int64)
        fingerprints[is_missing], has_one = self._shelf.fingerprints(asked, self.key.features)
        is_judged[is_missing] = has_one
        original, stored = pages.original.values[start:stop], pages.stored.values[start:stop]
        new = NewPlaces(texts, fingerprints, is_judged, original, stored)
        near.extend(new, len(pages.holders), self._load)

    def _take_signatures(self, near: MinHashLists, start: int, stop: int) -> None:
        is_judged = self._is_judged(start, stop)
        texts = self._pages.columns().texts[start:stop]
        asked = texts[is_judged].astype(np.int64)
        signatures, has_one = self._shelf.signatures(asked, self.key.shingle_size)
        is_judged[is_judged] = has_one
        numbers = np.where(is_judged, texts, -1).astype(np.int32)
        near.extend(numbers, signatures, len(self._pages.holders), self._load)
