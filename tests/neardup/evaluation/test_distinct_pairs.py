import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.evaluation import distinct_pairs
from neardup.evaluation.distinct_pairs import count_nearest

fingerprints = st.lists(st.integers(0, 2**64 - 1), min_size=2, max_size=600)


class TestNearestProperties:
    @settings(deadline=None)
    @given(fingerprints)
    def test_counts_equal_those_of_all_pairs(self, values: list[int]) -> None:
        expected = [0] * 65
        for place, value in enumerate(values):
            others = values[:place] + values[place + 1 :]
            expected[min((value ^ other).bit_count() for other in others)] += 1
        found = count_nearest(np.array(values, np.uint64))
        assert found.counts.tolist() == expected
        assert (found.asked, found.is_sampled) == (len(values), False)


def test_of_very_many_a_sample_is_asked() -> None:
    values = np.random.default_rng(1).integers(0, 2**64, 20_000, dtype=np.uint64)
    values[1::2] = values[::2]
    found = count_nearest(values)
    assert found.is_sampled
    assert found.asked == distinct_pairs.MAX_COMPARED // 20_000
    assert found.counts[0] == found.asked


def test_one_text_has_no_nearest() -> None:
    for count in (0, 1):
        found = count_nearest(np.zeros(count, np.uint64))
        assert (found.counts.sum(), found.asked) == (0, 0)
