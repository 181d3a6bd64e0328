"""Embeddings: do two texts say the same in other words?"""

import os
from collections.abc import Callable
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from neardup.semantic.model_loading import load_model


class EmbeddingModel(Protocol):
    """Turns a text of any length into one vector."""

    def vector(self, text: str) -> NDArray[np.floating[Any]]:
        """Return the vector of the whole text, (dimensions,); zeros where it knows no word of it.

        Args:
            text: Without lone surrogates.
        """


class EmbeddingVerifier:
    """Compares texts by the cosine of their embeddings; opposite directions count as 0.

    A text for which the model has no vector resembles only the same text.

    Args:
        model: The model that makes the vectors; ``EmbeddingVerifier.loaded`` loads one.

    Attributes:
        measure: "embedding cosine".

    Complexity: that of the model a text, O(dimensions) a comparison.
    Reference: Reimers, Gurevych, Sentence-BERT, EMNLP 2019, section 3.
    """

    measure = "embedding cosine"

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model

    @classmethod
    def loaded(cls, name_or_path: str | os.PathLike[str]) -> Self:
        """Load a model with whichever library is installed and understands it.

        model2vec is asked first (static vectors, NumPy alone), then sentence-transformers.

        Args:
            name_or_path: A folder, or a name of the Hugging Face Hub, from where the library
                downloads the model once.

        Raises:
            StorageError: Neither library is installed, there is no such folder, or no library
                that is installed understands the model; the message says what to do.
        """
        return cls(load_model(name_or_path))

    def compared_with(self, text: str) -> Callable[[str], float]:
        """Return the function that gives another text's similarity with this one, 0 to 1."""
        first = self._vector(text)

        def similarity(other: str) -> float:
            second = self._vector(other)
            if not (first.any() and second.any()):
                return float(text == other)
            return _cosine(first, second)

        return similarity

    def _vector(self, text: str) -> NDArray[np.float64]:
        # Tokenizers written in Rust take no lone surrogates, and pages hold some.
        whole = text.encode("utf-8", "replace").decode()
        return np.asarray(self._model.vector(whole), np.float64)


def _cosine(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    # The root is taken of the product, so that equal vectors are at 1 and not beside it.
    cosine = float(first @ second) / float(np.sqrt((first @ first) * (second @ second)))
    return min(1.0, max(0.0, cosine))
