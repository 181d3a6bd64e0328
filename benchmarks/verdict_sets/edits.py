"""Edits of real texts at several lengths: how many of the similar ones are found?

The similarity of a text and its edition is counted by brute force, as sets of tuples of words.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from neardup import Deduplicator, tokens
from neardup.verdict import NEAR_DUPLICATE, SAME_TEMPLATE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from neardup import Parameters

    Words = list[str]
    Edit = Callable[[Words, int, Words, random.Random], Words]

TEXTS = {50: 300, 200: 200, 1000: 60, 5000: 20}
"""Texts of each length, in words."""

SHARES = (0.01, 0.02, 0.04, 0.07, 0.1, 0.15, 0.2, 0.3)
"""Shares of the words that are edited."""

BINS = ((0.8, 0.82), (0.82, 0.9), (0.9, 1.0))
"""Similarities that are counted apart, the lower bound included."""

_SIZE = 5
_MAX_KNOWN = 0.1


def _replaced(words: Words, count: int, foreign: Words, source: random.Random) -> Words:
    words = list(words)
    for place in source.sample(range(len(words)), min(count, len(words))):
        words[place] = source.choice(foreign)
    return words


def _inserted(words: Words, count: int, foreign: Words, source: random.Random) -> Words:
    place, start = source.randrange(len(words) + 1), source.randrange(len(foreign) - count)
    return [*words[:place], *foreign[start : start + count], *words[place:]]


def _deleted(words: Words, count: int, _: Words, source: random.Random) -> Words:
    place = source.randrange(len(words) - count + 1)
    return words[:place] + words[place + count :]


def _reordered(words: Words, count: int, _: Words, source: random.Random) -> Words:
    taken = source.randrange(len(words) - count + 1)
    rest = words[:taken] + words[taken + count :]
    place = source.randrange(len(rest) + 1)
    return [*rest[:place], *words[taken : taken + count], *rest[place:]]


def _framed(words: Words, count: int, foreign: Words, source: random.Random) -> Words:
    start = source.randrange(len(foreign) - count)
    block = foreign[start : start + count]
    return [*block[: count // 2], *words, *block[count // 2 :]]


def _halved(words: Words, count: int, foreign: Words, source: random.Random) -> Words:
    half = words[: len(words) // 2] if source.random() < 0.5 else words[len(words) // 2 :]
    return _replaced(half, count // 2, foreign, source)


EDITS: Mapping[str, Edit] = {
    "words replaced": _replaced,
    "a foreign block": _inserted,
    "a block deleted": _deleted,
    "a block moved": _reordered,
    "header and footer": _framed,
    "half": _halved,
}


class Edition(NamedTuple):
    """A text that was edited."""

    length: int
    edit: str
    original: str
    edited: str
    similarity: float


def editions(texts: Iterable[str]) -> Iterator[list[Edition]]:
    """Yield the editions of all texts of one length.

    Args:
        texts: Real texts; passages are taken from all of them in an order drawn by chance.
    """
    words = [tokens(text) for text in texts]
    random.Random("order").shuffle(words)
    for length, count in TEXTS.items():
        yield [edition for text in passages(words, length, count) for edition in _of(text, words)]


def passages(texts: Sequence[Words], length: int, count: int) -> Iterator[Words]:
    """Yield passages of so many words, which share few shingles with each other."""
    known: set[tuple[str, ...]] = set()
    left: Words = []
    for text in texts:
        own = shingles(text)
        if len(own & known) <= _MAX_KNOWN * len(own):
            known |= own
            left += text
        while len(left) >= length and count:
            yield left[:length]
            left, count = left[length:], count - 1


def _of(words: Words, texts: Sequence[Words]) -> Iterator[Edition]:
    source = random.Random(" ".join(words))
    foreign = [word for text in source.sample(texts, 40) for word in text]
    foreign *= 1 + 2 * len(words) // len(foreign)
    ours = shingles(words)
    for name, edit in EDITS.items():
        for share in SHARES:
            edited = edit(words, max(1, round(share * len(words))), foreign, source)
            theirs = shingles(edited)
            similarity = len(ours & theirs) / len(ours | theirs)
            yield Edition(len(words), name, " ".join(words), " ".join(edited), similarity)


def shingles(words: Words) -> set[tuple[str, ...]]:
    """Return the sets of words in a row; of fewer words than one has all of them."""
    if len(words) < _SIZE:
        return {tuple(words)}
    return set(zip(*(words[place:] for place in range(_SIZE)), strict=False))


class Recall(NamedTuple):
    """How many similar editions were found.

    Attributes:
        pairs: Editions by length and bin of similarity.
        found: Those of them that were dropped, or are said to resemble a kept text.
        missed: Those that were not, by length, similarity and kind of edit.
    """

    pairs: Counter[tuple[int, float]]
    found: Counter[tuple[int, float]]
    missed: list[Edition]


def recall(texts: Iterable[str], parameters: Parameters) -> Recall:
    """Judge editions of at least ``BINS`` similarity, each against all texts but other editions.

    An edition of fewer than ``min_words`` words is compared by equality alone and left out.
    """
    counted = Recall(Counter(), Counter(), [])
    for of_length in editions(texts):
        with Deduplicator(parameters) as deduplicator:
            originals = dict.fromkeys(edition.original for edition in of_length)
            for number, text in enumerate(originals):
                deduplicator.judge(number, text)
            _judge_editions(deduplicator, len(originals), of_length, counted)
    return counted


def _judge_editions(
    deduplicator: Deduplicator, first: int, of_length: Sequence[Edition], counted: Recall
) -> None:
    kept: set[int] = set()
    for number, edition in enumerate(of_length, first):
        if not BINS[0][0] <= edition.similarity < 1 or _is_short(deduplicator, edition):
            continue
        verdict = deduplicator.judge(number, edition.edited, exclude=kept)
        key = edition.length, max(low for low, _ in BINS if low <= edition.similarity)
        counted.pairs[key] += 1
        if verdict.kind in {NEAR_DUPLICATE, SAME_TEMPLATE}:
            counted.found[key] += 1
        else:
            counted.missed.append(edition)
        if not verdict.is_duplicate:
            kept.add(number)


def _is_short(deduplicator: Deduplicator, edition: Edition) -> bool:
    return len(edition.edited.split()) < deduplicator.parameters.min_words
