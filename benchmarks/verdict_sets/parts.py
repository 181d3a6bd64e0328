"""Texts that stand in others: how many are told to be parts, and how many of those are?

Halves, excerpts, and copies inside foreign text are made of real texts; each part comes once after
the text that holds it, and once before. What share of a part stands in a text is counted by brute
force, as sets of tuples of words.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from neardup import Deduplicator, tokens
from neardup.parts import MIN_CONTAINMENT
from verdict_sets.edits import TEXTS, passages, shingles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from neardup import Parameters

    Words = list[str]
    Cut = Callable[[Words, Words, random.Random], "tuple[Words, Words]"]

_EXCERPT = 10
"""An excerpt has this part of its text."""

_CHANGED = 0.012
"""The share of words that are replaced in a part; it then has some .94 of its shingles."""

_FOREIGN = 0.2
"""The share of words in a row that are replaced in what is nearly a part."""


def _half(words: Words, _: Words, source: random.Random) -> tuple[Words, Words]:
    half = len(words) // 2
    return (words[:half] if source.random() < 0.5 else words[half:]), words


def _excerpt(words: Words, _: Words, source: random.Random) -> tuple[Words, Words]:
    size = max(50, len(words) // _EXCERPT)
    start = source.randrange(len(words) - size + 1)
    return words[start : start + size], words


def _wrapped(words: Words, foreign: Words, source: random.Random) -> tuple[Words, Words]:
    before, behind = (_block(foreign, len(words), source) for _ in range(2))
    return words, [*before, *words, *behind]


def _torn(words: Words, foreign: Words, source: random.Random) -> tuple[Words, Words]:
    _, whole = _wrapped(words, foreign, source)
    middle = len(whole) // 2
    return words, [*whole[:middle], *_block(foreign, 20, source), *whole[middle:]]


def _edited(words: Words, foreign: Words, source: random.Random) -> tuple[Words, Words]:
    part, whole = _half(words, foreign, source)
    part = list(part)
    for place in source.sample(range(len(part)), int(_CHANGED * len(part))):
        part[place] = source.choice(foreign)
    return part, whole


def _nearly(words: Words, foreign: Words, source: random.Random) -> tuple[Words, Words]:
    part, whole = _half(words, foreign, source)
    count = round(_FOREIGN * len(part))
    return [*part[count:], *_block(foreign, count, source)], whole


def _block(foreign: Words, count: int, source: random.Random) -> Words:
    start = source.randrange(len(foreign) - count)
    return foreign[start : start + count]


CUTS: Mapping[str, Cut] = {
    "half": _half,
    "half, words replaced": _edited,
    "excerpt": _excerpt,
    "inside foreign text": _wrapped,
    "inside foreign text, torn": _torn,
    "four fifths of a half": _nearly,
}


class Cutting(NamedTuple):
    """A text, and one that is cut out of it or holds it."""

    part: str
    whole: str


class Told(NamedTuple):
    """What was told of parts, by length and kind.

    Attributes:
        parts: Texts of which nine tenths stand in the text that they were cut from.
        found: Those of them that were told to be parts of a text, or repeat one.
        told: Texts that were told to be parts, of any text.
        right: Those of them of which nine tenths stand there.
    """

    parts: Counter[tuple[int, str]]
    found: Counter[tuple[int, str]]
    told: Counter[tuple[int, str]]
    right: Counter[tuple[int, str]]


def told_parts(texts: Iterable[str], parameters: Parameters) -> Told:
    """Judge parts and wholes of real texts in both orders, and count what is told.

    Texts of fewer than ``min_words`` words are compared by equality alone and left out.
    """
    words = [tokens(text) for text in texts]
    random.Random("order").shuffle(words)
    found = Told(Counter(), Counter(), Counter(), Counter())
    for length, count in TEXTS.items():
        for kind, cut in CUTS.items():
            cuttings = [
                one
                for one in _cuttings(passages(words, length, count), words, cut)
                if len(one.part.split()) >= parameters.min_words and one.part != one.whole
            ]
            for is_first in (False, True):
                _judge(cuttings, parameters, (length, kind), found, part_first=is_first)
    return found


def _cuttings(some: Iterable[Words], texts: Sequence[Words], cut: Cut) -> Iterator[Cutting]:
    for words in some:
        source = random.Random(" ".join(words))
        foreign = [word for text in source.sample(texts, 40) for word in text]
        foreign *= 1 + 2 * len(words) // len(foreign)
        part, whole = cut(words, foreign, source)
        yield Cutting(" ".join(part), " ".join(whole))


def _judge(
    cuttings: Sequence[Cutting],
    parameters: Parameters,
    key: tuple[int, str],
    found: Told,
    *,
    part_first: bool,
) -> None:
    texts: list[str] = []
    named: dict[int, int] = {}
    duplicates: set[int] = set()
    with Deduplicator(parameters) as deduplicator:
        for one in cuttings:
            for text in (one.part, one.whole) if part_first else (one.whole, one.part):
                verdict = deduplicator.judge(len(texts), text)
                if verdict.part_of is not None:
                    named[len(texts)] = verdict.part_of
                named.update((part.id, len(texts)) for part in verdict.parts)
                if verdict.is_duplicate:
                    duplicates.add(len(texts))
                texts.append(text)
    for part, whole in named.items():
        found.told[key] += 1
        found.right[key] += share(texts[part], texts[whole]) >= MIN_CONTAINMENT
    for number, one in enumerate(cuttings):
        if share(one.part, one.whole) >= MIN_CONTAINMENT:
            part = 2 * number + (not part_first)
            whole = 4 * number + 1 - part
            found.parts[key] += 1
            found.found[key] += part in named or part in duplicates or whole in duplicates


def share(part: str, whole: str) -> float:
    """Return the share of a text's shingles that stand in another one."""
    ours = shingles(part.split())
    return len(ours & shingles(whole.split())) / len(ours)
