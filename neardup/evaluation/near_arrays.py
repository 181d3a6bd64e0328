"""The arrays of near texts, as compiled loops read and write them, and the layers of verdicts."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

LAYERS = (
    "new",
    "too_short",
    "changed",
    "same_template",
    "payload",
    "text",
    "simhash",
    "candidate",
    "contained",
)
"""The layers, by number; the first four keep a place."""

NEW, TOO_SHORT, CHANGED, SAME_TEMPLATE, PAYLOAD, TEXT, SIMHASH, CANDIDATE, CONTAINED = range(
    len(LAYERS)
)

KEEPING = LAYERS[:PAYLOAD]
"""The layers that keep a place; the others drop it."""

RADIUS = 8
NONE = 2**31 - 1
"""The place that stands for none: it is after every other."""

MAX_COUNT = 1000
"""The largest number of earlier texts in a list: a deduplicator looks at no more."""

MANY_PAIRS = 1 << 23
"""The number of pairs from which on each list ends after ``FEW_TEXTS``."""

FEW_TEXTS = 64
"""The largest number of earlier texts in a list, where there are too many pairs."""


NOT_ASKED, NOT_STORED = -2, -1
"""These stand for the size of a set that is missing: not asked for, or of a text not stored."""


class SetArrays(NamedTuple):
    """Sets by the numbers of their texts.

    Attributes:
        hashes: uint64, all sets one behind the other, each ascending.
        starts: int64, (texts,).
        sizes: int32, (texts,): below 0, where there is no set.
        whole_starts: int64, (texts,): of the wholes that texts were taken from.
        whole_sizes: int32, (texts,): below 0, where a text is its own whole.
    """

    hashes: NDArray[np.uint64]
    starts: NDArray[np.int64]
    sizes: NDArray[np.int32]
    whole_starts: NDArray[np.int64]
    whole_sizes: NDArray[np.int32]


Load: TypeAlias = Callable[[NDArray[np.int64]], SetArrays]
"""A function that takes the numbers of texts to compare from now on and returns all sets."""


class Lists(NamedTuple):
    """Near texts of each place, nearest first, then by place.

    Attributes:
        starts: int64, (places + 1,): where the list of a place begins.
        earlier: int32, (pairs,): places, each the first of its text and name.
        distance: uint8, (pairs,): in bits, beyond ``RADIUS`` of candidates alone.
        similarity: float64, (pairs,): -1 where a text is not held.
        is_other: bool, (pairs,): whether the names tell that the two are different things.
        is_candidate: bool, (pairs,): whether the signatures of the two share a band, or where one
            has none, an earlier verdict named the other.
    """

    starts: NDArray[np.int64]
    earlier: NDArray[np.int32]
    distance: NDArray[np.uint8]
    similarity: NDArray[np.float64]
    is_other: NDArray[np.bool_]
    is_candidate: NDArray[np.bool_]


class Members(NamedTuple):
    """Places by what they share.

    Attributes:
        texts: int32, (places,): number of the text.
        items: int32, (places,): number of the text with its name; -1: the place has no fingerprint.
        first_of_text: int32, (texts,): its first place with a fingerprint, ``NONE`` without.
    """

    texts: NDArray[np.int32]
    items: NDArray[np.int32]
    first_of_text: NDArray[np.int32]


class NewPlaces(NamedTuple):
    """Places behind those that are known; only fingerprints that are judged count.

    Attributes:
        texts: int32, (places,): number of the text.
        names: int32, (places,): number in a ``NameTable``.
        fingerprints: uint64, (places,).
        is_judged: bool, (places,): whether the place has a fingerprint.
        signatures: uint32, (places, ``CANDIDATE_PERMUTATIONS``).
        has_signature: bool, (places,): whether it has one: its text is held.
        original: int32, (places,): the place that an earlier verdict named; -1: none.
        stored: float64, (places,): the similarity of the two by that verdict; -1: not known.
    """

    texts: NDArray[np.int32]
    names: NDArray[np.int32]
    fingerprints: NDArray[np.uint64]
    is_judged: NDArray[np.bool_]
    signatures: NDArray[np.uint32]
    has_signature: NDArray[np.bool_]
    original: NDArray[np.int32]
    stored: NDArray[np.float64]

    def part(self, start: int, stop: int) -> "NewPlaces":
        return NewPlaces._make(column[start:stop] for column in self)
