"""What is read of candidates, and what a text costs that has too many of them."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import pytest

from neardup import Deduplicator, Document, analyse, jaccard
from neardup.candidates import MAX_OTHERS, LruCache
from neardup.features.hashing import Hashes
from neardup.names import Name
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


class TestSiblings:
    """Pages on one template, of other names each."""

    COUNT = 400

    @pytest.fixture
    def documents(self) -> CountingDocuments:
        return CountingDocuments()

    @pytest.fixture
    def siblings(self, documents: CountingDocuments) -> Deduplicator:
        deduplicator = Deduplicator(documents=documents)
        for number in range(self.COUNT):
            reads = documents.reads.total()
            text, name = self.product(number)
            verdict = deduplicator.judge(number, text, name=name)
            assert verdict.kind == ("same_template" if number else "new")
            assert documents.reads.total() - reads <= MAX_OTHERS
        return deduplicator

    @staticmethod
    def product(number: int) -> tuple[str, Name]:
        heading = f"Widget {number * 10}"
        return f"{heading}\n{PAGE}", Name(heading=heading)

    def test_few_texts_are_read_for_a_page_on_the_template(
        self, siblings: Deduplicator, documents: CountingDocuments
    ) -> None:
        # One that is confirmed is enough, and the nearest is.
        assert len(siblings) == self.COUNT
        assert documents.reads.total() < 1.1 * self.COUNT

    @pytest.mark.parametrize("number", [0, 1, 200, 399])
    def test_the_copy_of_one_is_found_by_reading_it_alone(
        self, siblings: Deduplicator, documents: CountingDocuments, number: int
    ) -> None:
        text, name = self.product(number)
        documents.reads.clear()
        verdict = siblings.judge(1000, changed(text, 1, 3), name=name)
        assert (verdict.kind, verdict.duplicate_of) == ("near_duplicate", number)
        assert documents.reads == {number: 1}

    @pytest.mark.parametrize("number", [0, 200, 399])
    def test_siblings_of_other_names_do_not_count_for_the_candidates_that_are_looked_at(
        self, siblings: Deduplicator, monkeypatch: pytest.MonkeyPatch, number: int
    ) -> None:
        monkeypatch.setattr("neardup.candidates.MAX_CANDIDATES", 5)
        text, name = self.product(number)
        verdict = siblings.judge(1000, changed(text, 1, 3), name=name)
        assert (verdict.duplicate_of, verdict.left_out) == (number, 0)

    def test_others_that_it_does_not_resemble_are_not_all_read(
        self, documents: CountingDocuments
    ) -> None:
        deduplicator = Deduplicator(documents=documents)
        *texts, last = half_alike(60)
        for number, text in enumerate(texts):
            deduplicator.add_document(number, analyse(text, name=Name(heading=f"Part {number}")))
        assert deduplicator.judge(1000, last, name=Name(heading="Preface")) == NEW
        assert documents.reads.total() == MAX_OTHERS


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

    @pytest.mark.parametrize("times", [3, 6])
    def test_a_text_that_it_does_not_allow_to_compare_is_kept_unless_it_is_equal(
        self, times: int
    ) -> None:
        # At 3 times the page they are too long together, at 6 the text in hand is alone.
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
        for most in (2 * len(whole), 100 * len(whole)):
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


def test_what_is_held_takes_no_more_memory_than_it_may() -> None:
    held = LruCache[Hashes](10 * 64, lambda one: one.nbytes)
    for number in range(12):
        held.add(number, np.zeros(8, np.uint64))
        held.add(number, np.ones(80, np.uint64))
        assert held.get(0) is not None or number > 9
    stored = [number for number in range(12) if held.get(number) is not None]
    assert stored == [0, *range(3, 12)]
