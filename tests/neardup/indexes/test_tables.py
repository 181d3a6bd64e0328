"""Segments large enough for buckets, neighbours and plans; small ones are in test_hamming."""

import numpy as np
import numpy.typing as npt
import pytest

from neardup.indexes.arrays import Rows
from neardup.indexes.batch import answers
from neardup.indexes.match import ordered
from neardup.indexes.merging import sorted_rows
from neardup.indexes.pigeonhole import blocks_of
from neardup.indexes.segment import Segment
from neardup.indexes.tables import PLAN_ROWS, Tables
from tests.neardup.indexes.generated import planted, scanned

ROWS = PLAN_ROWS + 20_000


def evenly_spread(count: int) -> npt.NDArray[np.uint64]:
    return np.random.default_rng(7).integers(0, 2**64, count, dtype=np.uint64)


EVEN = evenly_spread(ROWS)
SHARED = {
    "spread evenly": EVEN,
    "one block shared by all": EVEN & np.uint64(0x0000FFFFFFFFFFFF) | np.uint64(0x1234 << 48),
    "two blocks shared by all": EVEN & np.uint64(0xFFFF00000000FFFF),
    "three blocks shared by nearly all": np.where(
        np.arange(ROWS) % 50 == 0, EVEN, EVEN & np.uint64(0xFFFF)
    ),
    "one fingerprint of a third": np.where(np.arange(ROWS) % 3 == 0, np.uint64(777), EVEN),
    "one fingerprint of all": np.full(2_000, 777, np.uint64),
    "in a row": np.arange(ROWS, dtype=np.uint64),
}


@pytest.fixture(scope="module", params=list(SHARED.values()), ids=list(SHARED))
def segment(request: pytest.FixtureRequest) -> Segment:
    ids = np.random.default_rng(8).permutation(len(request.param)).astype(np.int64)
    return Segment(sorted_rows(Rows(request.param, ids)))


@pytest.mark.parametrize("radius", range(9))
def test_a_segment_returns_every_row_within_the_radius(segment: Segment, radius: int) -> None:
    rows = segment.rows
    values = [*planted(rows.fingerprints, 4, radius + 1, seed=radius), 0, 777, 2**64 - 1]
    batch = answers([segment], np.array(values, np.uint64), radius)
    for place, value in enumerate(values):
        wanted = scanned(rows.fingerprints, rows.ids, value, radius)
        found = segment.near(np.uint64(value), blocks_of(value), radius, None)
        assert ordered([found] if found else []) == wanted
        first = segment.near(np.uint64(value), blocks_of(value), radius, 3)
        assert ordered([first] if first else [], 3) == wanted[:3]
        here = batch.positions == place
        assert list(zip(batch.ids[here], batch.distances[here], strict=True)) == wanted


@pytest.mark.parametrize("count", [1, 2, 7, 8, 63, 64, 65, 1000])
def test_small_tables_have_short_lists_of_starts(count: int) -> None:
    tables = Tables(np.sort(EVEN[:count]))
    assert tables.size_bytes <= 4 * 4 * count + 4 * 4 * (count // 4 + 2)


def test_equal_fingerprints_are_one_candidate() -> None:
    rows = np.sort(np.concatenate([EVEN[:1000], np.full(50_000, 777, np.uint64)]))
    candidates = Tables(rows).candidates(blocks_of(777), 3)
    assert candidates is not None
    assert len(candidates) < 200


def test_a_block_shared_by_all_does_not_make_every_row_a_candidate() -> None:
    fingerprints = np.sort(SHARED["one block shared by all"])
    candidates = Tables(fingerprints).candidates(blocks_of(int(fingerprints[5])), 3)
    assert candidates is not None
    assert len(candidates) < ROWS / 20
