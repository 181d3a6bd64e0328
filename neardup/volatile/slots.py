"""Tell the words of a name that change although the text does not: counters, clocks, session ids.

A *slot* is the place of such a word, told by the words around it::

    slot     field ["+"] ":" place ":" pattern
    pattern  the words of a segment of a title or a heading in lower case; a word that may be in a
             slot stands as "#" and its shape: one 0 for each number in it, or what it is

``Red lamp | seen 1,234 times`` and ``Blue lamp | seen 99 times`` have the slot ``title+:1:seen #0
times``: the second word of a segment behind the first one. A word that is a slot's stands for none
but itself, so that names are the same only where they are equal outside of slots.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from neardup.names import Name
from neardup.titles import SEPARATOR

_FILLING = str.maketrans({"#": "_", ".": "d", ",": "k", ":": "c", "/": "s", "-": "m"})
"""Turns a shape into one word, which stands in a slot."""

_MASK = "_"
_FIELDS = ("title", "heading", "subheading")
_WORD = re.compile(r"\w+(?:[.,:/-]\w+)*")
_NUMBER = re.compile(r"\d+(?:[.,]\d{3})*")
_SESSION = re.compile(r"(?=[a-z]*\d)(?=\d*[a-z])[a-z0-9]{8,}")
_OF_TIME = {
    "#day": "mon tue wed thu fri sat sun monday tuesday wednesday thursday friday saturday sunday",
    "#month": "jan feb mar apr may jun jul aug sep oct nov dec january february march april june "
    "july august september october november december",
    "#half": "am pm",
}
_SHAPES = {word: shape for shape, words in _OF_TIME.items() for word in words.split()}
_MAX_SEGMENTS = 16_384


class Slot(NamedTuple):
    """A word of a name that may change.

    Attributes:
        key: The slot.
        word: The word that stands there.
        shape: Its shape.
        start: Its place in the field, in characters.
    """

    key: str
    word: str
    shape: str
    start: int


class NameChange(NamedTuple):
    """The changes between two names of one URL that are equal outside of slots.

    Attributes:
        changed: Slots whose words differ.
        fixed: Slots whose words are the same.
        words: The words that differ, of both names.
    """

    changed: frozenset[str]
    fixed: frozenset[str]
    words: frozenset[str]


def slots(name: Name) -> frozenset[str]:
    """Return all slots of a name."""
    return frozenset(slot.key for _, found in _read(name) for slot in found)


def change(old: Name, new: Name) -> NameChange | None:
    """Return what changed between two names; None: more than words in slots.

    Complexity: O(length of the names).
    """
    if (old.opening, old.identifiers) != (new.opening, new.identifiers):
        return None
    changed: set[str] = set()
    fixed: set[str] = set()
    words: set[str] = set()
    for (before, ours), (after, theirs) in zip(_read(old), _read(new), strict=True):
        if before != after:
            return None
        for one, other in zip(ours, theirs, strict=True):
            if one.word == other.word:
                fixed.add(one.key)
            else:
                changed.add(one.key)
                words.update((one.word, other.word))
    return NameChange(frozenset(changed), frozenset(fixed), frozenset(words))


def filled(name: Name, volatile: Collection[str]) -> Name:
    """Return a name in which all words in some slots are the same.

    Args:
        name: The name.
        volatile: The slots.
    """
    changes = {}
    for field, (_, found) in zip(_FIELDS, _read(name), strict=True):
        text = getattr(name, field)
        wanted = [slot for slot in found if slot.key in volatile]
        for slot in reversed(wanted):
            end = slot.start + len(slot.word)
            text = f"{text[: slot.start]}{slot.shape.translate(_FILLING)}{text[end:]}"
        if wanted:
            changes[field] = text
    return replace(name, **changes) if changes else name


def masked(text: str, words: Collection[str]) -> str:
    """Return a text with the same word in place of each of some words."""
    if not words:
        return text
    ordered = sorted(words, key=len, reverse=True)
    pattern = "|".join(map(re.escape, ordered))
    return re.sub(rf"\b(?:{pattern})\b", _MASK, text)


def _read(name: Name) -> Iterator[tuple[tuple[str, ...], tuple[Slot, ...]]]:
    """Yield for each field its segments without what stands in slots, and its slots."""
    for field in _FIELDS:
        yield _read_field(field, getattr(name, field))


@lru_cache(_MAX_SEGMENTS)
def _read_field(field: str, text: str) -> tuple[tuple[str, ...], tuple[Slot, ...]]:
    bare: list[str] = []
    found: list[Slot] = []
    for start, end in _segments(text):
        words = list(_WORD.finditer(text, start, end))
        shapes = [_shape(word[0].casefold()) for word in words]
        is_first = not bare
        rest, of_segment = text[start:end], []
        if _tells_a_slot(shapes, is_first=is_first):
            key = " ".join(shapes)
            where = field if is_first else f"{field}+"
            of_segment = [
                Slot(f"{where}:{place}:{key}", word[0], shape, word.start())
                for place, (word, shape) in enumerate(zip(words, shapes, strict=True))
                if shape.startswith("#")
            ]
        for slot in reversed(of_segment):
            at = slot.start - start
            rest = f"{rest[:at]}{slot.shape}{rest[at + len(slot.word) :]}"
        bare.append(" ".join(rest.casefold().split()))
        found += of_segment
    return tuple(bare), tuple(found)


def _segments(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for separator in SEPARATOR.finditer(text):
        yield start, separator.start()
        start = separator.end()
    yield start, len(text)


def _shape(word: str) -> str:
    """Return the shape of a word that may be in a slot, or the word."""
    if word in _SHAPES:
        return _SHAPES[word]
    if not any(map(str.isdecimal, word)):
        return word
    return "#id" if _SESSION.fullmatch(word) else f"#{_NUMBER.sub('0', word)}"


def _tells_a_slot(shapes: list[str], *, is_first: bool) -> bool:
    """Whether a segment says what its numbers are.

    One of nothing but a number, such as that of a product, says so only as a time of day behind the
    first segment.
    """
    if any(not shape.startswith("#") for shape in shapes):
        return True
    return not is_first and any(":" in shape for shape in shapes)
