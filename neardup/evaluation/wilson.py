"""How far a share of few can be trusted."""

from math import sqrt
from typing import NamedTuple

_QUANTILE = 1.959963984540054
"""Of the normal distribution, for 95 %."""


class Interval(NamedTuple):
    """A share and where the true one lies, 19 times of 20.

    Attributes:
        low: 0 to 1.
        share: 0 to 1.
        high: 0 to 1.
    """

    low: float
    share: float
    high: float


def wilson(right: int, of: int) -> Interval | None:
    """Return the share of ``right`` among ``of`` with its 95 % interval; None: a share of nothing.

    Reference: Wilson, Journal of the American Statistical Association 22, 1927.
    """
    if not of:
        return None
    share, z = right / of, _QUANTILE
    shrunk = 1 + z * z / of
    middle = (share + z * z / (2 * of)) / shrunk
    half = z / shrunk * sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    # Rounding must not lift the low end above a share of 0, nor the high end below one of 1.
    return Interval(min(share, max(0.0, middle - half)), share, max(share, min(1.0, middle + half)))
