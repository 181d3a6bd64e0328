"""How many trials are enough, compared with the probability that they miss every exception."""

from __future__ import annotations

from math import comb, floor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.url_rules.validation import DOUBT, EXCEPTIONS, growth, trials_of_all


def missed(cases: int, exceptions: int, trials: int) -> float:
    """The probability that none of the exceptions is drawn, without repetition."""
    return comb(cases - exceptions, trials) / comb(cases, trials)


@pytest.mark.parametrize("cases", [50, 100, 315, 1_000, 5_000])
def test_exceptions_of_two_in_a_hundred_are_found(cases: int) -> None:
    exceptions = floor(EXCEPTIONS * cases)
    assert missed(cases, exceptions, trials_of_all(cases)) <= DOUBT


@given(st.integers(0, 10**7))
def test_no_more_than_there_are(cases: int) -> None:
    assert 0 <= trials_of_all(cases) <= min(cases, 231)


@given(
    st.dictionaries(st.integers(1, 5), st.integers(0, 2_000), min_size=1, max_size=5),
    st.integers(1, 300),
)
def test_what_grows_suffices_for_all(cases: dict[int, int], wanted: int) -> None:
    factor = growth(cases, dict.fromkeys(cases, wanted))
    assert factor >= 1
    if sum(cases.values()):
        own = sum(min(wanted, count) for count in cases.values())
        assert factor * own >= trials_of_all(sum(cases.values())) - 1e-6
