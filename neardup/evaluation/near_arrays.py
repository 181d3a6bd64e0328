"""The arrays of near texts, as compiled loops read and write them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

RADIUS = 8
NONE = 2**31 - 1
"""The place that stands for none: it is after every other."""

MAX_COUNT = 1000
"""The largest number of earlier texts in a list: a deduplicator looks at no more."""

MANY_PAIRS = 1 << 22
"""The number of pairs from which on each list ends after ``FEW_TEXTS``."""

FEW_TEXTS = 64
"""The largest number of earlier texts in a list, where there are too many pairs."""


class Lists(NamedTuple):
    """Near texts of each place, nearest first, then by place.

    Attributes:
        starts: int64, (places + 1,): where the list of a place begins.
        earlier: int32, (pairs,): places, each the first of its text and name.
        distance: uint8, (pairs,): in bits.
        similarity: float64, (pairs,): -1 where a text is not held.
        is_other: bool, (pairs,): whether the names tell that the two are different things.
    """

    starts: NDArray[np.int64]
    earlier: NDArray[np.int32]
    distance: NDArray[np.uint8]
    similarity: NDArray[np.float64]
    is_other: NDArray[np.bool_]


class Members(NamedTuple):
    """Places by what they share.

    Attributes:
        texts: int32, (places,): number of the text.
        items: int32, (places,): number of the text with its name; -1: the place has no fingerprint.
        classes: int32, (places,): number of the fingerprint; -1: the place has none.
        original: int32, (places,): the place that an earlier verdict named; -1: none.
        stored: float64, (places,): the similarity of the two by that verdict; -1: not known.
        first_of_text: int32, (texts,): its first place with a fingerprint, ``NONE`` without.
        first_of_item: int32, (items,): the first place of a text with its name.
        first_of_class: int32, (classes,): the first of those that are first of their item.
        next_of_class: int32, (places,): the next of these; ``NONE`` after the last.
    """

    texts: NDArray[np.int32]
    items: NDArray[np.int32]
    classes: NDArray[np.int32]
    original: NDArray[np.int32]
    stored: NDArray[np.float64]
    first_of_text: NDArray[np.int32]
    first_of_item: NDArray[np.int32]
    first_of_class: NDArray[np.int32]
    next_of_class: NDArray[np.int32]


class NearClasses(NamedTuple):
    """Near fingerprints of some classes, nearest first, then by number.

    Attributes:
        rows: int32, (classes,): which row is that of a class.
        starts: int64, (rows + 1,).
        classes: int64, (found,).
        distances: uint8, (found,): in bits.
    """

    rows: NDArray[np.int32]
    starts: NDArray[np.int64]
    classes: NDArray[np.int64]
    distances: NDArray[np.uint8]


class NewPlaces(NamedTuple):
    """Places behind those that are known; only fingerprints that are judged count.

    ``names`` are numbers of a ``NameTable``.
    """

    texts: NDArray[np.int32]
    names: NDArray[np.int32]
    fingerprints: NDArray[np.uint64]
    is_judged: NDArray[np.bool_]
    original: NDArray[np.int32]
    stored: NDArray[np.float64]

    def part(self, start: int, stop: int) -> "NewPlaces":
        return NewPlaces._make(column[start:stop] for column in self)
