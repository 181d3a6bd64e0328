"""Align the words of two texts by their longest common subsequence."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

# Words that stand in a text more often have their bits kept: 80 MB at most for 100,000 words.
_FREQUENT = 16

_RUN = 5
"""The number of words in a run, as many as a shingle of the verification has."""

Run = tuple[int, ...]

Words = Sequence[int]

# rapidfuzz keeps a bit for each pair of words: 50 MB.
_AT_ONCE = 400_000_000
# Beyond it (140,000 words against 140,000) the exact answer would take more than some seconds.
_EXACT = 20_000_000_000


def best_split(first: Sequence[int], second: Sequence[int]) -> tuple[int, int]:
    """Return places in both at which a longest common subsequence can be cut.

    Complexity: O(n * m / 64) in time: two texts of 100,000 words take a second.
    Reference: Hirschberg, A linear space algorithm for computing maximal common subsequences,
    CACM 1975.
    """
    half = len(first) // 2
    ahead = _lengths(first[:half], second)
    behind = _lengths(first[half:][::-1], second[::-1])[::-1]
    return half, int(np.argmax(ahead + behind))


def _lengths(first: Sequence[int], second: Sequence[int]) -> NDArray[np.int64]:
    """Return the length of the LCS of ``first`` with each beginning of ``second``.

    A row of the table of dynamic programming is one integer: a zero at bit j says that the length
    grows by one there.

    Returns:
        int64, (len(second) + 1,).

    Reference: Hyyro, Bit-parallel LCS-length computation revisited, 2004, figure 4.
    """
    masks = _Masks(second)
    row = everything = (1 << len(second)) - 1
    for word in first:
        found = row & masks.of(word)
        if found:
            row = (row + found | row ^ found) & everything
    packed = np.frombuffer(row.to_bytes(len(second) // 8 + 1, "little"), np.uint8)
    bits = np.unpackbits(packed, count=len(second), bitorder="little")
    return np.concatenate(([0], np.cumsum(1 - bits.astype(np.int64))))


class _Masks:
    """An integer for each word, with a bit set wherever the word occurs."""

    def __init__(self, words: Sequence[int]) -> None:
        self._places: defaultdict[int, list[int]] = defaultdict(list)
        for place, word in enumerate(words):
            self._places[word].append(place)
        self._size = len(words) // 8 + 1
        self._kept: dict[int, int] = {}

    def of(self, word: int) -> int:
        """Return the bits of a word, 0 where it does not occur."""
        kept = self._kept.get(word)
        if kept is not None:
            return kept
        places = self._places.get(word)
        if places is None:
            return 0
        if len(places) <= _FREQUENT:
            return sum(1 << place for place in places)
        bits = bytearray(self._size)
        for place in places:
            bits[place >> 3] |= 1 << (place & 7)
        self._kept[word] = int.from_bytes(bits, "little")
        return self._kept[word]


def anchors(first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]]:
    """Return the places at which both have the same run of five words, which occurs once in either.

    Of anchors that cross, as many are left as rise together in both.

    Complexity: O(n log n).
    Reference: Bram Cohen's patience diff, with runs of words in the place of lines.
    """
    theirs = _places_of_unique(second)
    pairs = [
        (place, theirs[run]) for run, place in _places_of_unique(first).items() if run in theirs
    ]
    return _rising(pairs)


def _places_of_unique(words: Sequence[int]) -> dict[Run, int]:
    """Return the place of each run that occurs once, in order of places."""
    places: dict[Run, int] = {}
    for place, run in enumerate(zip(*(words[skip:] for skip in range(_RUN)), strict=False)):
        places[run] = -1 if run in places else place
    return {run: place for run, place in places.items() if place >= 0}


def _rising(pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest part whose second places rise; the first ones rise already.

    Reference: Fredman, On computing the length of longest increasing subsequences, 1975.
    """
    ends: list[int] = []  # the smallest place at which a part of each length ends
    tails: list[int] = []  # and which pair that is
    chosen = list(pairs)
    before: list[int] = []
    for number, (_, place) in enumerate(chosen):
        length = bisect_left(ends, place)
        before.append(tails[length - 1] if length else -1)
        ends[length : length + 1] = [place]
        tails[length : length + 1] = [number]
    rising: list[tuple[int, int]] = []
    number = tails[-1] if tails else -1
    while number >= 0:
        rising.append(chosen[number])
        number = before[number]
    return rising[::-1]


class Block(NamedTuple):
    """Words that both texts have, one after the other, by the places of the first of them."""

    first: int
    second: int
    length: int


def common_blocks(first: Words, second: Words) -> Iterator[Block]:
    """Yield a longest common subsequence of two sequences of word numbers, in order.

    Exact up to 140,000 words on either side. Longer texts are tied together first by runs of words
    that occur once in both; then no more than such a size is compared at a time, and what is
    longer and not tied has nothing in common.

    Complexity: O(n * m / 64) in time up to that size, linear in memory.
    References: Hirschberg, A linear space algorithm for computing maximal common subsequences,
    CACM 1975; Hyyro, Bit-parallel LCS-length computation revisited, 2004.
    """
    return _between(first, second, Block(0, 0, 0), tied=False)


def _between(first: Words, second: Words, start: Block, *, tied: bool) -> Iterator[Block]:
    """Align two stretches that begin at ``start``."""
    ahead = _same_length(first, second)
    if ahead:
        yield Block(start.first, start.second, ahead)
    behind = _same_length(first[ahead:][::-1], second[ahead:][::-1])
    ours, theirs = first[ahead : len(first) - behind], second[ahead : len(second) - behind]
    if len(ours) and len(theirs):
        here = Block(start.first + ahead, start.second + ahead, 0)
        yield from _inner(ours, theirs, here, tied=tied)
    if behind:
        yield Block(start.first + len(first) - behind, start.second + len(second) - behind, behind)


def _inner(first: Words, second: Words, start: Block, *, tied: bool) -> Iterator[Block]:
    pairs = len(first) * len(second)
    if pairs <= _AT_ONCE or len(first) == 1:
        for block in LCSseq.editops(first, second).as_matching_blocks():
            if block.size:
                yield Block(start.first + block.a, start.second + block.b, block.size)
    elif pairs <= _EXACT:
        half, other = best_split(first, second)
        middle = Block(start.first + half, start.second + other, 0)
        yield from _between(first[:half], second[:other], start, tied=tied)
        yield from _between(first[half:], second[other:], middle, tied=tied)
    elif not tied:
        yield from _tied(first, second, start)


def _tied(first: Words, second: Words, start: Block) -> Iterator[Block]:
    """Align between the anchors."""
    ours = theirs = 0
    for place, other in [*anchors(first, second), (len(first), len(second))]:
        here = Block(start.first + ours, start.second + theirs, 0)
        yield from _between(first[ours:place], second[theirs:other], here, tied=True)
        # The anchor's own words are the beginning of the next stretch.
        ours, theirs = place, other


def _same_length(first: Words, second: Words) -> int:
    """Return the number of words that are the same at the beginning of both."""
    shorter = min(len(first), len(second))
    return next((place for place in range(shorter) if first[place] != second[place]), shorter)
