"""Segments large enough for all buckets, neighbours and plans; small ones are in test_hamming."""

import numpy as np
import numpy.typing as npt
import pytest

from neardup import HammingIndex
from neardup.indexes.segment import bucket_bits
from tests.neardup.indexes.generated import planted, scanned

pytestmark = pytest.mark.slow

ROWS = 60_000


def evenly_spread(count: int) -> npt.NDArray[np.uint64]:
    return np.random.default_rng(7).integers(0, 2**64, count, dtype=np.uint64)


def leaning(count: int) -> npt.NDArray[np.uint64]:
    """Every bit mostly the same, as with word counts: blocks collide 400 times as often."""
    bits = np.random.default_rng(8).random((count, 64)) < 0.16
    return np.packbits(bits, axis=1).view(np.uint64).ravel()


EVEN = evenly_spread(ROWS)
FINGERPRINTS = {
    "spread evenly": EVEN,
    "leaning": leaning(ROWS),
    "one block shared by all": EVEN & np.uint64(0x0000FFFFFFFFFFFF) | np.uint64(0x1234 << 48),
    "two blocks shared by all": EVEN & np.uint64(0xFFFF00000000FFFF),
    "three blocks shared by nearly all": np.where(
        np.arange(ROWS) % 50 == 0, EVEN, EVEN & np.uint64(0xFFFF)
    ),
    "one fingerprint of a third": np.where(np.arange(ROWS) % 3 == 0, np.uint64(777), EVEN),
    "one fingerprint of all": np.full(2_000, 777, np.uint64),
    "in a row": np.arange(ROWS, dtype=np.uint64),
    "in a row of high bits": np.arange(ROWS, dtype=np.uint64) << np.uint64(44),
}


@pytest.mark.parametrize("radius", range(9))
@pytest.mark.parametrize("name", FINGERPRINTS)
def test_a_segment_returns_every_row_within_the_radius(name: str, radius: int) -> None:
    stored = FINGERPRINTS[name]
    ids = np.random.default_rng(8).permutation(len(stored)).astype(np.int64)
    index = HammingIndex(radius=radius)
    index.add_many(stored, ids)
    values = [*planted(stored, 4, radius + 1, seed=radius), 0, 777, 2**64 - 1]
    batch = index.query_many(np.array(values, np.uint64))
    first = index.query_many(values, limit=3)
    for place, value in enumerate(values):
        wanted = scanned(stored, ids, value, radius)
        assert index.query(value, limit=3) == wanted[:3]
        here = batch.positions == place
        assert list(zip(batch.ids[here], batch.distances[here], strict=True)) == wanted
        here = first.positions == place
        assert list(zip(first.ids[here], first.distances[here], strict=True)) == wanted[:3]


def test_more_than_half_a_million_rows_use_whole_blocks_as_buckets() -> None:
    stored = evenly_spread(530_000)
    index = HammingIndex()
    index.add_many(stored, np.arange(len(stored)))
    assert bucket_bits(len(stored)) == 16
    values = planted(stored, 20, 3, seed=1)
    wanted = [scanned(stored, np.arange(len(stored)), value, 3) for value in values]
    assert [index.query(value) for value in values] == wanted
    # Around the ends of the tables, where rows are compared past the last one.
    for value in (int(stored.max()), int(stored.min()), 0, 2**64 - 1):
        assert index.query(value) == scanned(stored, np.arange(len(stored)), value, 3)


@pytest.mark.parametrize("blocks", range(4, 10))
def test_all_pairs_within_a_distance_are_found_among_planted_ones(blocks: int) -> None:
    """What seomoz's simhash-py tests for 4 to 9 blocks, whose distance is one less."""
    radius = blocks - 1
    random = np.random.default_rng(blocks)
    centres = random.integers(0, 2**64, 500, dtype=np.uint64)
    stored = np.array(
        [
            centre ^ 1 << bit
            for centre in centres.tolist()
            for bit in random.choice(64, 6, replace=False).tolist()
        ],
        np.uint64,
    )
    stored = np.concatenate([stored, random.integers(0, 2**64, 20_000, dtype=np.uint64)])
    index = HammingIndex(radius=radius)
    index.add_many(stored, np.arange(len(stored)))
    found = index.query_many(stored[:3000])
    once = found.ids < found.positions
    pairs = set(zip(found.positions[once].tolist(), found.ids[once].tolist(), strict=True))
    distances = np.bitwise_count(stored[:3000, np.newaxis] ^ stored[:3000])
    wanted = {(a, b) for a, b in np.argwhere(distances <= radius).tolist() if b < a}
    assert pairs == wanted
    assert len(wanted) >= 500 * 15


def test_an_answer_larger_than_the_room_is_whole_and_the_next_ones_too() -> None:
    index = HammingIndex(radius=0)
    index.add_many(np.full(300_000, 5, np.uint64), np.arange(300_000))
    found = index.query_many([5, 6, 5])
    assert np.bincount(found.positions, minlength=3).tolist() == [300_000, 0, 300_000]
    assert found.ids.tolist() == [*range(300_000), *range(300_000)]
    assert len(index.query(5)) == 300_000
    assert index.query_ids(5, 0).tolist() == [*range(300_000)]
    assert index.query_many([5, 6, 5], limit=2).ids.tolist() == [0, 1, 0, 1]
    assert len(index.query(5)) == 300_000
