"""All verdicts of a crawl under other parameters, in one pass over near lists."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.evaluation.near_arrays import Lists, Members
from neardup.evaluation.shingle_sets import SetArrays

LAYERS = ("new", "too_short", "changed", "payload", "text", "simhash", "candidate", "minhash")
"""The layers that decide on a place, by number; the first three keep it."""

NEW, TOO_SHORT, CHANGED, PAYLOAD, TEXT, SIMHASH, CANDIDATE, MINHASH = range(len(LAYERS))


class Columns(NamedTuple):
    """The properties of each place before it is judged.

    Attributes:
        texts: int32, (places,): the number that places of equal text share; -1 for an empty text.
        payloads: int32, (places,): the number that places of equal bytes share; -1: not known.
        words: int32, (places,).
        is_main: bool, (places,): whether a fingerprint may stand for the text.
        is_changed: bool, (places,): whether the layer of the place is ``CHANGED`` if it is kept.
    """

    texts: NDArray[np.int32]
    payloads: NDArray[np.int32]
    words: NDArray[np.int32]
    is_main: NDArray[np.bool_]
    is_changed: NDArray[np.bool_]


class Near(NamedTuple):
    """The near lists of all places, found once for all bounds; ``fingerprints`` are by class."""

    members: Members
    lists: Lists
    sets: SetArrays
    fingerprints: NDArray[np.uint64]


class Bounds(NamedTuple):
    """The bounds of a verdict.

    Attributes:
        radius: The distance in bits within which texts are looked at; -1: none is.
        max_distance: The distance in bits within which the layer ``SIMHASH`` decides.
        min_words: The number of words below which texts are compared by equality alone.
        verify: Whether a similarity of ``min_similarity`` has to confirm.
        min_similarity: The least similarity, 0 to 1.
        by_minhash: Whether lists are those of MinHash: no distance counts, none is cut.
    """

    radius: int
    max_distance: int
    min_words: int
    verify: bool
    min_similarity: float
    by_minhash: bool


class Verdicts(NamedTuple):
    """The verdict on each place.

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
    """The kept places so far that have a fingerprint, by classes.

    Attributes:
        counts: int64, (2,): classes with a kept place; entries of the pool.
        classes: int32, (classes,): the classes with a kept place, in the order in which they came.
        fingerprints: uint64, (classes,): the fingerprints of these.
        first: int32, (classes,): the first kept place of a class; ``NONE``.
        last: int32, (classes,): the last one.
        next: int32, (places,): the next one of the same class; ``NONE``.
        is_odd: bool, (classes,): holds a place that is not the first of its text, and so in no
            list.
        scanned: int32, (classes,): the number of kept classes that a class was compared with.
        near: int64, (classes,): the place in the pool at which the near ones begin; -1: none.
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


class Judged(NamedTuple):
    """The verdicts on all places of a crawl.

    Attributes:
        verdicts: The verdicts.
        not_compared: The number of places whose verdict lacks a comparison, since a text is not
            stored: their own, so that there is no fingerprint, or that of a kept place near them.
    """

    verdicts: Verdicts
    not_compared: int


def judge_all(columns: Columns, near: Near, bounds: Bounds) -> Judged:
    """Judge all places in order, each as a ``Deduplicator`` that judged those before it.

    Complexity: O(places + pairs); where lists are cut, that of a search for each of those places.
    """
    from neardup.evaluation import judging_kernels  # noqa: PLC0415  (numba takes long)

    kinds = (np.bool_, np.int64, np.int16, np.float32, np.uint8)
    verdicts = Verdicts._make(np.empty(len(columns.texts), kind) for kind in kinds)
    not_compared = judging_kernels.judge(columns, near, bounds, verdicts)
    if bounds.radius >= 0:
        is_alone = columns.is_main & (columns.words >= bounds.min_words) & (columns.texts >= 0)
        is_alone &= (near.members.classes < 0) & verdicts.kept
        not_compared += int(np.count_nonzero(is_alone))
    return Judged(verdicts, not_compared)
