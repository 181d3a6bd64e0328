import importlib.util
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from neardup.errors import StorageError
from neardup.semantic.embedding import EmbeddingVerifier
from neardup.semantic.model_loading import StaticEmbeddings, load_model
from tests.neardup.semantic.made_models import save_static_model


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def hide(monkeypatch: pytest.MonkeyPatch, hidden: Collection[str]) -> None:
    """Make libraries look as if they were not installed."""
    real = importlib.util.find_spec

    def found(name: str, package: str | None = None) -> Any:
        return None if name in hidden else real(name, package)

    monkeypatch.setattr("neardup.semantic.model_loading.find_spec", found)


def test_a_folder_of_model2vec_is_loaded_by_it(tmp_path: Path) -> None:
    pytest.importorskip("model2vec", reason="model2vec is not installed: pip install model2vec")
    folder = save_static_model(tmp_path / "model")
    for name in (folder, str(folder)):
        assert isinstance(load_model(name), StaticEmbeddings)


def test_a_missing_library_is_named_with_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hide(monkeypatch, {"model2vec", "sentence_transformers"})
    with pytest.raises(StorageError) as caught:
        EmbeddingVerifier.loaded(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: expected model2vec or sentence-transformers to load it with, found neither; "
        "pip install 'crawl-once[semantic]'"
    )


@pytest.mark.parametrize("as_text", [False, True])
def test_a_missing_folder_is_never_looked_for_on_the_network(
    tmp_path: Path, *, as_text: bool
) -> None:
    folder = tmp_path / "none"
    with pytest.raises(StorageError, match="none: expected the folder of a model, found none"):
        load_model(str(folder) if as_text else folder)


@pytest.mark.parametrize("damage", ["empty", "torn"])
def test_a_folder_that_is_no_model_is_named_with_what_the_library_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    pytest.importorskip("model2vec", reason="model2vec is not installed: pip install model2vec")
    hide(monkeypatch, {"sentence_transformers"})
    if damage == "torn":
        weights = save_static_model(tmp_path) / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(StorageError) as caught:
        load_model(tmp_path)
    expected = f"{tmp_path}: expected a model that model2vec can load; model2vec says: "
    assert str(caught.value).startswith(expected)
    assert len(str(caught.value)) > len(expected)
