"""Which texts are kept, against the definition."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from neardup import clusters
from neardup.batch.deciding import _decide

edges = st.sets(
    st.tuples(st.integers(0, 30), st.integers(0, 30)).filter(lambda pair: pair[0] < pair[1]),
    max_size=60,
)


def decided(pairs: set[tuple[int, int]], batch: int) -> set[int]:
    """What is dropped, from pairs as Spark sorts them."""
    roots = {node: one.representative for one in clusters(pairs) for node in one.members}
    rows = sorted((roots[second], second, first) for first, second in pairs)
    columns = [[row[place] for row in rows] for place in (0, 2, 1)]
    kinds = pa.schema([(name, pa.int64()) for name in ("root", "first", "second")])
    table = pa.table(dict(zip(kinds.names, columns, strict=True)), schema=kinds)
    found = _decide(iter(table.to_batches(max_chunksize=batch)))
    return {number for part in found for number in part["id"].to_pylist()}


class TestDecidingProperties:
    @given(edges, st.integers(1, 20))
    def test_exactly_what_repeats_a_kept_text_is_dropped(
        self, pairs: set[tuple[int, int]], batch: int
    ) -> None:
        dropped = decided(pairs, batch)
        for text in range(31):
            near_kept = {first for first, second in pairs if second == text} - dropped
            assert (text in dropped) == bool(near_kept)

    @given(edges)
    def test_no_two_kept_texts_are_a_pair(self, pairs: set[tuple[int, int]]) -> None:
        dropped = decided(pairs, 7)
        assert all({first, second} & dropped for first, second in pairs)
