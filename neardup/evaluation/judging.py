"""All verdicts of a crawl under other parameters, in one pass over near lists."""

from typing import NamedTuple

import numpy as np

from neardup.evaluation.judging_arrays import Bounds, Columns, Near, Verdicts


class Judged(NamedTuple):
    """The outcome of judging a crawl.

    Attributes:
        verdicts: The verdicts on all places.
        not_compared: The number of places whose verdict lacks a comparison, since a text is not
            stored: their own, so that there is no fingerprint, or that of a kept place near them.
    """

    verdicts: Verdicts
    not_compared: int


def judge_all(columns: Columns, near: Near, bounds: Bounds) -> Judged:
    """Judge all places in order, each as a ``Deduplicator`` that judged those before it.

    Args:
        columns: The properties of the places.
        near: The near lists of the places.
        bounds: The bounds of the verdicts.

    Complexity: O(places + pairs); where lists are cut, that of a search for each of those places.
    """
    from neardup.evaluation import judging_kernels  # noqa: PLC0415  (numba takes long)

    count = len(columns.texts)
    verdicts = Verdicts(
        np.empty(count, np.bool_),
        np.empty(count, np.int64),
        np.empty(count, np.int16),
        np.empty(count, np.float32),
        np.empty(count, np.uint8),
    )
    not_compared = judging_kernels.judge(columns, near, bounds, verdicts)
    if bounds.radius >= 0:
        is_alone = columns.is_main & (columns.words >= bounds.min_words) & (columns.texts >= 0)
        is_alone &= (near.members.classes < 0) & verdicts.kept
        not_compared += int(np.count_nonzero(is_alone))
    return Judged(verdicts, not_compared)
