import pytest

from neardup import HammingIndex
from neardup.indexes.design import design_of


@pytest.mark.parametrize(
    ("radius", "shares", "probes"),
    [
        (0, (1, 0, 0, 0), 1),
        (3, (1, 1, 1, 1), 4),
        (4, (2, 1, 1, 1), 20),
        (7, (2, 2, 2, 2), 68),
        (8, (3, 2, 2, 2), 188),
    ],
)
def test_shares_and_probes_follow_from_the_radius(
    radius: int, shares: tuple[int, ...], probes: int
) -> None:
    design = design_of(10_000_000, radius)
    assert (design.tables, design.block_bits, design.prefix_bits) == (4, 16, 16)
    assert (design.shares, design.probes) == (shares, probes)
    assert design.expected_rows == pytest.approx(probes * 10_000_000 / 65_536)


def test_an_index_shows_the_design_of_its_largest_segment() -> None:
    index = HammingIndex(radius=3)
    assert index.design.rows == 0
    index.add_many(range(100_000), range(100_000))
    index.add_many(range(10_000), range(10_000))
    assert str(index.design) == (
        "4 tables of 16-bit blocks, 2**13 buckets; radius 3 shared out as (1, 1, 1, 1): "
        "4 buckets, about 49 of 100,000 rows"
    )
