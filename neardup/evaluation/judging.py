"""All verdicts of a crawl under other parameters, in one pass over near lists."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.evaluation import kernels
from neardup.evaluation.near_arrays import Lists, Members
from neardup.parameters import Parameters


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


class Containers(NamedTuple):
    """The earlier texts that each place is a part of, in the order in which they are looked at.

    Attributes:
        starts: int64, (places + 1,): where the containers of a place begin; empty: not known.
        earlier: int32, (pairs,): places, each the first of its text and name.
        is_other: bool, (pairs,): whether the names tell that the two are different things.
        containment: float64, (pairs,): the share of the part's shingles that stand there.
    """

    starts: NDArray[np.int64]
    earlier: NDArray[np.int32]
    is_other: NDArray[np.bool_]
    containment: NDArray[np.float64]


NO_CONTAINERS = Containers(
    np.zeros(0, np.int64), np.zeros(0, np.int32), np.zeros(0, np.bool_), np.zeros(0)
)


class Near(NamedTuple):
    """The near lists of all places, found once for all bounds.

    Attributes:
        members: The places by what they share.
        lists: The texts within 8 bits of each place, and its candidates.
        fingerprints: uint64, (places,).
        rests: float64, (pairs of ``lists``,): what the texts of a pair share outside boilerplate
            (``neardup.boilerplate.RestComparison.shared_with``); empty: not known.
        containers: The texts that each place is a part of.
    """

    members: Members
    lists: Lists
    fingerprints: NDArray[np.uint64]
    rests: NDArray[np.float64] = np.zeros(0)
    containers: Containers = NO_CONTAINERS


class Bounds(NamedTuple):
    """The bounds of a verdict.

    Attributes:
        max_distance: The distance in bits within which the layer ``SIMHASH`` decides; -1: no text
            is looked at but equal ones.
        min_words: The number of words below which texts are compared by equality alone.
        verify: Whether a similarity of ``min_similarity`` has to confirm; then the texts that share
            a band are looked at too.
        min_similarity: The least similarity, 0 to 1.
        compare_names: Whether near texts whose names differ are both kept.
        ignore_boilerplate: Whether near texts that say other things outside boilerplate are both
            kept, where that is known.
        drop_contained: Whether parts of kept places are dropped, where they are known.
    """

    max_distance: int
    min_words: int
    verify: bool
    min_similarity: float
    compare_names: bool
    ignore_boilerplate: bool
    drop_contained: bool


def bounds_of(parameters: Parameters) -> Bounds:
    """Return the bounds of a deduplicator's parameters."""
    return Bounds._make(getattr(parameters, name) for name in Bounds._fields)


class Verdicts(NamedTuple):
    """The verdict on each place.

    Attributes:
        kept: bool, (places,).
        original: int64, (places,): the kept place that this one repeats or is a part of; -1: none.
        distance: int16, (places,): in bits, to the original or to what the place resembles; 0 for
            equal ones; -1: none.
        similarity: float32, (places,): likewise; 1 for equal ones; NaN: none, or not known.
        layer: uint8, (places,): a place in ``near_arrays.LAYERS``.
        resembles: int64, (places,): the kept place of another name or content that this one is
            nearly equal to, where the layer is ``SAME_TEMPLATE``; -1: none.
    """

    kept: NDArray[np.bool_]
    original: NDArray[np.int64]
    distance: NDArray[np.int16]
    similarity: NDArray[np.float32]
    layer: NDArray[np.uint8]
    resembles: NDArray[np.int64]


def judge_all(columns: Columns, near: Near, bounds: Bounds) -> Verdicts:
    """Judge all places in order, each as a ``Deduplicator`` that judged those before it.

    Where more than 1,000 texts are near to one, some of these are looked at alone. A verdict on
    texts that are not stored rests on what an earlier verdict says of them.

    Complexity: O(places + pairs).
    """
    kinds = (np.bool_, np.int64, np.int16, np.float32, np.uint8, np.int64)
    verdicts = Verdicts._make(np.empty(len(columns.texts), kind) for kind in kinds)
    kernels.judge(columns, near, bounds, verdicts)
    return verdicts
