"""The contract of what confirms a candidate."""

from collections.abc import Callable
from typing import Protocol


class Verifier(Protocol):
    """Says how similar two texts are, for a deduplicator to hold against ``min_similarity``.

    Attributes:
        measure: What it measures, in a word or two, for reports: "jaccard", "tf-idf cosine".
    """

    measure: str

    def compared_with(self, text: str) -> Callable[[str], float]:
        """Return the function that gives another text's similarity with this one, 0 to 1.

        So what a text needs (its words, its vector) is computed once for all its candidates.
        """
