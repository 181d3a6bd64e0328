import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.indexes.pigeonhole import (
    BLOCKS,
    MAX_SHARE,
    blocks_of,
    even_share,
    masks,
    shares,
)
from tests.neardup.indexes.generated import MASK, radii, unhurried


@pytest.mark.parametrize("bits", range(17))
def test_masks_are_all_values_with_few_bits_the_fewest_first(bits: int) -> None:
    flips, ends = masks(bits)
    wanted = [value for value in range(1 << bits) if value.bit_count() < MAX_SHARE]
    assert sorted(flips.tolist()) == wanted
    assert ends[0] == 0
    for share in range(1, MAX_SHARE + 1):
        assert all(flip.bit_count() < share for flip in flips[: ends[share]].tolist())
        assert all(flip.bit_count() >= share for flip in flips[ends[share] :].tolist())


@pytest.mark.parametrize("radius", range(9))
def test_every_radius_can_be_shared_evenly(radius: int) -> None:
    ways = shares(radius, even_share(radius))
    assert ways.shape[1] == BLOCKS
    assert len(ways)
    assert (ways.sum(axis=1) == radius + 1).all()
    assert even_share(radius) <= MAX_SHARE


def test_radius_three_is_one_bucket_in_each_of_four_tables() -> None:
    assert shares(3, even_share(3)).tolist() == [[1, 1, 1, 1]]


class TestPigeonholeProperties:
    @unhurried
    @given(st.integers(0, MASK))
    def test_blocks_make_up_the_fingerprint(self, value: int) -> None:
        first, second, third, fourth = blocks_of(value)
        assert first << 48 | second << 32 | third << 16 | fourth == value

    @unhurried
    @given(radii, st.integers(1, MAX_SHARE), st.integers(0, MASK), st.data())
    def test_no_value_within_the_radius_escapes_any_way_of_sharing(
        self, radius: int, largest: int, value: int, data: st.DataObject
    ) -> None:
        bits = data.draw(st.sets(st.integers(0, 63), max_size=radius))
        other = value ^ sum(1 << bit for bit in bits)
        apart = np.array(
            [
                (mine ^ its).bit_count()
                for mine, its in zip(blocks_of(value), blocks_of(other), strict=True)
            ]
        )
        for way in shares(radius, largest):
            assert (apart < way).any()
