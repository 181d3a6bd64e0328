from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.fingerprints.winnowing import Sample
from neardup.indexes.arrays import Ids
from neardup.indexes.lsh import LshIndex
from neardup.indexes.passages import (
    MAX_TEXTS,
    PASSAGE_BANDING,
    add_sample,
    shared_passages,
)

samples = st.lists(st.integers(0, 30), min_size=1, max_size=12, unique=True).map(
    lambda values: np.array(sorted(values), np.uint32)
)


def new_index() -> LshIndex:
    return LshIndex(permutations=1, shape=PASSAGE_BANDING)


class TestSharedPassagesProperties:
    @given(st.lists(samples, max_size=60), samples)
    def test_equals_a_table_of_the_first_texts_of_each_value(
        self, held: list[Sample], asked: Sample
    ) -> None:
        index, table = new_index(), dict[int, list[int]]()
        for number, values in enumerate(held):
            add_sample(index, values, number)
            rare = [value for value in values.tolist() if len(table.get(value, ())) < MAX_TEXTS]
            for value in rare or values.tolist()[:1]:
                table.setdefault(value, []).append(number)
        found = shared_passages(index, asked)
        rare = [value for value in asked.tolist() if len(table.get(value, ())) < MAX_TEXTS]
        counts = Counter(number for value in rare for number in table.get(value, ()))
        assert dict(zip(found.ids.tolist(), found.counts.tolist(), strict=True)) == counts
        assert asked[found.is_rare].tolist() == rare

    @given(st.lists(st.tuples(samples, st.booleans()), max_size=60), samples)
    def test_texts_that_are_gone_count_no_more(
        self, held: list[tuple[Sample, bool]], asked: Sample
    ) -> None:
        index, table, gone = new_index(), dict[int, set[int]](), set[int]()

        def gone_among(ids: Ids) -> set[int]:
            return gone.intersection(ids.tolist())

        for number, (values, is_gone) in enumerate(held):
            add_sample(index, values, number, shared_passages(index, values, gone_among))
            rare = [one for one in values.tolist() if len(table.get(one, set()) - gone) < MAX_TEXTS]
            for value in rare or values.tolist()[:1]:
                table.setdefault(value, set()).add(number)
            if is_gone:
                gone.add(number)
        found = shared_passages(index, asked, gone_among)
        stored = {value: table.get(value, set()) - gone for value in asked.tolist()}
        rare = [value for value, numbers in stored.items() if len(numbers) < MAX_TEXTS]
        counts = Counter(number for value in rare for number in stored[value])
        assert dict(zip(found.ids.tolist(), found.counts.tolist(), strict=True)) == counts
        assert asked[found.is_rare].tolist() == rare

    @given(st.lists(samples, min_size=1, max_size=60))
    def test_each_text_is_held(self, held: list[Sample]) -> None:
        index = new_index()
        for number, values in enumerate(held):
            add_sample(index, values, number)
        assert sorted({*index.ids().tolist()}) == list(range(len(held)))
        for number, values in enumerate(held):
            found = index.query_many_ids(values[:, np.newaxis])[1]
            assert number in found
            assert len(held) not in found


@pytest.mark.parametrize("texts", [MAX_TEXTS, 200])
def test_a_template_takes_memory_for_so_many_texts(texts: int) -> None:
    index, template = new_index(), np.arange(500, dtype=np.uint32)
    for number in range(texts):
        add_sample(index, template, number)
    assert len(index) == 500 * MAX_TEXTS + texts - MAX_TEXTS
    assert not shared_passages(index, template).ids.size
