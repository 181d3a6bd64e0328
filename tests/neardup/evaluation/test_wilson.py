import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.evaluation.metrics import wilson


@pytest.mark.parametrize(
    ("right", "of", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17, 1998, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_intervals_are_those_of_the_literature(
    right: int, of: int, low: float, high: float
) -> None:
    found = wilson(right, of)
    assert found is not None
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)


def test_a_share_of_nothing_is_none() -> None:
    assert wilson(0, 0) is None


class TestWilsonProperties:
    @given(st.integers(1, 10**6), st.data())
    def test_the_share_lies_within(self, of: int, data: st.DataObject) -> None:
        found = wilson(data.draw(st.integers(0, of)), of)
        assert found is not None
        assert 0 <= found.low <= found.share <= found.high <= 1
