import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.indexes.arrays import Signatures
from neardup.indexes.banding import Banding
from neardup.indexes.lsh import LshIndex
from neardup.indexes.lsh_few import MAX_FEW, FewRows
from neardup.indexes.lsh_rows import keys_of, sketches_of
from neardup.indexes.lsh_tables import UNLIMITED, LshTables
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


def both(
    values: Signatures, ids: npt.NDArray[np.int64], shape: Banding
) -> tuple[FewRows, LshTables]:
    few = FewRows(values.shape[1], shape, keep_fresh=True)
    tables = LshTables(values.shape[1], shape, keep_fresh=True)
    for held in (few, tables):
        held.extend(values, ids)
    return few, tables


class TestFewRowsProperties:
    @unhurried
    @given(st.data(), shapes)
    def test_keys_and_sketches_are_those_of_the_tables(
        self, data: st.DataObject, used: tuple[int, Banding]
    ) -> None:
        permutations, shape = used
        values = data.draw(signatures(permutations))
        few, tables = both(values, np.arange(len(values)), shape)
        assert [part.tolist() for part in few.fresh()] == [part.tolist() for part in tables.fresh()]
        assert few.fresh().keys.tolist() == keys_of(values, shape).tolist()
        assert few.fresh().sketches.tolist() == sketches_of(values).tolist()

    @unhurried
    @given(st.data(), shapes)
    def test_answers_are_those_of_the_tables(
        self, data: st.DataObject, used: tuple[int, Banding]
    ) -> None:
        permutations, shape = used
        values = data.draw(signatures(permutations))
        ids = np.random.default_rng(len(values)).integers(0, 30, len(values))
        few, tables = both(values, ids, shape)
        asked = np.concatenate((values[::3], data.draw(signatures(permutations))))
        max_unequal = data.draw(st.integers(0, permutations))
        answers = few.find_many(asked, UNLIMITED, max_unequal)
        expected = tables.find_many(asked, UNLIMITED, max_unequal)
        for one, other in zip(answers, expected, strict=True):
            assert one.dtype == other.dtype
            assert one.tolist() == other.tolist()

    @unhurried
    @given(st.data(), shapes, st.integers(1, 12))
    def test_a_limit_leaves_the_nearest(
        self, data: st.DataObject, used: tuple[int, Banding], limit: int
    ) -> None:
        permutations, shape = used
        values = data.draw(signatures(permutations))
        few, tables = both(values, np.arange(len(values))[::-1].copy(), shape)
        max_unequal = data.draw(st.integers(0, permutations))
        found = few.find_many(values, limit, max_unequal)
        queries, ids, unequal = tables.find_many(values, UNLIMITED, max_unequal)
        expected = [
            row
            for query in range(len(values))
            for row in [
                row
                for row in zip(queries.tolist(), ids.tolist(), unequal.tolist(), strict=True)
                if row[0] == query
            ][:limit]
        ]
        assert list(zip(*(part.tolist() for part in found), strict=True)) == expected

    @unhurried
    @given(st.data(), shapes, st.integers(0, 80))
    def test_moves_into_tables_with_what_no_file_holds(
        self, data: st.DataObject, used: tuple[int, Banding], flushed: int
    ) -> None:
        permutations, shape = used
        values = data.draw(signatures(permutations))
        few, tables = both(values, np.arange(len(values)), shape)
        flushed = min(flushed, len(values))
        few.forget_fresh(flushed)
        tables.forget_fresh(flushed)
        moved = few.in_tables()
        for held in (moved, tables):
            held.extend(values, np.arange(len(values)) + 100)
            assert held.fresh_from == flushed
        assert [part.tolist() for part in moved.fresh()] == [
            part.tolist() for part in tables.fresh()
        ]
        answers = moved.find_many(values, UNLIMITED, permutations)
        expected = tables.find_many(values, UNLIMITED, permutations)
        assert [part.tolist() for part in answers] == [part.tolist() for part in expected]


class TestFewRows:
    def test_many_queries_are_answered_in_order(self) -> None:
        values = scattered(3, MAX_FEW, 64)
        few, tables = both(values, np.arange(MAX_FEW), Banding(16, 4))
        asked = np.tile(values, (5, 1))
        answers = few.find_many(asked, 3, 64)
        assert answers[0].tolist() == list(range(5 * MAX_FEW))
        expected = tables.find_many(asked, 3, 64)
        assert [part.tolist() for part in answers] == [part.tolist() for part in expected]

    def test_signatures_of_very_many_values_are_held_in_steps(self) -> None:
        values = scattered(4, 40, 1 << 16)
        few = FewRows(1 << 16, Banding(4, 8), keep_fresh=True)
        few.extend(values, np.arange(40))
        assert [sketches_of(one[np.newaxis])[0].tolist() for one in values] == (
            few.fresh().sketches.tolist()
        )

    @pytest.mark.parametrize("more", [-1, 0, 1])
    @pytest.mark.parametrize("at_once", [True, False])
    def test_an_index_answers_on_both_sides_of_the_bound(self, more: int, at_once: bool) -> None:
        count = MAX_FEW + more
        values, index = scattered(5, count, 64), LshIndex(permutations=64, shape=(16, 4))
        if at_once:
            index.add_many(values, np.arange(count))
        else:
            for number in range(count):
                index.add(values[number], number)
        assert len(index) == count
        assert index.query_many(values).ids.tolist() == list(range(count))
        assert [index.query(one)[0].id for one in values] == list(range(count))
