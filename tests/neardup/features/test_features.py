import math
from collections import Counter
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from neardup.errors import ParameterError
from neardup.features.features import UNITS, WEIGHTS, Features
from tests.neardup.features import plain

TEXTS = st.text("ab c,é猫\n", max_size=60)


class Rarity:
    """Weighs a feature by the lowest bits of its hash."""

    def __init__(self, unit: str, size: int, shift: float = 0.5) -> None:
        self.unit, self.size, self.shift = unit, size, shift
        self.identity = f"lowest bits and {shift}"

    def weights(self, hashes: NDArray[np.uint64]) -> NDArray[np.float64]:
        return (hashes % np.uint64(7)).astype(np.float64) + self.shift


def weighed(weight: str, value: int, count: int) -> float:
    return {
        "set": 1.0,
        "count": count,
        "log_count": 1 + math.log(count),
        "tf_idf": count * (value % 7 + 0.5),
    }[weight]


def of(unit: str, size: int, weight: str) -> Features:
    return Features(unit, size, weight, Rarity(unit, size) if weight == "tf_idf" else None)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"unit": "letter"}, "unit must be one of word, character, got 'letter'"),
        ({"size": 0}, r"size must be 1\.\.16, got 0"),
        ({"size": 17}, r"size must be 1\.\.16, got 17"),
        ({"size": 2.0}, r"size must be 1\.\.16, got 2\.0"),
        ({"size": True}, r"size must be 1\.\.16, got True"),
        ({"weight": "idf"}, "weight must be one of set, count, log_count, tf_idf, got 'idf'"),
        ({"weight": "tf_idf"}, r"IdfTable\.learned\(texts, unit='word', size=3\)"),
        ({"weight": "tf_idf", "idf": {}}, "idf must be an IdfTable"),
        ({"weight": "tf_idf", "idf": Rarity("word", 1)}, "the same features, word and 3, got word"),
        ({"idf": Rarity("word", 3)}, "idf is for weight='tf_idf' alone"),
    ],
)
def test_a_bad_value_is_named(bad: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Features(**bad)  # type: ignore[arg-type]


def test_equal_features_are_one_key_and_cannot_change() -> None:
    features = Features("character", np.int64(4), "count")  # type: ignore[arg-type]
    assert {features: 1}[Features("character", 4, "count")] == 1
    assert type(features.size) is int
    with pytest.raises(FrozenInstanceError):
        features.size = 5  # type: ignore[misc]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("weight", ["set", "count", "log_count"])
def test_they_are_read_as_they_are_written(unit: str, weight: str) -> None:
    features = Features(unit, 12, weight)
    assert str(features) == f"{unit}-12-{weight}"
    assert Features.parsed(str(features)) == features


@pytest.mark.parametrize(
    "written", ["", "word", "word-3", "word-x-set", "word-3-set-", "word-1-tf_idf", "word--1-set"]
)
def test_what_is_written_otherwise_is_refused(written: str) -> None:
    with pytest.raises(ParameterError, match="features must be written like"):
        Features.parsed(written)


@pytest.mark.parametrize("shift", [math.nan, math.inf, 1.7e308])
def test_weights_that_are_no_numbers_are_refused(shift: float) -> None:
    features = Features("word", 1, "tf_idf", Rarity("word", 1, shift))
    with pytest.raises(ParameterError, match="must return finite, moderate numbers"):
        features.weighted("a b c a b c")


def test_a_text_that_is_none_is_refused() -> None:
    with pytest.raises(TypeError, match="text must be str, got bytes"):
        Features().weighted(b"a b c")  # type: ignore[arg-type]


class TestWeightedProperties:
    @settings(deadline=None)
    @given(TEXTS, st.sampled_from(UNITS), st.integers(1, 5), st.sampled_from(WEIGHTS))
    def test_they_equal_the_definition(self, text: str, unit: str, size: int, weight: str) -> None:
        weighted = of(unit, size, weight).weighted(text)
        counts = Counter(plain.shingles(text, unit, size))
        expected = [weighed(weight, value, counts[value]) for value in sorted(counts)]
        assert weighted.hashes.dtype == np.uint64
        assert weighted.weights.dtype == np.float64
        assert weighted.hashes.tolist() == sorted(counts)
        assert weighted.weights.tolist() == pytest.approx(expected)
