"""Anchors: places that certainly belong together."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

_RUN = 5
"""Words in a row; as many as a shingle of the verification has."""

Run = tuple[int, ...]


def anchors(first: Sequence[int], second: Sequence[int]) -> list[tuple[int, int]]:
    """Return where both have the same run of five words, which occurs once in either.

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
