"""The arrays of judging many texts in crawl order."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.evaluation.near_arrays import Lists, Members
from neardup.evaluation.shingle_sets import SetArrays

LAYERS = ("new", "too_short", "changed", "payload", "text", "simhash", "candidate", "minhash")
"""What decided on a place, by number; the first three keep it."""

NEW, TOO_SHORT, CHANGED, PAYLOAD, TEXT, SIMHASH, CANDIDATE, MINHASH = range(len(LAYERS))


class Columns(NamedTuple):
    """What is known of each place before it is judged.

    Attributes:
        texts: int32, (places,): number of what must be equal; -1 for an empty text.
        payloads: int32, (places,): number of the bytes; -1: not known.
        words: int32, (places,).
        is_main: bool, (places,): whether a fingerprint may stand for the text.
        is_changed: bool, (places,): the layer of one that is kept is ``CHANGED``.
    """

    texts: NDArray[np.int32]
    payloads: NDArray[np.int32]
    words: NDArray[np.int32]
    is_main: NDArray[np.bool_]
    is_changed: NDArray[np.bool_]


class Near(NamedTuple):
    """What was found once.

    Attributes:
        members: The places by what they share.
        lists: What is near each.
        sets: The shingles of what is compared.
        fingerprints: uint64, (classes,).
    """

    members: Members
    lists: Lists
    sets: SetArrays
    fingerprints: NDArray[np.uint64]


class Bounds(NamedTuple):
    """With what is judged.

    Attributes:
        radius: Bits within which texts are looked at; -1: none is.
        max_distance: Bits within which it is the layer ``SIMHASH`` that decides.
        min_words: Texts of fewer words are compared by equality alone.
        verify: Whether ``min_similarity`` has to confirm.
        min_similarity: 0 to 1.
        by_minhash: Whether lists are those of MinHash: no distance counts, none is cut.
    """

    radius: int
    max_distance: int
    min_words: int
    verify: bool
    min_similarity: float
    by_minhash: bool


class Verdicts(NamedTuple):
    """What became of each place.

    Attributes:
        kept: bool, (places,).
        original: int64, (places,): the kept place that this one repeats; -1: none.
        distance: int16, (places,): in bits; 0 for equal ones; -1: none.
        similarity: float32, (places,): 1 for equal ones; NaN: none, or not known.
        layer: uint8, (places,): a place in ``LAYERS``.
    """

    kept: NDArray[np.bool_]
    original: NDArray[np.int64]
    distance: NDArray[np.int16]
    similarity: NDArray[np.float32]
    layer: NDArray[np.uint8]


class Kept(NamedTuple):
    """What is kept so far and has a fingerprint, by classes.

    Attributes:
        counts: int64, (2,): classes with a kept place; entries of the pool.
        classes: int32, (classes,): those, in the order in which they came.
        fingerprints: uint64, (classes,): theirs.
        first: int32, (classes,): the first kept place of a class; ``NONE``.
        last: int32, (classes,): the last one.
        next: int32, (places,): the next one of the same class; ``NONE``.
        is_odd: bool, (classes,): holds a place that is not the first of its text, and so in no
            list.
        scanned: int32, (classes,): with so many kept classes a class was compared.
        near: int64, (classes,): where in the pool the near ones begin; -1.
    """

    counts: NDArray[np.int64]
    classes: NDArray[np.int32]
    fingerprints: NDArray[np.uint64]
    first: NDArray[np.int32]
    last: NDArray[np.int32]
    next: NDArray[np.int32]
    is_odd: NDArray[np.bool_]
    scanned: NDArray[np.int32]
    near: NDArray[np.int64]
