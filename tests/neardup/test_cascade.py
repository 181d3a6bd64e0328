from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from neardup import Deduplicator, Document, Parameters, Verdict, analyse, hamming, jaccard
from neardup.errors import ParameterError
from neardup.fingerprints.digest import payload_digest
from tests.neardup.texts import FAR, NEAR, PAGE, changed
from tests.neardup.verdicts import (
    FEATURES,
    NEW,
    TOO_SHORT,
    equal,
    fingerprint_of,
    without_parts,
)


class TestVerification:
    # Two texts of other words: only a forged fingerprint makes them candidates.
    FORGED = Document(1000, analyse(FAR).digest, fingerprint_of(PAGE), FAR)

    def test_unverified_the_distance_decides(self) -> None:
        deduplicator = Deduplicator(Parameters(FEATURES, verify=False))
        deduplicator.judge(1, PAGE)
        verdict = deduplicator.judge_document(2, self.FORGED)
        assert verdict == Verdict("near_duplicate", 1, 0, None, "simhash")

    def test_the_min_similarity_is_enough(self) -> None:
        deduplicator = Deduplicator(Parameters(min_similarity=1))
        deduplicator.judge(1, PAGE)
        assert deduplicator.judge(2, PAGE + "!") == Verdict("near_duplicate", 1, 0, 1.0, "simhash")
        assert without_parts(deduplicator.judge(3, NEAR)) == NEW

    def test_a_farther_candidate_is_taken_when_the_nearest_is_not_alike(self) -> None:
        deduplicator = Deduplicator()
        deduplicator.judge(1, NEAR)
        assert deduplicator.judge_document(2, self.FORGED) == NEW
        assert deduplicator.judge(3, PAGE).duplicate_of == 1

    def test_a_candidate_beyond_the_matches_is_confirmed_too(self) -> None:
        far = next(
            text
            for seed in range(1000)
            if 3 < hamming(fingerprint_of(PAGE), fingerprint_of(text := _edited(seed))) <= 8
            and jaccard(PAGE, text) >= 0.8
        )
        deduplicator = Deduplicator()
        deduplicator.judge(1, PAGE)
        verdict = deduplicator.judge(2, far)
        assert (verdict.duplicate_of, verdict.tier) == (1, "candidate")
        assert verdict.similarity == jaccard(PAGE, far)
        deduplicator = Deduplicator(Parameters(FEATURES, verify=False))
        deduplicator.judge(1, PAGE)
        assert deduplicator.judge(2, far) == NEW

    def test_another_verifier_confirms_in_its_place(self) -> None:
        class SameLength:
            measure = "length"

            def compared_with(self, text: str) -> Callable[[str], float]:
                return lambda other: float(len(text) == len(other))

        deduplicator = Deduplicator(verifier=SameLength())
        deduplicator.judge(1, PAGE)
        assert without_parts(deduplicator.judge(2, PAGE + "!")) == NEW
        assert deduplicator.judge_document(
            3, replace(analyse(FAR), fingerprint=fingerprint_of(PAGE))
        ) == (NEW if len(FAR) != len(PAGE) else Verdict("near_duplicate", 1, 0, 1.0, "simhash"))
        with pytest.raises(ParameterError, match="leave out verifier"):
            Deduplicator(Parameters(verify=False), verifier=SameLength())


def _edited(seed: int) -> str:
    return changed(PAGE, seed, count=20)


class TestPayloads:
    def test_the_same_bytes_are_decided_before_the_text(self, tmp_path: Path) -> None:
        for deduplicator in (Deduplicator(), Deduplicator(path=tmp_path)):
            with deduplicator:
                assert deduplicator.judge(1, PAGE, payload=b"<p>page") == NEW
                again = deduplicator.judge(2, "read otherwise", payload=b"<p>page")
                assert again == Verdict("exact_duplicate", 1, 0, 1.0, "payload")
                assert deduplicator.find_payload(payload_digest(b"<p>page")) == again
                assert deduplicator.find_payload(payload_digest(b"other")) is None
                assert deduplicator.judge(3, PAGE, payload=b"<b>page") == equal(1)
                assert deduplicator.judge(4, FAR, payload=b"<p>page", exclude={1}) == NEW
                # Kept by themselves, so they get their verdict again.
                assert deduplicator.judge(1, PAGE, payload=b"<p>page") == NEW
                assert deduplicator.judge(4, FAR, payload=b"<p>page") == NEW

    def test_they_are_known_when_the_directory_is_opened_again(self, tmp_path: Path) -> None:
        with Deduplicator(path=tmp_path) as deduplicator:
            deduplicator.judge(1, PAGE, payload=b"page")
        with Deduplicator(path=tmp_path) as deduplicator:
            assert deduplicator.judge(2, FAR, payload=b"page").duplicate_of == 1

    def test_the_bytes_of_an_empty_text_make_no_verdict(self) -> None:
        deduplicator = Deduplicator()
        assert deduplicator.judge(1, "", payload=b"<p>") == TOO_SHORT
        assert deduplicator.judge(2, "", payload=b"<p>") == TOO_SHORT
