"""Static embeddings: the mean of a text's word vectors, by model2vec."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from model2vec import StaticModel


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
