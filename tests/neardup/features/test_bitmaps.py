import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.features.bitmaps import bitmap_of, max_similarity
from neardup.features.hashing import Hashes

SETS = st.sets(st.integers(0, 2**64 - 1) | st.integers(0, 300), max_size=200)


def hashes_of(values: set[int]) -> Hashes:
    return np.array(sorted(values), np.uint64)


def drawn(seed: int, count: int) -> list[int]:
    values: list[int] = np.random.default_rng(seed).integers(0, 2**64, count, np.uint64).tolist()
    return values


class TestBitmapProperties:
    @given(SETS, SETS, st.booleans())
    def test_the_bound_is_never_below_the_similarity(
        self, first: set[int], second: set[int], overlap: bool
    ) -> None:
        second = second | first if overlap else second
        bound = max_similarity(bitmap_of(hashes_of(first)), bitmap_of(hashes_of(second)))
        assert bound <= 1
        if first or second:
            assert bound >= len(first & second) / len(first | second)
        assert bound == max_similarity(bitmap_of(hashes_of(second)), bitmap_of(hashes_of(first)))

    @given(SETS)
    def test_of_equal_sets_it_is_1(self, values: set[int]) -> None:
        bitmap = bitmap_of(hashes_of(values))
        assert max_similarity(bitmap, bitmap) == 1


@pytest.mark.parametrize("count", [50, 1000, 1025, 20_000])
@pytest.mark.parametrize("similarity", [0.0, 0.3, 0.5, 0.7])
def test_the_bound_is_close(count: int, similarity: float) -> None:
    shared = int(2 * count * similarity / (1 + similarity))
    values = drawn(count, 2 * count - shared)
    first, second = set(values[:count]), set(values[count - shared :])
    bound = max_similarity(bitmap_of(hashes_of(first)), bitmap_of(hashes_of(second)))
    assert bound <= similarity + 0.08


def test_sets_of_very_different_sizes_are_told_by_their_sizes() -> None:
    values = drawn(1, 10_000)
    bound = max_similarity(
        bitmap_of(hashes_of(set(values))), bitmap_of(hashes_of(set(values[:1000])))
    )
    assert 0.1 <= bound <= 0.101


def test_a_bit_takes_1_to_2_bytes_a_value() -> None:
    for count in (8, 100, 1024, 1025, 5000):
        assert count <= bitmap_of(hashes_of(set(range(count)))).words.nbytes < 2 * count
    assert bitmap_of(hashes_of(set())).words.nbytes == 8
