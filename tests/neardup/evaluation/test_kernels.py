"""The loops over sets, against the sets of Python."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from neardup.evaluation.kernels import shared_shares, similarities
from neardup.evaluation.near_arrays import NOT_STORED, SetArrays

_SETS = st.lists(st.none() | st.sets(st.integers(2**63 - 8, 2**63 + 8)), min_size=1, max_size=6)


def arrays_of(sets: list[set[int] | None]) -> SetArrays:
    """Return sets one behind the other; None: a text that is not stored."""
    sizes = [NOT_STORED if one is None else len(one) for one in sets]
    starts = np.cumsum([0, *(max(0, size) for size in sizes)])[:-1]
    values = [value for one in sets for value in sorted(one or ())]
    alone = np.full(len(sets), NOT_STORED, np.int32)
    return SetArrays(
        np.array(values, np.uint64), starts, np.array(sizes, np.int32), np.zeros_like(starts), alone
    )


def all_pairs(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ones, others = np.indices((count, count)).reshape(2, -1)
    return ones, others


@settings(deadline=None)
@given(_SETS)
def test_what_two_sets_share_is_counted(sets: list[set[int] | None]) -> None:
    arrays, (ones, others) = arrays_of(sets), all_pairs(len(sets))
    found = similarities(arrays, ones, others), shared_shares(arrays, ones, others)
    for one, other, similarity, share in zip(ones, others, *found, strict=True):
        ours, theirs = sets[one], sets[other]
        if ours is None or theirs is None:
            assert (similarity, share) == (-1.0, 1.0)
            continue
        both, least = len(ours & theirs), min(len(ours), len(theirs))
        assert similarity == (both / len(ours | theirs) if ours | theirs else 1.0)
        if one != other and ours | theirs:
            assert share == (both / least if least else 0.0)


@pytest.mark.parametrize("loop", [similarities, shared_shares])
def test_a_text_that_is_not_there_is_refused(loop: Callable[..., object]) -> None:
    sets = arrays_of([{1}, {2}])
    with pytest.raises(IndexError):
        loop(sets, np.array([0]), np.array([2]))
    with pytest.raises(IndexError):
        loop(sets._replace(starts=np.array([0, 2])), np.array([0]), np.array([1]))
