"""Find the shingles that only one of two texts has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.verification import split

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_SHINGLES = 20
"""At most this many shingles of each text are named."""


@dataclass(frozen=True, slots=True)
class OwnShingles:
    """Distinct shingles that the other text has not.

    Attributes:
        count: The number of all of them.
        of: The number of distinct shingles of the text.
        first: The first of them as they stand in the folded text, at most ``MAX_SHINGLES``.
    """

    count: int
    of: int
    first: tuple[str, ...]


def own_shingles(first: str, second: str, size: int) -> tuple[OwnShingles, OwnShingles]:
    """Find them for both texts.

    As in ``neardup.jaccard``, a text of fewer words than ``size`` is one shingle.

    Complexity: O(words * size).
    """
    ours, theirs = _shingles(split(first), size), _shingles(split(second), size)
    return _own(ours, theirs), _own(theirs, ours)


def _shingles(words: Sequence[bytes], size: int) -> dict[tuple[bytes, ...], None]:
    """Return the distinct shingles, in order."""
    if len(words) < size:
        return {tuple(words): None}
    return dict.fromkeys(zip(*(words[place:] for place in range(size)), strict=False))


def _own(ours: dict[tuple[bytes, ...], None], theirs: dict[tuple[bytes, ...], None]) -> OwnShingles:
    own = [shingle for shingle in ours if shingle not in theirs]
    shown = tuple(b" ".join(shingle).decode("utf-8", "replace") for shingle in own[:MAX_SHINGLES])
    return OwnShingles(len(own), len(ours), shown)
