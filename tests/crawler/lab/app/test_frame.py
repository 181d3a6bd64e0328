"""What the address of a window says, and what comes of it."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.lab.app.frame import address_of
from crawler.lab.app.parameter_trial import choice_key, parsed_choice
from crawler.lab.judgement import METHODS, Choice
from neardup import Features, Parameters

HOLDS = Parameters()

features = st.builds(
    Features,
    st.sampled_from(["word", "character"]),
    st.integers(1, 16),
    st.sampled_from(["set", "count", "log_count"]),
)


@st.composite
def choices(draw: st.DrawFn) -> Choice:
    verify = draw(st.booleans())
    parameters = Parameters(
        features=draw(st.none() | features),
        max_distance=draw(st.integers(0, 8)),
        min_words=draw(st.integers(1, 10_000)),
        verify=verify,
        min_similarity=draw(st.integers(0, 100)) / 100,
        compare_names=draw(st.booleans()),
        ignore_boilerplate=draw(st.booleans()),
        drop_contained=verify and draw(st.booleans()),
    )
    return Choice(parameters, draw(st.sampled_from(METHODS)))


@given(choices())
def test_what_is_tried_comes_back(choice: Choice) -> None:
    said = parse_qs(address_of("Pairs", choice, HOLDS).removeprefix("?"))
    assert said["tab"] == ["Pairs"]
    if choice == Choice(HOLDS):
        assert "tried" not in said
        return
    again = parsed_choice(said["tried"][0], HOLDS)
    assert again is not None
    assert choice_key(again) == choice_key(choice)


def test_features_of_the_crawl_are_its_own_again() -> None:
    tried = Choice(replace(HOLDS, max_distance=5))
    assert parsed_choice(choice_key(tried), HOLDS) == tried


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("verify", "maybe"),
        ("verify", "off/verify"),
        ("verify", "off"),  # what confirms nothing drops no parts
        ("max_distance", "9"),
        ("min_similarity", "nan"),
        ("min_words", "0"),
        ("min_words", "9" * 5_000),
        ("features", "word-0-set"),
        ("features", "<script>"),
        ("method", "magic"),
    ],
)
def test_what_makes_no_sense_is_passed_over(name: str, value: str) -> None:
    key = choice_key(Choice(replace(HOLDS, drop_contained=True)))
    parts = [f"{name}:{value}" if part.startswith(name) else part for part in key.split("/")]
    assert parsed_choice(key, HOLDS)
    assert parsed_choice("/".join(parts), HOLDS) is None
    assert parsed_choice("/".join(parts[1:]), HOLDS) is None


def test_every_part_of_a_choice_is_in_its_key() -> None:
    base = Parameters()
    others = [
        Parameters(max_distance=2),
        Parameters(compare_names=False),
        Parameters(ignore_boilerplate=False),
        Parameters(drop_contained=True),
        Parameters(min_similarity=0.81),
        Parameters(min_words=51),
        Parameters(verify=False, features=base.fingerprint_features),
    ]
    choices = [Choice(base), Choice(base, "exact"), *map(Choice, others)]
    assert len({choice_key(choice) for choice in choices}) == len(choices)
    assert not any(set(choice_key(choice)) & set(" \"'=") for choice in choices)
