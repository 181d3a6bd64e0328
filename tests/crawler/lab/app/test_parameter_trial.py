import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.lab.app.parameter_trial import (
    SCALES,
    Scale,
    used_numbers,
    with_features,
    with_verify,
)
from crawler.lab.judgement import METHODS, Choice
from neardup import Features, Parameters
from neardup.parameters import DEFAULTS

BY_NAME = {scale.name: scale for scale in SCALES}
NUMBERS = st.sampled_from(SCALES).flatmap(
    lambda scale: st.tuples(
        st.just(scale), st.floats(scale.lowest, scale.highest) | st.just(scale.most)
    )
)


class TestChoicesProperties:
    @given(st.lists(NUMBERS, max_size=20))
    def test_no_way_leads_to_an_impossible_choice(self, chosen: list[tuple[Scale, float]]) -> None:
        choice = Choice()
        for scale, value in chosen:
            number = scale.checked(value)
            assert number is not None
            # Parameters refuses what does not fit together.
            choice = choice.with_parameters(**{scale.name: number})
            assert getattr(choice.parameters, scale.name) == number


def test_parts_are_not_dropped_where_nothing_confirms() -> None:
    dropping = Choice().with_parameters(drop_contained=True)
    assert not with_verify(dropping, verify=False).parameters.drop_contained


@pytest.mark.parametrize(
    ("name", "typed", "meant"),
    [
        ("max_distance", 3.0, 3),
        ("max_distance", 9, None),
        ("max_distance", None, None),
        ("max_distance", float("nan"), None),
        ("min_similarity", 0.30000000000000004, 0.3),
        ("min_similarity", 1.2, None),
        ("min_words", 5_000, 5_000),
        ("min_words", 0, None),
    ],
)
def test_only_what_is_allowed_is_taken_from_a_field(
    name: str, typed: float | None, meant: float | None
) -> None:
    assert BY_NAME[name].checked(typed) == meant


def test_fingerprints_stay_when_confirmation_is_switched() -> None:
    alone = with_verify(Choice(), verify=False)
    held = Choice().parameters
    assert alone.parameters.fingerprint_features == held.fingerprint_features
    assert not alone.parameters.verify


def test_features_of_the_crawl_are_found_again() -> None:
    other = with_features(Choice(), DEFAULTS, unit="character", size=4)
    assert other.parameters.features == Features("character", 4, "log_count")
    assert with_features(other, DEFAULTS, unit="word", size=1) == Choice()


def test_features_of_a_crawl_without_confirmation_are_not_those_of_one_with_it() -> None:
    holding = Parameters(verify=False)
    choice = with_features(with_verify(Choice(holding), verify=True), holding, weight="count")
    back = with_features(choice, holding, weight="set")
    assert back.parameters.fingerprint_features == holding.fingerprint_features


@pytest.mark.parametrize("method", METHODS)
def test_every_method_says_which_numbers_it_uses(method: str) -> None:
    assert used_numbers(Choice(method=method)) <= BY_NAME.keys()


def test_numbers_without_effect_are_named_as_such() -> None:
    assert used_numbers(Choice()) == BY_NAME.keys()
    assert "min_similarity" not in used_numbers(with_verify(Choice(), verify=False))
    assert "max_distance" not in used_numbers(Choice(method="exact"))
