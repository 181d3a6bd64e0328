"""The contract of a verifier, which confirms candidates."""

from collections.abc import Callable
from typing import Protocol

from neardup.whole import split_whole


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
