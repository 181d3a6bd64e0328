"""Halves, excerpts and wrapped copies of texts in several languages: which are told to be parts?

The texts come with the project, so this gate is never skipped. The floors are only ever raised.
"""

import random
from collections.abc import Callable

import pytest

from neardup import Deduplicator, tokens
from neardup.parts import MIN_CONTAINMENT
from neardup.verification import containment
from tests.quality.test_edits import TEXTS

WORDS = {name: words for name, text in TEXTS.items() if len(words := tokens(text)) >= 200}
SEEDS = 4

Words = list[str]
Cut = Callable[[Words, Words, random.Random], tuple[Words, Words]]


def half(words: Words, _: Words, source: random.Random) -> tuple[Words, Words]:
    middle = len(words) // 2
    return (words[:middle] if source.random() < 0.5 else words[middle:]), words


def excerpt(words: Words, _: Words, source: random.Random) -> tuple[Words, Words]:
    size = source.randrange(60, 100)
    start = source.randrange(len(words) - size)
    return words[start : start + size], words


def wrapped(words: Words, foreign: Words, source: random.Random) -> tuple[Words, Words]:
    place = source.randrange(len(foreign))
    return words, [*foreign[:place], *words, *foreign[place:]]


def torn(words: Words, foreign: Words, source: random.Random) -> tuple[Words, Words]:
    """A few words stand elsewhere with others in their middle."""
    size, half = source.randrange(50, 68), source.randrange(20, 30)
    start = source.randrange(len(words) - size)
    part, place = words[start : start + size], source.randrange(20, len(foreign) - 20)
    before, behind = foreign[place - 20 : place], foreign[place:]
    return part, [*foreign[:place], *part[:half], *before, *part[half:], *behind]


def edited(words: Words, foreign: Words, source: random.Random) -> tuple[Words, Words]:
    part, whole = half(words, foreign, source)
    part = list(part)
    for place in source.sample(range(len(part)), len(part) // 100):
        part[place] = source.choice(foreign)
    return part, whole


def nearly(words: Words, foreign: Words, source: random.Random) -> tuple[Words, Words]:
    part, whole = half(words, foreign, source)
    return [*part[len(part) // 4 :], *foreign[: len(part) // 3]], whole


@pytest.mark.parametrize("part_first", [True, False])
@pytest.mark.parametrize("cut", [half, excerpt, wrapped, torn, edited, nearly])
def test_parts_are_told_and_nothing_else(cut: Cut, part_first: bool) -> None:
    parts = found = told = 0
    for name, words in WORDS.items():
        for seed in range(SEEDS):
            source = random.Random(f"{name} {seed}")
            foreign = WORDS[source.choice([other for other in WORDS if other != name])]
            pair = tuple(map(" ".join, cut(words, foreign, source)))
            is_part = containment(*pair) >= MIN_CONTAINMENT
            deduplicator = Deduplicator()
            verdicts = [deduplicator.judge(n, pair[n != part_first]) for n in (0, 1)]
            is_told = verdicts[1].part_of is not None or bool(verdicts[1].parts)
            parts += is_part
            found += is_part and (is_told or verdicts[1].is_duplicate)
            told += is_told
            assert not is_told or is_part
    print(f"{cut.__name__}: {found} of {parts} parts found, {told} told")
    assert found >= 0.99 * parts
    assert bool(parts) == (cut is not nearly)
