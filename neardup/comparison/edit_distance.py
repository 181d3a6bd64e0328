"""Edits: how few characters turn one short text into another."""

from rapidfuzz.distance import Indel

from neardup.errors import DocumentError
from neardup.features.folding import fold

MAX_CHARACTERS = 100_000
"""The largest number of characters of a text: two of this length take half a second."""


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
