"""What is read of candidates, and what a text costs that has too many of them."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from neardup import Deduplicator, Document, Parameters, Verdict, analyse, jaccard
from neardup.candidates import Bitmaps
from neardup.features.bitmaps import Bitmap
from neardup.storage.documents import MemoryDocuments
from neardup.whole import with_whole
from tests.neardup.texts import PAGE, changed, prose
from tests.neardup.verdicts import NEW

FINGERPRINT = 0x0123456789ABCDEF


class CountingDocuments(MemoryDocuments):
    """Counts how often each text is read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads: Counter[int] = Counter()

    def text(self, id: int) -> str | None:  # noqa: A002  (the field's word)
        self.reads[id] += 1
        return super().text(id)


def half_alike(count: int) -> Iterator[str]:
    """Yield texts of which any two share half of their shingles, and all have the same words."""
    source = random.Random(3)
    common, rest = prose(1, 300), prose(2, 300).split()
    sentences = [" ".join(rest[at : at + 10]) for at in range(0, 300, 10)]
    for _ in range(count):
        source.shuffle(sentences)
        yield f"{common} {' '.join(sentences)}"


def _of(text: str) -> int | None:
    return analyse(text).fingerprint


def alike_in_fingerprint(text: str) -> Document:
    """Return a text with the fingerprint that all of these have."""
    return Document(1000, analyse(text).digest, FINGERPRINT, text)


def test_texts_that_are_half_alike_are_each_read_once() -> None:
    texts = list(half_alike(60))
    assert 0.4 < jaccard(texts[0], texts[1]) < 0.75
    documents = CountingDocuments()
    deduplicator = Deduplicator(documents=documents)
    for number, text in enumerate(texts):
        assert deduplicator.judge(number, text) == NEW
    assert set(documents.reads.values()) == {1}
    assert sum(documents.reads.values()) <= len(texts)


def test_a_text_that_is_alike_is_found_among_those_that_are_half_alike() -> None:
    texts = list(half_alike(60))
    deduplicator = Deduplicator()
    for number, text in enumerate(texts):
        deduplicator.judge(number, text)
    for number, text in enumerate(texts):
        near = changed(text, number, 3)
        verdict = deduplicator.judge(100 + number, near)
        assert verdict.duplicate_of == number
        assert verdict.similarity == jaccard(text, near)


class TestBudget:
    @pytest.fixture(autouse=True)
    def short(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("neardup.candidates.MAX_CHARACTERS", 5 * len(PAGE))

    def test_a_page_beyond_it_is_kept_and_says_what_it_was_not_compared_with(self) -> None:
        deduplicator = Deduplicator(documents=(documents := CountingDocuments()))
        for number in range(10):
            document = alike_in_fingerprint(prose(number, 1000))
            deduplicator.add_document(number, document)
        verdict = deduplicator.judge_document(10, alike_in_fingerprint(prose(10, 1000)))
        assert verdict.kind == "new"
        assert sum(documents.reads.values()) in {4, 5}
        assert verdict.left_out in {6, 7}
        assert documents.text(10) is not None

    def test_what_is_told_apart_without_being_read_costs_nothing_of_it(self) -> None:
        deduplicator = Deduplicator(documents=(documents := CountingDocuments()))
        for number in range(10):
            deduplicator.add_document(number, alike_in_fingerprint(prose(number, 1000)))
        left_out = [
            deduplicator.judge_document(number, alike_in_fingerprint(prose(number, 1000))).left_out
            for number in range(10, 18)
        ]
        assert left_out == sorted(left_out, reverse=True)
        assert left_out[0] > left_out[-1] == 0
        assert max(documents.reads.values()) <= 2

    @pytest.mark.parametrize("times", [2, 3, 6])
    def test_a_text_that_it_does_not_allow_to_compare_is_kept_unless_it_is_equal(
        self, times: int
    ) -> None:
        # At 2 and 3 times the page its words may not be counted, at 6 it may not be hashed either.
        deduplicator = Deduplicator()
        near = changed(PAGE * times, 1, 3)
        assert jaccard(PAGE * times, near) > 0.9
        deduplicator.judge(1, PAGE * times)
        verdict = deduplicator.judge_document(
            2, replace(analyse(near), fingerprint=_of(PAGE * times))
        )
        assert (verdict.kind, verdict.left_out) == ("new", 1)
        assert deduplicator.judge(3, near + "\n").duplicate_of == 2

    def test_so_is_one_whose_whole_is_too_long_to_be_compared(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = prose(1, 10_000)
        first, second = (with_whole(PAGE, one) for one in (whole, changed(whole, 1, 3)))
        judged = []
        for most in (3 * len(whole), 100 * len(whole)):
            monkeypatch.setattr("neardup.candidates.MAX_CHARACTERS", most)
            deduplicator = Deduplicator()
            deduplicator.judge(1, first)
            judged.append(deduplicator.judge(2, second))
        assert [(one.kind, one.left_out) for one in judged] == [
            ("new", 1),
            ("near_duplicate", 0),
        ]

    def test_another_verifier_has_it_too(self) -> None:
        class Never:
            measure = "nothing"

            def compared_with(self, text: str) -> Callable[[str], float]:
                return lambda other: 0.0

        deduplicator = Deduplicator(verifier=Never())
        for number in range(10):
            deduplicator.add_document(number, alike_in_fingerprint(prose(number, 1000)))
        verdict = deduplicator.judge_document(10, alike_in_fingerprint(prose(10, 1000)))
        assert verdict.left_out in {5, 6, 7}


def test_more_candidates_than_are_looked_at_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neardup.candidates.MAX_CANDIDATES", 5)
    deduplicator = Deduplicator()
    for number in range(6):
        deduplicator.add_document(number, alike_in_fingerprint(prose(number, 1000)))
    assert deduplicator.judge_document(6, alike_in_fingerprint(prose(6, 1000))).left_out == 1
    assert deduplicator.judge_document(7, alike_in_fingerprint(prose(2, 1000))).duplicate_of == 2
    far = Document(1000, analyse("far").digest, FINGERPRINT ^ 0b1111, "far")
    deduplicator.tune(Parameters(candidate_distance=3))
    assert deduplicator.judge_document(8, far) == Verdict("new")


def test_bitmaps_take_no_more_memory_than_they_may() -> None:
    bitmaps = Bitmaps(max_bytes=10 * 64)
    for number in range(12):
        bitmaps.add(number, Bitmap(1, np.zeros(8, np.uint64)))
        assert bitmaps.get(0) is not None or number > 9
    stored = [number for number in range(12) if bitmaps.get(number) is not None]
    assert stored == [0, *range(3, 12)]
    bitmaps.clear()
    assert bitmaps.get(11) is None
