"""Diff two texts: the words that were removed, and those that were added."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import NamedTuple

import numpy as np
from rapidfuzz.distance import Indel, LCSseq

from neardup.errors import DocumentError, ParameterError
from neardup.features.folding import fold
from neardup.features.scripts import MARK, SINGLE, kinds_of

_RUN = 5
"""The number of words in a run, as many as a shingle of the verification has."""

Run = tuple[int, ...]

Words = Sequence[int]

# rapidfuzz keeps a bit for each pair of words: 200 MB for 40,000 against 40,000.
_EXACT = 1_600_000_000


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

    Exact up to 40,000 words on either side. Longer texts are tied together first by runs of words
    that occur once in both; then no more than such a size is compared at a time, and what is
    longer and not tied has nothing in common.

    Complexity: O(n * m / 64) in time and in words of memory up to that size.
    Reference: Hyyro, Bit-parallel LCS-length computation revisited, 2004, as rapidfuzz has it.
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
    if pairs <= _EXACT:
        for block in LCSseq.editops(first, second).as_matching_blocks():
            if block.size:
                yield Block(start.first + block.a, start.second + block.b, block.size)
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


MAX_CHARACTERS = 100_000
"""The largest number of characters of a text: two of this length take half a second."""

_WORD = re.compile(r"(\S+)(\s*)")

EQUAL = "equal"
REMOVED = "removed"
ADDED = "added"


def edit_ratio(first: str, second: str) -> float:
    """Return the share of characters that stay when one text is edited into the other, 0 to 1.

    One minus the number of characters that are inserted or removed, divided by the length of both
    texts after folding; two empty texts have 1. For titles and for texts too short for shingles:
    one letter changed in five words leaves a ratio of .96 and a ``jaccard`` of 0.

    Raises:
        DocumentError: A text has more than 100,000 characters after folding; ``jaccard`` is for
            such.

    Complexity: O(length * length / 64).
    Reference: Hyyro, Bit-parallel LCS-length computation revisited, 2004, as in rapidfuzz.
    """
    folded, others = fold(first), fold(second)
    longest = max(len(folded), len(others))
    if longest > MAX_CHARACTERS:
        raise DocumentError(
            f"a text of at most {MAX_CHARACTERS} characters expected, got {longest}; "
            "use jaccard for long texts"
        )
    return Indel.normalized_similarity(folded, others)


def written_words(text: str) -> list[str]:
    """Cut a text into words with what stands on them, each with the white space behind it.

    Punctuation stays with its word; in scripts without spaces every character is a word. White
    space becomes one space, or one line break where it holds one, so that the words put together
    are the text as a person sees it.
    """
    words: list[str] = []
    for word, space in _WORD.findall(text):
        pieces = [word] if word.isascii() else _words_pieces(word)
        if space:
            pieces[-1] += "\n" if "\n" in space else " "
        words += pieces
    return words


def folded_word(word: str) -> str:
    """Return that by which words are compared, so that case and encoding form do not count."""
    return word.strip().lower() if word.isascii() else fold(word)


def _words_pieces(word: str) -> list[str]:
    """Cut before and behind each character of a script without spaces; marks stay with it."""
    kinds = kinds_of(np.frombuffer(word.encode("utf-32-le", "surrogatepass"), "<u4"))
    if not (kinds == SINGLE).any():
        return [word]
    pieces: list[str] = []
    follows_single = False
    for character, kind in zip(word, kinds.tolist(), strict=True):
        if kind == MARK and pieces:
            pieces[-1] += character
            continue
        if not pieces or kind == SINGLE or follows_single:
            pieces.append(character)
        else:
            pieces[-1] += character
        follows_single = kind == SINGLE
    return pieces


@dataclass(frozen=True, slots=True)
class WordRun:
    """Words in a row that share their fate.

    Attributes:
        kind: ``equal``, in both texts; ``removed``, in the first alone; ``added``, in the second
            alone.
        words: As they were written (equal ones as in the first text), each with the white space
            behind it, which is one space, one line break or nothing.
    """

    kind: str
    words: tuple[str, ...]


def diff(first: str, second: str) -> list[WordRun]:
    """Compare two texts word by word, by a longest common subsequence of their words.

    Case, encoding form and amount of white space do not count, punctuation does. In scripts
    without spaces every character is a word.

    Returns:
        The runs in order; of a change, what was removed comes before what was added. No two runs
        of a kind follow each other.

    Complexity: O(n * m / 64) for n and m words between the first and the last difference. Exact up
    to 40,000, with 200 MB of memory; of longer ones, stretches of such a size without any five
    words of their own in common count as replaced.
    Reference: Myers, An O(ND) difference algorithm, 1986, for the problem; ``common_blocks`` names
    that for the solution.
    """
    ours, theirs = written_words(first), written_words(second)
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    blocks = common_blocks(
        [numbers[folded_word(word)] for word in ours],
        [numbers[folded_word(word)] for word in theirs],
    )
    return list(_runs(ours, theirs, _whole([*blocks, Block(len(ours), len(theirs), 0)])))


def _whole(blocks: list[Block]) -> Iterator[Block]:
    """Join blocks that touch."""
    last = Block(0, 0, 0)
    for block in blocks:
        if (block.first, block.second) == (last.first + last.length, last.second + last.length):
            last = last._replace(length=last.length + block.length)
        else:
            yield last
            last = block
    yield last


def _runs(ours: list[str], theirs: list[str], blocks: Iterator[Block]) -> Iterator[WordRun]:
    first = second = 0
    for block in blocks:
        yield from _filled(REMOVED, ours[first : block.first])
        yield from _filled(ADDED, theirs[second : block.second])
        first, second = block.first + block.length, block.second + block.length
        both = zip(ours[block.first : first], theirs[block.second : second], strict=True)
        yield from _filled(EQUAL, [_as_written(word, other) for word, other in both])


def _as_written(word: str, other: str) -> str:
    """Return a word of both texts; behind the last word of one only the other has a space."""
    if word[-1].isspace():
        return word
    return word + other[len(other.rstrip()) :]


def _filled(kind: str, words: list[str]) -> Iterator[WordRun]:
    if words:
        yield WordRun(kind, tuple(words))


_MARKS = {REMOVED: ("[-", "-]"), ADDED: ("{+", "+}")}
_GAP = "[...]"


def render_diff(runs: Sequence[WordRun], *, context: int | None = None) -> str:
    """Write a diff as ``the [-quick-] {+slow+} fox``, as GNU wdiff and ``git --word-diff`` do.

    For people: a text that holds such marks itself is not told apart.

    Args:
        runs: The runs that ``diff`` returns.
        context: Equal words shown on either side of a change; the rest of a longer stretch
            becomes ``[...]``. None: all.

    Raises:
        ParameterError: ``context`` is negative.
    """
    if context is not None and context < 0:
        raise ParameterError(f"context must be at least 0, got {context}")
    return "".join(_pieces(runs, context)).strip()


def _pieces(runs: Sequence[WordRun], context: int | None) -> Iterator[str]:
    last = len(runs) - 1
    for place, run in enumerate(runs):
        if run.kind != EQUAL:
            yield _marked(run)
        elif context is None:
            yield "".join(run.words)
        else:
            yield _shortened(run.words, context if place else 0, context if place < last else 0)


def _marked(run: WordRun) -> str:
    opening, closing = _MARKS[run.kind]
    text = "".join(run.words)
    inner = text.rstrip()
    # The white space stays outside of the marks.
    return f"{opening}{inner}{closing}{text[len(inner) :]}"


def _shortened(words: tuple[str, ...], before: int, after: int) -> str:
    if len(words) <= before + after:
        return "".join(words)
    head, tail = "".join(words[:before]), "".join(words[len(words) - after :])
    return f"{head}{_GAP} {tail}"
