"""On how many pages a rule is to be tried before it is taken for proven."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

ENOUGH = 118
"""Pages under two URLs each after which a rule without a counterexample is proved.

It holds in 39 of 40 cases then, with 95 % certainty.
"""

MIN_OF_A_VALUE = 59
"""Pages on which each of several values of an argument is tried: 19 of 20 cases."""

MAX_OF_AN_ARGUMENT = 590
"""Pages on which the values of one argument are tried, where it has more than ten of them."""

EXCEPTIONS = 0.02
"""The share of a host's skipped requests that may lead to pages of their own and are found."""

DOUBT = 0.01
"""The probability that exceptions of that share are not found."""


def pages_wanted(values: int) -> int:
    """Return on how many pages each value of an argument is to be tried.

    One of several values may be the default of the page, which has the same text wherever the
    others matter.
    """
    least = min(MIN_OF_A_VALUE, MAX_OF_AN_ARGUMENT // values)
    return max(ceil(ENOUGH / max(1, values - 1)), least)


def trials_of_all(cases: int) -> int:
    """Return how many of some requests find an exception, where one in fifty is one.

    Drawn without repetition, with a probability of at least 99 %: the chance to miss all of ``e``
    exceptions in ``k`` of ``n`` is at most ``(1 - k / n) ** e``.

    >>> trials_of_all(100), trials_of_all(315), trials_of_all(1_000_000)
    (90, 169, 231)
    """
    exceptions = int(EXCEPTIONS * cases)
    return ceil(cases * (1 - DOUBT ** (1 / exceptions))) if exceptions else cases


def growth(cases: Mapping[int, int], wanted: Mapping[int, int]) -> float:
    """Return by how much the trials of a host's rules are to grow so that they suffice for all.

    Args:
        cases: The number of requests that each rule skips or has tried.
        wanted: The number of trials that each rule wants for itself.
    """
    own = sum(min(wanted[rule], count) for rule, count in cases.items())
    return max(1.0, trials_of_all(sum(cases.values())) / own) if own else 1.0
