import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import ParameterError
from neardup.indexes.banding import (
    CANDIDATE_PERMUTATIONS,
    Banding,
    banding,
    least_estimate,
)
from neardup.indexes.lsh import LshIndex
from tests.neardup.indexes.generated import scattered

PERMUTATIONS = 12


def share_below(estimate: float, similarity: float) -> float:
    """The share of pairs of a similarity that are estimated lower, from four bits of each value."""
    count, differing = CANDIDATE_PERMUTATIONS, (1 - similarity) * 15 / 16
    return sum(
        math.comb(count, unequal) * differing**unequal * (1 - differing) ** (count - unequal)
        for unequal in range(count + 1)
        if 1 - unequal / count * 16 / 15 < estimate - 1e-9
    )


class TestLeastEstimate:
    @given(st.floats(0.01, 0.999))
    def test_one_similar_pair_in_a_million_is_estimated_lower(self, similarity: float) -> None:
        least, step = least_estimate(similarity), 16 / 15 / CANDIDATE_PERMUTATIONS
        assert 0 <= least <= similarity
        # No estimate is below 0.
        if least > 0:
            assert share_below(least, similarity) <= 1.0001e-6
        assert share_below(least + step, similarity) > 0.9999e-6

    @pytest.mark.parametrize(("similarity", "least"), [(1.0, 1.0), (0.8, 0.52), (0.0, 0.0)])
    def test_known_values(self, similarity: float, least: float) -> None:
        assert least_estimate(similarity) == pytest.approx(least, abs=0.01)

    @given(st.floats(0, 1), st.floats(0, 1))
    def test_it_grows_with_the_similarity(self, one: float, other: float) -> None:
        first, second = sorted((one, other))
        assert least_estimate(first) <= least_estimate(second)


class TestBanding:
    def test_twenty_bands_of_five_cross_one_half_at_051(self) -> None:
        shape = Banding(20, 5)
        assert shape.similarity_at(0.5) == pytest.approx(0.508696, abs=1e-6)
        assert shape.collision_rate(0.508696) == pytest.approx(0.5, abs=1e-4)
        assert round(shape.similarity_at(0.5), 2) == 0.51

    def test_the_rule_of_thumb_is_another_number(self) -> None:
        shape = Banding(20, 5)
        thumb = (1 / 20) ** (1 / 5)
        assert thumb == pytest.approx(0.5493, abs=1e-4)
        assert (
            shape.collision_rate(thumb)
            == pytest.approx(1 - 0.95**20)
            == pytest.approx(0.6415, abs=1e-4)
        )

    def test_the_curve_is_steepest_where_stated(self) -> None:
        grid = np.linspace(0, 1, 100_001)
        rates = np.array([Banding(20, 5).collision_rate(one) for one in grid.tolist()])
        steepest = grid[np.diff(rates).argmax()]
        assert steepest == pytest.approx((4 / 99) ** (1 / 5), abs=1e-4)
        assert steepest == pytest.approx(0.5264, abs=1e-4)

    @given(st.integers(1, 50), st.integers(1, 20), st.floats(0.01, 0.99))
    def test_rate_and_similarity_are_inverse(self, bands: int, rows: int, rate: float) -> None:
        shape = Banding(bands, rows)
        assert shape.collision_rate(shape.similarity_at(rate)) == pytest.approx(rate)

    @given(st.floats(0.1, 1), st.integers(64, 512), st.floats(0.5, 0.999))
    def test_chosen_bands_find_enough_with_max_rows(
        self, least: float, permutations: int, recall: float
    ) -> None:
        bands, rows = banding(least, permutations, recall)
        assert bands == permutations // rows
        assert Banding(bands, rows).collision_rate(least) >= recall
        if rows < permutations:
            assert Banding(permutations // (rows + 1), rows + 1).collision_rate(least) < recall

    def test_shape_for_08(self) -> None:
        index = LshIndex(0.8)
        assert index.shape == (18, 7)
        assert index.shape.collision_rate(0.8) == pytest.approx(0.9855, abs=1e-4)

    def test_a_shape_alone_tells_its_similarity(self) -> None:
        index = LshIndex(shape=(20, 5))
        assert index.shape.collision_rate(index.min_similarity) == pytest.approx(0.95)

    def test_very_long_signatures_have_1024_bands(self) -> None:
        assert banding(0.05, 65536, 0.95) == Banding(1024, 1)
        with pytest.raises(ParameterError, match=r"bands must be 1\.\.1024, got 5000"):
            LshIndex(permutations=65536, shape=(5000, 2))

    def test_too_little_similarity_names_what_is_possible(self) -> None:
        with pytest.raises(ParameterError, match=r"at least 0\.024 for 128 permutations"):
            LshIndex(0.02)
        assert LshIndex(0.024).shape.rows == 1

    @pytest.mark.parametrize("bad", [-0.1, 1.1, math.nan])
    def test_bad_similarities_are_refused(self, bad: float) -> None:
        with pytest.raises(ParameterError, match="min_similarity must be above 0"):
            LshIndex(bad)
        with pytest.raises(ParameterError, match="min_recall"):
            LshIndex(0.8, min_recall=bad)
        with pytest.raises(ParameterError, match="similarity must be"):
            LshIndex(0.8).shape.collision_rate(bad)
        with pytest.raises(ParameterError, match="rate must be"):
            Banding(2, 2).similarity_at(bad)
        with pytest.raises(ParameterError, match="min_similarity must be"):
            LshIndex(0.8).query(scattered(0, 1, 128)[0], min_similarity=bad)
        with pytest.raises(ParameterError, match="min_similarity must be"):
            LshIndex(0.8).query_many(scattered(0, 1, 128), min_similarity=bad)

    def test_bad_shapes_and_a_similarity_of_nothing_are_refused(self) -> None:
        with pytest.raises(ParameterError, match="min_similarity must be above 0"):
            LshIndex(0)
        with pytest.raises(ParameterError, match="limit must be at least 1, got 0"):
            LshIndex(0.8).query(scattered(0, 1, 128)[0], limit=0)
        with pytest.raises(ParameterError, match="a new index needs min_similarity, or a shape"):
            LshIndex()
        for shape in ((0, 5), (5, 0), (129, 1), (26, 5)):
            with pytest.raises(ParameterError, match=r"(bands|rows) must be 1\.\."):
                LshIndex(0.8, shape=shape)
