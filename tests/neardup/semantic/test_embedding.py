import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from neardup import jaccard
from neardup.semantic.embedding import EmbeddingVerifier
from tests.neardup.semantic.made_models import save_static_model

Loaded = Callable[[str, str], float]


class Letters:
    """A model of the test's own: how often a, b and c occur, and c counts against."""

    def vector(self, text: str) -> NDArray[np.floating[Any]]:
        return np.array([text.count("a"), text.count("b"), -text.count("c")], np.float32)


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    """Similarity by a model that was written to a folder and loaded from there."""
    pytest.importorskip("model2vec", reason="model2vec is not installed: pip install model2vec")
    verifier = EmbeddingVerifier.loaded(save_static_model(tmp_path_factory.mktemp("static")))
    return lambda first, second: verifier.compared_with(first)(second)


class TestAnyModel:
    verifier = EmbeddingVerifier(Letters())

    def test_it_says_what_it_measures(self) -> None:
        assert self.verifier.measure == "embedding cosine"

    @pytest.mark.parametrize(
        ("first", "second", "wanted"),
        [
            ("a", "aaa", 1.0),
            ("a", "b", 0.0),
            ("ab", "b", 0.5**0.5),
            ("ac", "ac", 1.0),
            ("c", "cc", 1.0),
        ],
    )
    def test_it_is_the_cosine(self, first: str, second: str, wanted: float) -> None:
        assert self.verifier.compared_with(first)(second) == pytest.approx(wanted)

    def test_opposite_vectors_are_at_zero_and_not_below(self) -> None:
        class Signed(Letters):
            def vector(self, text: str) -> NDArray[np.floating[Any]]:
                return np.array([1.0 if text == "yes" else -1.0])

        assert EmbeddingVerifier(Signed()).compared_with("yes")("no") == 0.0

    @pytest.mark.parametrize(("other", "wanted"), [("x", 1.0), ("y", 0.0), ("a", 0.0)])
    def test_a_text_without_a_vector_resembles_only_itself(self, other: str, wanted: float) -> None:
        assert self.verifier.compared_with("x")(other) == wanted

    def test_a_lone_surrogate_does_not_reach_the_model(self) -> None:
        class Strict(Letters):
            def vector(self, text: str) -> NDArray[np.floating[Any]]:
                text.encode()
                return super().vector(text)

        assert EmbeddingVerifier(Strict()).compared_with("a\ud800")("a") == 1.0


class TestStaticModel:
    def test_the_same_words_in_another_order_are_at_one(self, compared: Loaded) -> None:
        found = compared("my doctor bought a big car", "a big doctor car bought my")
        assert found == pytest.approx(1.0)

    def test_synonyms_are_near_where_no_word_is_shared(self, compared: Loaded) -> None:
        text, told_again = "doctor bought big car", "physician purchased huge automobile"
        assert compared(text, told_again) == pytest.approx(1.0)
        assert jaccard(text, told_again, shingle_size=1) == 0.0

    def test_a_paraphrase_is_nearer_than_another_text(self, compared: Loaded) -> None:
        text = "the doctor bought a big car in town yesterday"
        assert compared(text, "my physician acquired a large vehicle in town") > 0.8
        assert compared(text, "seven quiet violins play near the old harbour lights") < 0.5

    def test_unrelated_words_are_far(self, compared: Loaded) -> None:
        assert compared("doctor bought car", "river stone sings slowly") < 0.4

    def test_the_end_of_a_long_text_counts(self, compared: Loaded) -> None:
        # model2vec by itself would look at 512 tokens.
        head = "river stone " * 400
        found = compared(head + "doctor bought car " * 300, head + "quiet violins play " * 300)
        assert found < 0.8

    @pytest.mark.parametrize(("other", "wanted"), [("", 1.0), ("car", 0.0), ("zzz", 0.0)])
    def test_an_empty_text_resembles_only_itself(
        self, compared: Loaded, other: str, wanted: float
    ) -> None:
        assert compared("", other) == wanted

    @pytest.mark.parametrize("odd", ["\ud800", "\0", "\ud83d car"])
    def test_any_text_is_taken(self, compared: Loaded, odd: str) -> None:
        assert compared(f"big car {odd}", f"big car {odd}") == 1.0


def test_the_library_takes_no_part_until_a_model_is_loaded(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom neardup import *\n"
        "print(sorted({'model2vec', 'sentence_transformers', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
