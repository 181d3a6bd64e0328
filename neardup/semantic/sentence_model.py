"""Sentence embeddings by a transformer, a long text in pieces, by sentence-transformers."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer


class SentenceEmbeddings:
    """A model of sentence-transformers.

    A transformer reads so many tokens and no more (often 256 or 512), and leaves out the rest of a
    text without a word. Here a longer text is read in pieces of that length, and its vector is the
    mean of theirs, each weighed by its tokens.

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
    """Return how many tokens of a text the model reads at once; None: all of them."""
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
