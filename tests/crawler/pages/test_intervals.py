"""The time between two visits: bounded, shorter after changes, longer without them."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.pages.url_history import IntervalPolicy

POLICY = IntervalPolicy(first_secs=100, min_secs=10, max_secs=1000)
SECS = st.floats(0, 1e9)


@given(SECS, st.booleans())
def test_is_never_out_of_bounds(secs: float, changed: bool) -> None:
    assert 10 <= POLICY.after(secs, changed=changed) <= 1000


@given(st.floats(10, 1000))
def test_a_change_never_makes_it_longer_nor_its_absence_shorter(secs: float) -> None:
    assert POLICY.after(secs, changed=True) <= secs <= POLICY.after(secs, changed=False)


def test_factors() -> None:
    assert POLICY.first() == 100
    assert POLICY.after(100, changed=True) == pytest.approx(70)
    assert POLICY.after(100, changed=False) == pytest.approx(140)


@given(st.floats(20, 700), st.booleans())
def test_before_undoes_after(secs: float, changed: bool) -> None:
    after = POLICY.after(secs, changed=changed)
    assert POLICY.before(after, changed=changed) == pytest.approx(secs)


def test_comes_to_rest_where_every_other_visit_finds_a_change() -> None:
    policy, chance, found = IntervalPolicy(first_secs=1, min_secs=1e-3, max_secs=1e6), 0.02, 0
    drawn = random.Random(1)
    secs = policy.first()
    for _ in range(4000):
        # A page that changes in each second with a probability of 2 %.
        changed = drawn.random() < 1 - (1 - chance) ** secs
        found += changed
        secs = policy.after(secs, changed=changed)
    expected = math.log(1.4) / (math.log(1.4) - math.log(0.7))
    assert found / 4000 == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    "values", [{"min_secs": 2.0, "max_secs": 1.0}, {"min_secs": -1.0}, {"shorter": 1.0}]
)
def test_contradictions_are_refused(values: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        IntervalPolicy(**values)
