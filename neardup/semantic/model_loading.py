"""Loads a model of embeddings with whichever library is there for it."""

import math
import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from neardup.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from model2vec import StaticModel
    from sentence_transformers import SentenceTransformer

    from neardup.semantic.embedding import EmbeddingModel


class SentenceEmbeddings:
    """A model of sentence-transformers.

    A transformer reads a bounded number of tokens (often 256 or 512), and leaves out the rest of a
    text without an error. Here a longer text is read in pieces of that length, and its vector is
    the mean of theirs, each weighed by its tokens.

    Args:
        model: As ``SentenceTransformer`` makes it.
    """

    def __init__(self, model: "SentenceTransformer") -> None:
        self._model = model
        self._tokens_a_piece = _tokens_a_piece(model)

    def vector(self, text: str) -> NDArray[np.floating[Any]]:
        """Return the vector of the whole text, (dimensions,)."""
        pieces, tokens = self._pieces(text)
        vectors = self._model.encode(pieces, show_progress_bar=False, convert_to_numpy=True)
        return np.average(np.asarray(vectors, np.float64), axis=0, weights=tokens)

    def _pieces(self, text: str) -> tuple[list[str], list[int]]:
        """Part a text into pieces that the model reads as a whole, with the tokens of each."""
        size = self._tokens_a_piece
        if size is None:
            return [text], [1]
        spans = self._model.tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )["offset_mapping"]
        if len(spans) <= size:
            return [text], [1]
        runs = [spans[start : start + size] for start in range(0, len(spans), size)]
        return [text[run[0][0] : run[-1][1]] for run in runs], [len(run) for run in runs]


def load_sentence_model(name: str) -> SentenceEmbeddings:
    """Load a model of sentence-transformers.

    Args:
        name: A folder or a name of the Hugging Face Hub.

    Raises:
        Exception: Whatever the library raises about a model that it does not understand.
    """
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415  (takes seconds)

    return SentenceEmbeddings(SentenceTransformer(name))


def _tokens_a_piece(model: "SentenceTransformer") -> int | None:
    """Return the number of tokens that the model reads at once; None: all of a text."""
    limit, tokenizer = model.max_seq_length, model.tokenizer
    if limit is None or math.isinf(limit):
        # Of static embeddings; the file of their tokenizer may cut texts all the same.
        if hasattr(tokenizer, "no_truncation"):
            tokenizer.no_truncation()
        return None
    if not tokenizer.is_fast:
        raise ValueError("its tokenizer cannot tell where in a text a token stands")
    # Marks such as [CLS] and [SEP] take places of their own.
    return int(limit) - int(tokenizer.num_special_tokens_to_add())


class StaticEmbeddings:
    """A model of model2vec.

    Args:
        model: As ``StaticModel.from_pretrained`` returns it.
    """

    def __init__(self, model: "StaticModel") -> None:
        self._model = model

    def vector(self, text: str) -> NDArray[np.floating[Any]]:
        """Return the vector of the whole text, (dimensions,)."""
        # By itself it would look at the first 512 tokens.
        vector: NDArray[np.floating[Any]] = self._model.encode([text], max_length=None)[0]
        return vector


def load_static_model(name: str) -> StaticEmbeddings:
    """Load a model of model2vec.

    Args:
        name: A folder or a name of the Hugging Face Hub.

    Raises:
        Exception: Whatever the library raises about a model that it does not understand.
    """
    from model2vec import StaticModel  # noqa: PLC0415  (an extra)

    return StaticEmbeddings(StaticModel.from_pretrained(name))


# The light one first: a static model is a thousand times as fast as a transformer.
_LIBRARIES: dict[str, "Callable[[str], EmbeddingModel]"] = {
    "model2vec": load_static_model,
    "sentence_transformers": load_sentence_model,
}


def load_model(name_or_path: str | os.PathLike[str]) -> "EmbeddingModel":
    """Load a model, or say what is missing.

    Raises:
        StorageError: As ``EmbeddingVerifier.loaded`` says.
    """
    name = os.fspath(name_or_path)
    is_folder = isinstance(name_or_path, os.PathLike) or Path(name).is_absolute()
    if is_folder and not Path(name).is_dir():
        # A library would look for a model of such a name on the network.
        raise StorageError(f"{name}: expected the folder of a model, found none")
    installed = [library for library in _LIBRARIES if find_spec(library)]
    if not installed:
        raise StorageError(
            f"{name}: expected model2vec or sentence-transformers to load it with, found neither; "
            "pip install 'crawl-once[semantic]'"
        )
    complaints = []
    for library in installed:
        try:
            return _LIBRARIES[library](name)
        except Exception as error:  # a library says in many ways that it does not know a model
            complaints.append(f"{library} says: {error}")
    raise StorageError(
        f"{name}: expected a model that {' or '.join(installed)} can load; {'; '.join(complaints)}"
    )
