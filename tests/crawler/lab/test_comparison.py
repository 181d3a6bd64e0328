"""Two texts under every measure."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.lab.comparison import compare, cosine
from neardup import Deduplicator, Parameters, analyse, hamming, jaccard, simhash
from tests.sites.prose import prose

TEXT = prose("first", 150)
WORDS = TEXT.split()


def edited(*places: int) -> str:
    return " ".join("changed" if place in places else word for place, word in enumerate(WORDS))


def test_measures_are_those_of_the_library() -> None:
    found = compare(TEXT, edited(70))
    ours, theirs = (simhash(text, Parameters().fingerprint_features) for text in (TEXT, edited(70)))
    assert (found.first.fingerprint, found.second.fingerprint) == (ours, theirs)
    assert found.distance == hamming(ours, theirs) == len(found.bits)
    assert sum(1 << bit for bit in found.bits) == ours ^ theirs
    assert found.jaccard == jaccard(TEXT, edited(70))
    assert found.first.words == found.second.words == 150
    assert found.estimate is not None
    assert abs(found.estimate.similarity - found.jaccard) < 4 * found.estimate.standard_error


def test_shingles_that_only_one_has_are_named() -> None:
    found = compare(TEXT, edited(70))
    assert found.first.own.count == found.second.own.count == 5
    assert found.first.own.of == len({*zip(*(WORDS[n:] for n in range(5)), strict=False)})
    assert all("changed" in shingle.split() for shingle in found.second.own.first)
    assert not any("changed" in shingle for shingle in found.first.own.first)
    both = found.first.own.of - found.first.own.count
    assert found.jaccard == pytest.approx(both / (found.first.own.of + 5))
    assert len(compare(TEXT, prose("else")).first.own.first) == 20


def test_part_of_a_text_is_contained_in_it() -> None:
    found = compare(TEXT, " ".join(WORDS[:75]))
    assert found.second_in_first == 1
    assert 0.4 < found.first_in_second < 0.6


def test_cosine_is_that_of_the_counts() -> None:
    assert cosine("a a b", "a a b", "count") == 1
    assert cosine("a b", "c d", "count") == 0
    assert cosine("a a b", "a c", "count") == pytest.approx(2 / (5**0.5 * 2**0.5))
    assert cosine("", "", "count") == 1
    assert cosine("", "a", "count") == 0


def test_equal_texts_are_equal_whatever_their_case() -> None:
    found = compare(TEXT, TEXT.upper())
    assert found.is_equal
    assert (found.distance, found.bits, found.jaccard, found.cosine) == (0, (), 1.0, 1.0)
    assert {at.confirmed for at in found.verdicts} == {"text_duplicate"}


def test_texts_of_nothing_and_of_next_to_nothing() -> None:
    found = compare("", "one")
    assert found.distance is None
    assert found.estimate is None
    assert found.verdict == "too_short"
    assert compare("", "").verdict == "too_short"


def test_only_equality_counts_where_a_main_text_is_not_believed() -> None:
    assert compare(TEXT, edited(70)).verdict == "near_duplicate"
    assert compare(TEXT, edited(70), are_main=False).verdict == "new"
    assert compare(TEXT, TEXT, are_main=False).verdict == "text_duplicate"


def test_long_texts_have_no_edit_ratio() -> None:
    assert compare("word " * 30_000, "word " * 30_001).edit_ratio is None


def test_it_goes_through_json() -> None:
    found = json.loads(json.dumps(compare(TEXT, edited(70)).to_dict()))
    assert found["first"]["words"] == 150
    assert len(found["verdicts"]) == 9
    assert found["differing_bits"] == list(compare(TEXT, edited(70)).bits)


class TestVerdictProperties:
    @settings(max_examples=40, deadline=None)
    @given(
        places=st.sets(st.integers(0, 149), max_size=12),
        bits=st.integers(0, 8),
        verify=st.booleans(),
        least=st.sampled_from([0.0, 0.5, 0.7, 0.8, 0.9, 1.0]),
        min_words=st.sampled_from([1, 50, 150, 151]),
    )
    def test_verdicts_are_those_of_a_deduplicator(
        self,
        places: set[int],
        bits: int,
        verify: bool,
        least: float,
        min_words: int,
    ) -> None:
        parameters = Parameters(
            max_distance=bits,
            verify=verify,
            min_similarity=least,
            min_words=min_words,
        )
        found = compare(TEXT, edited(*places), parameters)
        assert found.verdict == judged(edited(*places), parameters)
        for at in found.verdicts:
            tried = replace(
                parameters,
                features=parameters.fingerprint_features,
                max_distance=at.max_distance,
            )
            confirmed, alone = replace(tried, verify=True), replace(tried, verify=False)
            assert at.confirmed == judged(edited(*places), confirmed)
            assert at.alone == judged(edited(*places), alone)

    @pytest.mark.parametrize("verify", [True, False])
    def test_texts_of_next_to_nothing_are_judged_as_by_a_deduplicator(self, verify: bool) -> None:
        parameters = Parameters(min_words=1, verify=verify)
        for first, second in product(("", " ", "!", "! !", "a", "A ", "\x00", "\ud800"), repeat=2):
            found = compare(first, second, parameters)
            assert found.verdict == judged(second, parameters, first=first), (first, second)


def judged(text: str, parameters: Parameters, *, first: str = TEXT) -> str:
    with Deduplicator(parameters) as deduplicator:
        deduplicator.judge_document(0, analyse(first, parameters))
        return deduplicator.judge_document(1, analyse(text, parameters)).kind
