"""Verify candidates: the similarity of two texts, counted and not estimated."""

import secrets
from collections.abc import Callable
from typing import Protocol

from neardup.errors import ParameterError
from neardup.features.hashing import Hashes
from neardup.features.shingles import JACCARD_SIZE, intersection_size, shingle_set
from neardup.features.tokens import packed_words
from neardup.whole import split_whole

_COUNTED_FROM = 0.5

# Authors of texts cannot know it (``counting_kernels.similarity``).
_SALT = secrets.randbits(64) | 1


class Verifier(Protocol):
    """Measures how similar two texts are, for a deduplicator to compare with ``min_similarity``.

    Attributes:
        measure: The name of the measure, in a word or two, for reports: "jaccard", "tf-idf cosine".
    """

    measure: str

    def compared_with(self, text: str) -> Callable[[str], float]:
        """Return the function that gives another text's similarity with this one, 0 to 1.

        So what a text needs (its words, its vector) is computed once for all its candidates.
        """


def compared_with(
    verifier: Verifier, text: str, *, min_similarity: float
) -> Callable[[str], float]:
    """Return the function that gives another text's similarity with this one, 0 to 1.

    Where one of them stands with the whole that it was taken from, it is the least similarity of
    both parts; a text that was taken from nothing is its own whole.

    Args:
        verifier: The verifier that compares two parts.
        text: Any text, as ``neardup.whole.with_whole`` makes them too.
        min_similarity: Below it the wholes are not compared any more.
    """
    part, whole = split_whole(text)
    of_part = verifier.compared_with(part)
    of_whole: Callable[[str], float] | None = None

    def compared(other: str) -> float:
        nonlocal of_whole
        their_part, their_whole = split_whole(other)
        found = of_part(their_part)
        if found < min_similarity or (whole is part and their_whole is their_part):
            return found
        of_whole = of_whole or verifier.compared_with(whole)
        return min(found, of_whole(their_whole))

    return compared


class JaccardVerifier:
    """Confirms candidates by the ``jaccard`` of their texts.

    A similarity of one half and more, which may decide, is counted in words, so that it cannot be
    forged. Below that hashes of the shingles tell it, in a third of the time.

    Args:
        shingle_size: Words in a row that make one element of the sets.

    Raises:
        ParameterError: ``shingle_size`` is below 1.
    """

    measure = "jaccard"

    def __init__(self, shingle_size: int = JACCARD_SIZE) -> None:
        _check_size(shingle_size)
        self._shingle_size = shingle_size

    def compared_with(self, text: str) -> "JaccardComparison":
        """Return the function that gives another text's similarity with this one, 0 to 1."""
        return JaccardComparison(text, self._shingle_size)


class JaccardComparison:
    """Gives the similarity of other texts with one, whose ``shingle_set`` it holds."""

    def __init__(self, text: str, shingle_size: int) -> None:
        self.shingles = shingle_set(text, size=shingle_size)
        self._text = text
        self._words: bytes | None = None
        self._shingle_size = shingle_size

    def __call__(self, other: str) -> float:
        shared = self.by_hashes(self.shingles_of(other))
        return shared if shared < _COUNTED_FROM else self.by_words(other)

    def shingles_of(self, text: str) -> Hashes:
        return shingle_set(text, size=self._shingle_size)

    def by_hashes(self, shingles: Hashes) -> float:
        """Return the similarity of another text by the hashes of its shingles.

        It is exact, unless a text was made on purpose so that its shingles have the hashes of
        others.
        """
        both = intersection_size(self.shingles, shingles)
        union = len(self.shingles) + len(shingles) - both
        return both / union if union else 1.0

    def by_words(self, other: str) -> float:
        """Return the ``jaccard`` of another text, in two or three times as long."""
        if self._words is None:
            self._words = packed_words(self._text)
        return similarity(self._words, packed_words(other), self._shingle_size)


def jaccard(first: str, second: str, *, shingle_size: int = JACCARD_SIZE) -> float:
    """Return the Jaccard similarity of two texts' sets of word shingles, 0 to 1.

    Exact: shingles are compared by their words, not by hashes of them. A text with fewer words
    than ``shingle_size`` is one shingle, so two texts without any word have similarity 1.

    Raises:
        ParameterError: ``shingle_size`` is below 1.

    Complexity: O(length) on average.
    Reference: Broder, On the resemblance and containment of documents, 1997, section 2.
    """
    _check_size(shingle_size)
    return similarity(packed_words(first), packed_words(second), shingle_size)


def containment(first: str, second: str, *, shingle_size: int = JACCARD_SIZE) -> float:
    """Return the share of the first text's word shingles that the second has too, 0 to 1.

    1 where the first text is quoted whole, however long the second is; so it is not symmetric.
    Exact: shingles are compared by their words. As in ``jaccard``, a text with fewer words than
    ``shingle_size`` is one shingle, and it equals no longer one.

    Raises:
        ParameterError: ``shingle_size`` is below 1.

    Complexity: O(n * shingle_size) for n words.
    Reference: Broder, On the resemblance and containment of documents, 1997, section 2.
    """
    _check_size(shingle_size)
    ours = _shingles(split(first), shingle_size)
    return len(ours & _shingles(split(second), shingle_size)) / len(ours)


def _check_size(shingle_size: int) -> None:
    if shingle_size < 1:
        raise ParameterError(f"shingle_size must be at least 1, got {shingle_size}")


def _shingles(words: list[bytes], size: int) -> set[tuple[bytes, ...]]:
    if len(words) < size:
        return {tuple(words)}
    return set(zip(*(words[place:] for place in range(size)), strict=False))


def split(text: str) -> list[bytes]:
    """Return the tokens of a text as UTF-8."""
    return packed_words(text).split()


def similarity(first: bytes, second: bytes, shingle_size: int) -> float:
    """Return the ``jaccard`` of two texts, given as ``packed_words`` returns them."""
    from neardup.features import counting_kernels  # noqa: PLC0415  (numba takes long)

    return counting_kernels.similarity(first + b" " + second, len(first) + 1, shingle_size, _SALT)
