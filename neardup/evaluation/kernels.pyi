"""Loops over near texts, described in kernels.pyx."""

from numpy import float64, int64
from numpy.typing import NDArray

from neardup.evaluation.judging import Bounds, Columns, Near, Verdicts
from neardup.evaluation.near_arrays import SetArrays

def similarities(
    sets: SetArrays, ones: NDArray[int64], others: NDArray[int64]
) -> NDArray[float64]: ...
def shared_shares(
    sets: SetArrays, ones: NDArray[int64], others: NDArray[int64]
) -> NDArray[float64]: ...
def judge(columns: Columns, near: Near, bounds: Bounds, verdicts: Verdicts) -> None: ...
