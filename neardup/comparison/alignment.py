"""Which words of two texts belong together: their longest common subsequence."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from neardup.comparison.anchors import anchors
from neardup.comparison.splitting import best_split

Words = Sequence[int]

# rapidfuzz keeps a bit for each pair of words: 50 MB.
_AT_ONCE = 400_000_000
# Beyond it (140,000 words against 140,000) the exact answer would take more than some seconds.
_EXACT = 20_000_000_000


class Block(NamedTuple):
    """Words that both texts have, one after the other.

    Attributes:
        first: Place of the first of them in the first text.
        second: The same in the second text.
        length: How many.
    """

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
    """Return how many words are the same at the beginning of both."""
    shorter = min(len(first), len(second))
    return next((place for place in range(shorter) if first[place] != second[place]), shorter)
