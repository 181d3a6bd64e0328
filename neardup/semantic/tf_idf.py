"""TF-IDF cosine: which words do two texts share, and how much do these say?"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.features.features import Features
from neardup.features.hashing import Hashes
from neardup.features.idf_counting import find
from neardup.features.idf_table import IdfTable


class TfIdfVerifier:
    """Compares texts by the cosine of their TF-IDF vectors.

    A feature weighs (1 + ln(how often it stands in the text)) * its inverse document frequency.
    With single words their order does not count. With words in pairs or threes it does, and words
    that every text of the corpus holds still count little, as they do not for Jaccard.

    Two texts with the same features in the same numbers are at 1, texts that share none at 0. A
    text without any feature resembles only its like.

    Args:
        idf: Learned from texts like those to be compared. Its unit and size say what a feature is.

    Attributes:
        measure: "tf-idf cosine".

    Complexity: O(length) a text, O(features) a comparison.
    Reference: Salton, Buckley, Term-weighting approaches in automatic text retrieval, Information
    Processing & Management 24 (5), 1988.
    """

    measure = "tf-idf cosine"

    def __init__(self, idf: IdfTable) -> None:
        self._idf = idf
        self._features = Features(idf.unit, idf.size, "log_count")

    def compared_with(self, text: str) -> Callable[[str], float]:
        """Return the function that gives another text's similarity with this one, 0 to 1.

        Raises:
            TypeError: The text is no ``str``.
        """
        first = self._vector(text)

        def similarity(other: str) -> float:
            return _cosine(first, self._vector(other))

        return similarity

    def _vector(self, text: str) -> "_Vector":
        hashes, counts = self._features.weighted(text)
        weights = counts * self._idf.weights(hashes)
        return _Vector(hashes, weights, float(weights @ weights))


class _Vector(NamedTuple):
    """The features of a text, ascending, what each weighs, and the sum of the weights' squares."""

    hashes: Hashes
    weights: NDArray[np.float64]
    square: float


def _cosine(first: _Vector, second: _Vector) -> float:
    if not (len(first.hashes) and len(second.hashes)):
        return float(len(first.hashes) == len(second.hashes))
    places, known = find(first.hashes, second.hashes)
    shared = float(first.weights[places[known]] @ second.weights[known])
    # The root is taken of the product, so that equal vectors are at 1 and not beside it.
    return min(1.0, shared / math.sqrt(first.square * second.square))
