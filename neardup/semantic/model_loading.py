"""Loads a model of embeddings with whichever library is there for it."""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.errors import StorageError
from neardup.semantic.sentence_model import load_sentence_model
from neardup.semantic.static_model import load_static_model

if TYPE_CHECKING:
    from collections.abc import Callable

    from neardup.semantic.embedding import EmbeddingModel

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
