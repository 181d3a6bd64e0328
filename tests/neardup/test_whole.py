"""Texts that are judged together with the whole that they were taken from."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import Deduplicator, Parameters, analyse, jaccard
from neardup.fingerprints.digest import text_digest
from neardup.verification import JaccardVerifier, compared_with
from neardup.whole import part_of, readable, split_whole, with_whole
from tests.neardup.texts import changed, prose

PART = prose(1, 141)
CAPTIONS = prose(2, 180)

texts = st.builds(changed, st.just(PART), st.integers(0, 9), st.integers(0, 30))
wholes = st.just("") | st.builds(changed, st.just(CAPTIONS), st.integers(0, 9), st.integers(0, 30))


class TestWholeProperties:
    @given(st.text(), st.text())
    def test_parts_come_back(self, text: str, whole: str) -> None:
        joined = with_whole(text.replace("\0", ""), whole.replace("\0", ""))
        part, back = split_whole(joined)
        assert part == part_of(joined) == text.replace("\0", "")
        assert back == (whole.replace("\0", "") or part)
        assert "\0" not in readable(joined)

    @given(texts, wholes)
    def test_words_and_fingerprint_are_of_the_text_and_the_digest_of_both(
        self, text: str, whole: str
    ) -> None:
        joined = with_whole(text, whole)
        document, alone = analyse(joined), analyse(text)
        assert (document.words, document.fingerprint) == (alone.words, alone.fingerprint)
        assert document.digest == text_digest(joined)
        assert (document.digest == alone.digest) is not bool(whole)

    @settings(deadline=None)
    @given(texts, wholes, texts, wholes)
    def test_similarity_is_the_minimum_of_both_parts(
        self, text: str, whole: str, other: str, other_whole: str
    ) -> None:
        compared = compared_with(JaccardVerifier(), with_whole(text, whole), min_similarity=0)
        found = compared(with_whole(other, other_whole))
        of_wholes = jaccard(whole or text, other_whole or other)
        expected = min(jaccard(text, other), of_wholes)
        assert found == expected or max(found, expected) < 0.5


def test_equal_texts_of_different_wholes_are_all_kept() -> None:
    judge = Deduplicator(Parameters())
    for number in range(5):
        whole = f"{PART} {prose(10 + number, 160)}"
        assert judge.judge(number, with_whole(PART, whole)).kind == "new"


def test_equal_texts_of_similar_wholes_are_near_duplicates() -> None:
    judge = Deduplicator(Parameters())
    assert judge.judge(1, with_whole(PART, f"{PART} {CAPTIONS}")).kind == "new"
    verdict = judge.judge(2, with_whole(PART, f"{PART} {changed(CAPTIONS, 3)}"))
    assert (verdict.kind, verdict.duplicate_of, verdict.distance) == ("near_duplicate", 1, 0)
    assert verdict.similarity is not None
    assert 0.9 < verdict.similarity < 1
    assert judge.judge(3, with_whole(PART, f"{PART} {CAPTIONS}")).kind == "text_duplicate"
