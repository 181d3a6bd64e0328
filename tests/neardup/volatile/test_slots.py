"""Words of names that may change: which slots a name has, and what is the same without them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.names import Name
from neardup.volatile.slots import change, filled, masked, slots


def titled(title: str) -> Name:
    return Name(title=title, heading="Red lamp")


@pytest.mark.parametrize(
    ("before", "after", "changed"),
    [
        ("Red lamp | seen 999 times", "Red lamp | seen 1,000 times", "title+:1:seen #0 times"),
        ("Red lamp seen 5 times", "Red lamp seen 6 times", "title:3:red lamp seen #0 times"),
        ("Red lamp - 14:05", "Red lamp - 9:07", "title+:0:#0:0"),
        ("News of 23 May", "News of 23 June", "title:3:news of #0 #month"),
        ("Shop | id a3f9c1d2", "Shop | id 77b0e2c4", "title+:1:id #id"),
    ],
)
def test_a_word_that_changes_is_told_by_those_around_it(
    before: str, after: str, changed: str
) -> None:
    found = change(titled(before), titled(after))
    assert found is not None
    assert found.changed == {changed}
    assert filled(titled(before), found.changed) == filled(titled(after), found.changed)
    assert filled(titled(before), ()) == titled(before)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Red lamp | 3000", "Red lamp | 4000"),
        ("3000", "4000"),
        ("14:05 | Red lamp", "14:06 | Red lamp"),
        ("Red lamp | seen 5 times", "Blue lamp | seen 6 times"),
        ("C++ | seen 5 times", "C# | seen 6 times"),
        ("Down to -5 degrees", "Down to +6 degrees"),
        ("Red lamp | seen 5 times", "Red lamp | bought 6 times"),
        ("Red lamp | seen 5 times", "Red lamp | seen 5 times | new"),
        ("Red lamp | seen 5 times", "Red lamp | seen five times"),
    ],
)
def test_other_words_and_bare_numbers_are_in_no_slot(before: str, after: str) -> None:
    assert change(titled(before), titled(after)) is None


def test_words_that_stay_are_told_too() -> None:
    found = change(titled("Model 3000 seen 5 times"), titled("Model 3000 seen 6 times"))
    assert found is not None
    assert found.fixed == {"title:1:model #0 seen #0 times"}
    assert found.changed == {"title:3:model #0 seen #0 times"}
    assert found.words == {"5", "6"}
    assert slots(titled("Model 3000 seen 5 times")) == found.fixed | found.changed


def test_another_identifier_or_opening_is_another_thing() -> None:
    name = Name(title="Seen 5 times", identifiers=("sku:A-100",))
    assert change(name, Name(title="Seen 6 times", identifiers=("sku:A-200",))) is None
    assert change(name, Name(title="Seen 6 times", opening="Other")) is None


@pytest.mark.parametrize(
    ("text", "words", "wanted"),
    [
        ("5 of 15, 5.", {"5"}, "_ of 15, _."),
        ("at 14:05 and 4:05", {"14:05", "4:05"}, "at _ and _"),
        ("at (5)", set(), "at (5)"),
    ],
)
def test_whole_words_are_masked(text: str, words: set[str], wanted: str) -> None:
    assert masked(text, words) == wanted


_WORDS = st.sampled_from(["lamp", "red", "seen", "5", "77", "14:05", "May", "a1b2c3d4"])
_SEGMENTS = st.lists(_WORDS, min_size=1, max_size=4).map(" ".join)
_TITLES = st.lists(_SEGMENTS, min_size=1, max_size=3).map(" | ".join)
_NAMES = st.builds(Name, title=_TITLES, heading=_TITLES, subheading=_TITLES)


class TestFilledProperties:
    @given(_NAMES, _NAMES)
    def test_names_are_the_same_only_where_they_differ_in_volatile_slots(
        self, one: Name, other: Name
    ) -> None:
        every = sorted(slots(one) | slots(other))
        for volatile in (every, every[::2], every[:1]):
            if filled(one, volatile) == filled(other, volatile):
                found = change(one, other)
                assert found is not None
                assert found.changed <= set(volatile)

    @given(_NAMES, st.data())
    def test_names_that_differ_in_slots_alone_are_the_same_when_these_are_filled(
        self, name: Name, data: st.DataObject
    ) -> None:
        numbers = {"5": "6,234", "77": "8", "14:05": "9:59", "May": "June", "a1b2c3d4": "9f8e7d6c"}
        words = name.title.split(" ")
        others = [data.draw(st.sampled_from([word, numbers.get(word, word)])) for word in words]
        other = Name(title=" ".join(others), heading=name.heading, subheading=name.subheading)
        found = change(name, other)
        # A segment of nothing but such words has no slot, so that its words are the name.
        has_bare = any(set(part.split()) <= numbers.keys() for part in name.title.split(" | "))
        assert found is not None or has_bare
        if found is not None:
            assert filled(name, found.changed) == filled(other, found.changed)
