import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.features.hashing import GOLDEN
from neardup.indexes.arrays import Signatures
from neardup.indexes.banding import Banding
from neardup.indexes.lsh import UNLIMITED
from neardup.indexes.lsh_tables import LshTables, factors_of
from tests.neardup.indexes.generated import scattered, unhurried

shapes = st.sampled_from(
    [(16, Banding(16, 1)), (17, Banding(4, 4)), (64, Banding(16, 4)), (3, Banding(1, 3))]
)


@st.composite
def signatures(draw: st.DrawFn, permutations: int) -> Signatures:
    """Signatures of few or of all values, many of them equal in most places or in all."""
    seed, count = draw(st.integers(0, 2**20)), draw(st.integers(0, 80))
    drawn = scattered(seed, count, permutations, values=draw(st.sampled_from([1, 2, 5, 2**32])))
    edges = np.array([0, 1, 2**31, 2**32 - 1], np.uint32)
    random = np.random.default_rng(seed)
    share = draw(st.sampled_from([0.0, 0.1, 1.0]))
    drawn = np.where(random.random(drawn.shape) < share, random.choice(edges, drawn.shape), drawn)
    if draw(st.booleans()) and count:
        drawn[count // 3 :] = drawn[0]
    return np.ascontiguousarray(drawn, np.uint32)


def keys_of(values: Signatures, shape: Banding) -> list[list[int]]:
    factors, used = factors_of(*shape), shape.bands * shape.rows
    products = values[:, :used].astype(np.uint64) * factors[:used]
    totals = products.reshape(len(values), *shape).sum(axis=2) + factors[used:]
    keys: list[list[int]] = (totals >> np.uint64(32)).tolist()
    return keys


def nibbles_of(values: Signatures) -> npt.NDArray[np.uint64]:
    """Return the upper four bits of a multiple of each value."""
    nibbles: npt.NDArray[np.uint64] = values.astype(np.uint64) * GOLDEN >> np.uint64(60)
    return nibbles


def sketches_of(values: Signatures) -> list[list[int]]:
    return [
        [
            sum(nibble << 4 * place for place, nibble in enumerate(row[first : first + 16]))
            for first in range(0, len(row), 16)
        ]
        for row in nibbles_of(values).tolist()
    ]


def filled(values: Signatures, shape: Banding) -> LshTables:
    tables = LshTables(values.shape[1], *shape)
    tables.add_many(values, np.arange(len(values)))
    return tables


@unhurried
@given(st.data(), shapes)
def test_keys_and_sketches_are_those_of_the_definition(
    data: st.DataObject, used: tuple[int, Banding]
) -> None:
    permutations, shape = used
    values = data.draw(signatures(permutations))
    ids, keys, sketches = filled(values, shape).stored_rows(0, len(values))
    assert ids.tolist() == list(range(len(values)))
    assert keys.tolist() == keys_of(values, shape)
    assert sketches.tolist() == sketches_of(values)


@unhurried
@given(st.data(), shapes)
def test_candidates_differ_in_what_their_sketches_do(
    data: st.DataObject, used: tuple[int, Banding]
) -> None:
    permutations, shape = used
    values = data.draw(signatures(permutations))
    positions, ids, unequal = filled(values, shape).find_many(values, UNLIMITED, permutations)
    nibbles = nibbles_of(values)
    expected = (nibbles[positions] != nibbles[ids]).sum(axis=1)
    assert unequal.tolist() == np.minimum(expected, -(-15 * permutations // 16)).tolist()


@unhurried
@given(st.data(), shapes)
def test_restored_rows_answer_as_those_that_were_added(
    data: st.DataObject, used: tuple[int, Banding]
) -> None:
    permutations, shape = used
    values = data.draw(signatures(permutations))
    added, restored = filled(values, shape), LshTables(permutations, *shape)
    restored.restore(*added.stored_rows(0, len(values)))
    for tables in (added, restored):
        tables.add_many(values, np.arange(len(values)) + 100)
    for one, other in zip(
        *(tables.stored_rows(0, len(tables)) for tables in (added, restored)), strict=True
    ):
        assert one.tolist() == other.tolist()
    answers = added.find_many(values, UNLIMITED, permutations)
    others = restored.find_many(values, UNLIMITED, permutations)
    assert [part.tolist() for part in answers] == [part.tolist() for part in others]


def test_signatures_of_very_many_values_are_held() -> None:
    values = scattered(4, 40, 1 << 16)
    assert filled(values, Banding(4, 8)).stored_rows(0, 40).sketches.tolist() == sketches_of(values)


@pytest.mark.parametrize("count", [20_000, 30_000])
def test_whole_keys_are_compared_in_few_and_in_many_buckets(count: int) -> None:
    values = scattered(6, count, 16)
    positions, ids, _ = filled(values, Banding(16, 1)).find_many(values, UNLIMITED, 16)
    assert positions[ids == positions].tolist() == list(range(count))
    # Each of 16 * count**2 pairs of keys is equal by chance once in 2**32.
    assert len(ids) - count < 30
