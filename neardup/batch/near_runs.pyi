"""The loop over rows of a join, described in near_runs.pyx."""

from numpy import int64
from numpy.typing import NDArray

from neardup.batch.joining import JoinLimits, JoinRows
from neardup.features.hashing import Hashes

def near_in_runs(
    rows: JoinRows, begin: int, masks: Hashes, limits: JoinLimits, pairs: NDArray[int64]
) -> int: ...
