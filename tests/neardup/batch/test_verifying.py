"""Which pairs are confirmed, and which are told apart by their names, against each pair alone."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import Parameters, jaccard
from neardup.batch.verifying import _compared
from neardup.names import difference, name_of
from tests.neardup.texts import changed, prose

TEXTS = [changed(prose(1, 100), seed, count) for seed, count in enumerate((0, 1, 2, 6, 20))]
TITLES = [None, "Widget", "Gadget"]

sides = st.tuples(st.sampled_from(TEXTS), st.sampled_from(TITLES))
pairs = st.lists(st.tuples(sides, sides), max_size=30)


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("compare_names", [True, False])
@settings(deadline=None)
@given(pairs=pairs, batch=st.integers(1, 40))
def test_each_pair_is_compared_as_if_it_were_alone(
    *,
    pairs: list[tuple[tuple[str, str | None], tuple[str, str | None]]],
    batch: int,
    verify: bool,
    compare_names: bool,
) -> None:
    parameters = Parameters(verify=verify, compare_names=compare_names)
    kinds = {"first": pa.int64(), "second": pa.int64(), "distance": pa.int16()}
    names = ("first_text", "first_title", "second_text", "second_title")
    schema = pa.schema([*kinds.items(), *((name, pa.string()) for name in names)])
    rows = [
        dict(zip(schema.names, (place, place + 100, 3, *one, *other), strict=True))
        for place, (one, other) in enumerate(pairs)
    ]
    table = pa.Table.from_pylist(rows, schema)
    found = [
        row
        for part in _compared(parameters)(iter(table.to_batches(max_chunksize=batch)))
        for row in part.to_pylist()
    ]
    expected = []
    for place, ((text, title), (other, other_title)) in enumerate(pairs):
        similarity = jaccard(text, other) if verify else None
        if similarity is not None and similarity < parameters.min_similarity:
            continue
        ours, theirs = name_of(text, title=title or ""), name_of(other, title=other_title or "")
        is_other = compare_names and bool(difference(ours, theirs))
        values = (place, place + 100, 3, similarity, is_other)
        columns = ("first", "second", "distance", "similarity", "is_other")
        expected.append(dict(zip(columns, values, strict=True)))
    assert found == expected
