import numpy as np
import pytest

from crawler.lab.app.outcome_rows import (
    WORDS,
    bytes_in_words,
    choice_key,
    outcome_rows,
    signed,
)
from crawler.lab.choice import Choice
from crawler.lab.judgement import LAYERS, Judgement
from neardup import Parameters


def judgement(*layers: str) -> Judgement:
    numbers = np.array([LAYERS.index(layer) for layer in layers], np.uint8)
    count = len(layers)
    return Judgement(
        numbers < 3,
        np.where(numbers < 3, -1, 0),
        np.full(count, -1, np.int16),
        np.full(count, np.nan, np.float32),
        numbers,
        np.ones(count, np.int64),
    )


def test_every_layer_has_words() -> None:
    assert set(WORDS) == set(LAYERS)


def test_rows_say_what_keeps_and_what_changes() -> None:
    rows = {
        row.layer: row
        for row in outcome_rows(judgement("new", "text", "simhash"), judgement("new", "new", "new"))
    }
    assert (rows["new"].holds, rows["new"].tried, rows["new"].change) == (3, 1, -2)
    assert (rows["simhash"].holds, rows["simhash"].tried) == (0, 1)
    assert {layer for layer, row in rows.items() if row.is_kept} == {"new", "too_short", "changed"}


@pytest.mark.parametrize(
    ("number", "written"), [(0, ""), (3, "+3"), (-12_000, "\u221212,000"), (1_000, "+1,000")]
)
def test_differences_are_written_with_their_sign(number: int, written: str) -> None:
    assert signed(number) == written


@pytest.mark.parametrize(
    ("count", "written"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (123_456, "123 kB"),
        (5_600_000, "5.6 MB"),
        (7_000_000_000_000_000, "7,000 TB"),
    ],
)
def test_bytes_are_written_in_a_fitting_unit(count: int, written: str) -> None:
    assert bytes_in_words(count) == written


def test_every_part_of_a_choice_is_in_its_key() -> None:
    base = Parameters()
    others = [
        Parameters(max_distance=2),
        Parameters(candidate_distance=7),
        Parameters(min_similarity=0.81),
        Parameters(min_words=51),
        Parameters(verify=False, features=base.fingerprint_features),
    ]
    choices = [Choice(base), Choice(base, "minhash"), *map(Choice, others)]
    assert len({choice_key(choice) for choice in choices}) == len(choices)
    assert not any(set(choice_key(choice)) & set(" \"'=") for choice in choices)
