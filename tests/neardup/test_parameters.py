import dataclasses
import json
from typing import Any

import numpy as np
import pytest

from neardup import Features, NearDupError, Parameters
from neardup.errors import ParameterError


def test_the_defaults_are_those_of_the_measurements() -> None:
    defaults = Parameters()
    assert dataclasses.astuple(defaults) == (None, 3, 50, True, 0.8, 5, True, True, False)
    assert str(defaults.fingerprint_features) == "word-1-log_count"
    assert str(Parameters(verify=False).fingerprint_features) == "word-3-set"


def test_chosen_features_stand_whatever_decides() -> None:
    features = Features("character", 4, "count")
    for verify in (True, False):
        assert Parameters(features, verify=verify).fingerprint_features is features


@pytest.mark.parametrize(
    ("name", "value", "wanted"),
    [
        ("features", "word-3-set", "Features or None"),
        ("verify_shingle_size", 17, "1..16"),
        ("verify_shingle_size", 3.0, "1..16"),
        ("verify_shingle_size", True, "1..16"),
        ("max_distance", -1, "0..8"),
        ("max_distance", 64, "0..8"),
        ("max_distance", "3", "0..8"),
        ("min_words", 0, "at least 1"),
        ("verify", 1, "True or False"),
        ("verify", None, "True or False"),
        ("compare_names", "no", "True or False"),
        ("ignore_boilerplate", None, "True or False"),
        ("drop_contained", 1, "True or False"),
        ("min_similarity", -0.1, "0..1"),
        ("min_similarity", 1.1, "0..1"),
        ("min_similarity", float("nan"), "0..1"),
        ("min_similarity", True, "0..1"),
        ("min_similarity", "0.8", "0..1"),
        ("verify_shingle_size", 0, "1..16"),
    ],
)
def test_a_value_out_of_range_is_named(name: str, value: Any, wanted: str) -> None:
    with pytest.raises(ParameterError) as caught:
        Parameters(**{name: value})
    assert str(caught.value) == f"{name} must be {wanted}, got {value!r}"
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, NearDupError)


@pytest.mark.parametrize(
    ("name", "value", "plain"),
    [
        ("max_distance", np.int64(3), 3),
        ("min_words", np.int32(20), 20),
        ("verify_shingle_size", np.int16(4), 4),
        ("verify", np.bool(False), False),
        ("compare_names", np.bool(True), True),
        ("drop_contained", np.bool(True), True),
        ("min_similarity", np.float64(0.5), 0.5),
        ("min_similarity", np.float32(0.5), 0.5),
        ("min_similarity", np.int64(1), 1.0),
        ("min_similarity", 1, 1.0),
    ],
)
def test_numbers_of_numpy_become_plain_ones(name: str, value: Any, plain: Any) -> None:
    parameters = Parameters(**{name: value})
    assert type(getattr(parameters, name)) is type(plain)
    assert parameters == Parameters(**{name: plain})
    assert json.loads(json.dumps(dataclasses.asdict(parameters)))[name] == plain
