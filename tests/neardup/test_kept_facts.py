"""Facts of kept texts in arrays: the same answers as a scan of the store, and no wrong "other"."""

from collections.abc import Collection

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kept_facts import (
    KeptFacts,
    StoredFacts,
    are_other,
    have_other_identifiers,
    identifier_marks_of,
    marks_of,
)
from neardup.names import NO_NAME, Name, difference, unpacked

words = st.sampled_from(["", "Widget", "(3) Widget", "Widget 2", "Shop", "Gadget", "shop "])
titles = st.lists(words, max_size=3).map(" | ".join)
openings = st.sampled_from(["", "Widget\nis here", "Gadget\nis there"])
identifiers = st.lists(
    st.sampled_from(["sku:1-23", "sku:123", "sku:456", "isbn:1", "isbn:2", "canonical:/a"]),
    max_size=3,
    unique=True,
).map(tuple)
names = st.builds(Name, title=titles, heading=words, opening=openings, identifiers=identifiers)
texts = st.dictionaries(
    st.integers(0, 9), st.tuples(st.integers(0, 15), names.map(Name.packed)), max_size=10
)


class Store:
    """A store of facts whose texts come and go."""

    def __init__(self) -> None:
        self.texts: dict[int, tuple[int, str]] = {}

    def facts_of(self, ids: Collection[int]) -> list[StoredFacts]:
        return [StoredFacts(number, *self.texts[number]) for number in ids if number in self.texts]


class TestMarksProperties:
    @given(names, st.lists(names, max_size=8))
    def test_a_name_that_marks_tell_to_be_other_is_other(
        self, name: Name, others: list[Name]
    ) -> None:
        marks = np.array([marks_of(other) for other in others], np.uint32).reshape(-1, 3)
        for other, told in zip(others, are_other(name, marks).tolist(), strict=True):
            assert not told or difference(name, other)
            assert not told or difference(other, name)
        rows = np.array([identifier_marks_of(other) for other in others], np.uint32).reshape(-1, 2)
        for other, told in zip(others, have_other_identifiers(name, rows).tolist(), strict=True):
            assert not told or difference(name, other)

    def test_they_are_the_same_in_every_process(self) -> None:
        name = Name("Lamp 2.0 (red) | Shöp", "Lamp")
        assert marks_of(name) == (1627478605, 2380476255, 456942899)
        assert marks_of(NO_NAME) == (0, 0, 0)

    def test_products_of_a_shop_are_told_by_them(self) -> None:
        products = [Name(f"Widget {one} | Shop", f"Widget {one}") for one in range(3)]
        headed = [Name("Shop", f"Widget {one}") for one in range(3)]
        titled = [Name(f"Widget {one} | Shop") for one in range(3)]
        for siblings in (products, headed, titled):
            marks = np.array([marks_of(one) for one in siblings], np.uint32)
            assert are_other(siblings[1], marks).tolist() == [True, False, True]

    def test_products_of_one_title_are_told_by_their_numbers(self) -> None:
        products = [Name("Widget", identifiers=("canonical:/a", f"sku:{n}")) for n in range(3)]
        marks = np.array([identifier_marks_of(one) for one in products], np.uint32)
        assert have_other_identifiers(products[1], marks).tolist() == [True, False, True]


class TestKeptFactsProperties:
    @given(st.lists(st.tuples(texts, st.sets(st.integers(0, 9)), names), max_size=5))
    def test_siblings_are_those_of_a_scan_of_the_store(
        self, steps: list[tuple[dict[int, tuple[int, str]], set[int], Name]]
    ) -> None:
        # Ten ids share four slots.
        facts, store = KeptFacts(slots=4), Store()
        for changed, asked, name in steps:
            for number in changed.keys() | store.texts.keys():
                if store.texts.get(number) != changed.get(number):
                    facts.forget(number)
            store.texts = changed
            found = facts.siblings(np.array(sorted(asked), np.int64), store, 5, name)
            wanted = sorted(
                ((5 ^ changed[number][0]).bit_count(), number) for number in asked & changed.keys()
            )
            assert list(zip(found.distances.tolist(), found.ids.tolist(), strict=True)) == wanted
            assert [*sorted([*found.possible(), *found.others()], key=lambda one: one[::-1])] == [
                (number, distance) for distance, number in wanted
            ]
            for other in found.others():
                assert difference(name, unpacked(changed[other.id][1]))

    @given(st.lists(names, min_size=1, max_size=5))
    def test_no_name_is_other_than_none(self, others: list[Name]) -> None:
        store = Store()
        store.texts = {number: (number, name.packed()) for number, name in enumerate(others)}
        found = KeptFacts().siblings(np.arange(len(others)), store, 0, NO_NAME)
        assert len(found.possible()) == len(others)
