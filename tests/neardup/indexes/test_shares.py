from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.indexes.segment import BLOCKS, MAX_SHARE, masks
from tests.neardup.indexes.generated import MASK, radii, unhurried


@pytest.mark.parametrize("bits", range(17))
def test_masks_are_all_values_with_few_bits_ascending(bits: int) -> None:
    flips, ends = masks(bits)
    wanted = [value for value in range(1 << bits) if value.bit_count() < MAX_SHARE]
    assert sorted(flips.tolist()) == wanted
    assert ends[0] == 0
    for share in range(1, MAX_SHARE + 1):
        assert all(flip.bit_count() < share for flip in flips[: ends[share]].tolist())
        assert all(flip.bit_count() >= share for flip in flips[ends[share] :].tolist())


class TestPigeonholeProperties:
    @unhurried
    @given(radii, st.integers(0, MASK), st.data())
    def test_no_value_within_the_radius_escapes_any_way_of_sharing(
        self, radius: int, value: int, data: st.DataObject
    ) -> None:
        bits = data.draw(st.sets(st.integers(0, 63), max_size=radius))
        other = value ^ sum(1 << bit for bit in bits)
        apart = np.array(
            [((value ^ other) >> shift & 0xFFFF).bit_count() for shift in (48, 32, 16, 0)]
        )
        for way in product(range(MAX_SHARE + 1), repeat=BLOCKS):
            if sum(way) == radius + 1:
                assert (apart < way).any()
