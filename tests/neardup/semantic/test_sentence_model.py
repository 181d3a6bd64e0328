"""Where sentence-transformers is installed: it takes gigabytes."""

from pathlib import Path

import numpy as np
import pytest

from neardup.semantic.embedding import EmbeddingVerifier
from neardup.semantic.model_loading import SentenceEmbeddings, load_model, load_sentence_model
from tests.neardup.semantic.made_models import OTHERS, save_static_model, save_transformer

pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")

# It and torch warn of their own inner matters.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")

MAX_TOKENS = 16
LONG = " ".join(OTHERS * 3)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> SentenceEmbeddings:
    folder = save_transformer(tmp_path_factory.mktemp("transformer"), MAX_TOKENS)
    loaded = load_model(folder)
    assert isinstance(loaded, SentenceEmbeddings)
    return loaded


def test_a_text_that_fits_has_the_vector_that_the_library_gives(model: SentenceEmbeddings) -> None:
    text = " ".join(OTHERS[: MAX_TOKENS - 2])
    assert model.vector(text) == pytest.approx(model._model.encode(text), abs=1e-6)


def test_a_long_text_is_the_mean_of_its_pieces(model: SentenceEmbeddings) -> None:
    words, size = LONG.split(), MAX_TOKENS - 2
    pieces = [words[start : start + size] for start in range(0, len(words), size)]
    vectors = [model.vector(" ".join(piece)) for piece in pieces]
    wanted = np.average(vectors, axis=0, weights=[len(piece) for piece in pieces])
    assert model.vector(LONG) == pytest.approx(wanted, abs=1e-6)


def test_the_end_of_a_long_text_counts(model: SentenceEmbeddings) -> None:
    changed = LONG + " doctor bought car" * 20
    head = model._model.encode([LONG, changed])
    # The library leaves out what does not fit.
    assert head[0] == pytest.approx(head[1])
    verifier = EmbeddingVerifier(model)
    assert verifier.compared_with(LONG)(LONG) == pytest.approx(1.0)
    assert verifier.compared_with(LONG)(changed) < 0.999


@pytest.mark.parametrize("text", ["", " ", "zzz", "\ud800"])
def test_any_text_is_taken(model: SentenceEmbeddings, text: str) -> None:
    assert EmbeddingVerifier(model).compared_with(text)(text) == pytest.approx(1.0)


def test_a_static_model_is_read_as_a_whole(tmp_path: Path) -> None:
    pytest.importorskip("model2vec", reason="model2vec is not installed: pip install model2vec")
    folder = save_static_model(tmp_path)
    long = "river stone " * 400 + "doctor bought car " * 300
    ours = load_sentence_model(str(folder)).vector(long)
    assert ours == pytest.approx(load_model(folder).vector(long), abs=1e-5)
