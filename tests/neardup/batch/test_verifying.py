"""Which pairs are confirmed, and which are told apart by their names, against each pair alone."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import Parameters
from neardup.batch.joining import _confirmed
from neardup.names import difference, name_of
from neardup.verification import JaccardVerifier, compared_with
from neardup.whole import part_of, with_whole
from tests.neardup.texts import changed, prose

TEXTS = [changed(prose(1, 100), seed, count) for seed, count in enumerate((0, 1, 2, 6, 20))]
WHOLES = [with_whole(part, whole) for part in TEXTS[:2] for whole in TEXTS[2:4]]
TITLES = [None, "Widget", "Gadget"]

sides = st.tuples(st.sampled_from([*TEXTS, *WHOLES]), st.sampled_from(TITLES))
pairs = st.lists(st.tuples(sides, sides), max_size=30)


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("compare_names", [True, False])
@settings(deadline=None)
@given(pairs=pairs, batch=st.integers(1, 40), per_place=st.integers(1, 40))
def test_each_pair_is_confirmed_as_if_it_were_alone(
    *,
    pairs: list[tuple[tuple[str, str | None], tuple[str, str | None]]],
    batch: int,
    per_place: int,
    verify: bool,
    compare_names: bool,
) -> None:
    parameters = Parameters(verify=verify, compare_names=compare_names)
    columns = {
        "place": pa.int64(), "first": pa.int64(), "second": pa.int64(), "distance": pa.int16(),
        "text": pa.string(), "title": pa.string(),
    }  # fmt: skip
    texts, candidates = [], []
    for number, sides in enumerate(pairs):
        first, second, place = 2 * number, 2 * number + 1, number // per_place
        for text_id, (text, title) in zip((first, second), sides, strict=True):
            texts.append((place, text_id, None, None, text, title))
        candidates.append((place, first, second, 3, None, None))
    rows = sorted([*texts, *candidates], key=lambda row: (row[0], row[2] or -1, row[1]))
    schema = pa.schema(list(columns.items()))
    table = pa.Table.from_pylist([dict(zip(columns, row, strict=True)) for row in rows], schema)
    found = [
        row
        for part in _confirmed(parameters)(iter(table.to_batches(max_chunksize=batch)))
        for row in part.to_pylist()
    ]
    expected = []
    for place, ((text, title), (other, other_title)) in enumerate(pairs):
        similarity = None
        if verify:
            least = parameters.min_similarity
            similarity = compared_with(JaccardVerifier(), other, min_similarity=least)(text)
        if similarity is not None and similarity < parameters.min_similarity:
            continue
        ours = name_of(part_of(text), title=title or "")
        theirs = name_of(part_of(other), title=other_title or "")
        is_other = compare_names and bool(difference(ours, theirs))
        values = (2 * place, 2 * place + 1, 3, similarity, is_other)
        names = ("first", "second", "distance", "similarity", "is_other")
        expected.append(dict(zip(names, values, strict=True)))
    assert found == expected
