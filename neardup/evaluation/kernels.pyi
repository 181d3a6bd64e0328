"""Loops over near texts, described in kernels.pyx."""

from numpy import bool_, float64, int32, int64
from numpy.typing import NDArray

from neardup.evaluation.judging import Bounds, Columns, Near, Verdicts
from neardup.evaluation.near_arrays import Lists, Members, NearClasses
from neardup.evaluation.shingle_sets import SetArrays

def similarities(
    sets: SetArrays, ones: NDArray[int64], others: NDArray[int64]
) -> NDArray[float64]: ...
def shared_shares(
    sets: SetArrays, ones: NDArray[int64], others: NDArray[int64]
) -> NDArray[float64]: ...
def link(members: Members, last: NDArray[int32], sizes: NDArray[int32], first: int) -> None: ...
def fill(members: Members, near: NearClasses, sets: SetArrays, lists: Lists, first: int) -> int: ...
def count_pairs(near: Near, is_judged: NDArray[bool_], min_similarity: float) -> NDArray[int64]: ...
def pick_pairs(
    near: Near,
    is_judged: NDArray[bool_],
    totals: NDArray[int64],
    quotas: NDArray[int64],
    with_unknown: bool,
    out: NDArray[int64],
) -> int: ...
def families(near_lists: Lists, min_similarity: float) -> NDArray[int32]: ...
def judge(columns: Columns, near: Near, bounds: Bounds, verdicts: Verdicts) -> int: ...
