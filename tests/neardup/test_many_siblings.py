"""Thousands of pages on one template: the copy of one is found, and what it costs is counted."""

from __future__ import annotations

import pytest

from neardup import Deduplicator, LshIndex
from neardup.candidates import MAX_SHARING
from neardup.evidence import COMPARED, LEFT_OUT, TOLD_APART
from neardup.indexes.banding import CANDIDATE_BANDING, CANDIDATE_PERMUTATIONS
from neardup.names import Name
from neardup.storage.documents import MemoryDocuments
from tests.neardup.texts import PAGE, changed

pytestmark = pytest.mark.slow

COUNT = MAX_SHARING + 400


def product(number: int) -> tuple[str, Name]:
    heading = f"Widget {number * 10}"
    name = Name(f"{heading} | Shop", heading, identifiers=(f"sku:{number}",))
    return f"{heading}\n{PAGE}", name


@pytest.fixture(scope="module")
def documents() -> MemoryDocuments:
    return MemoryDocuments()


@pytest.fixture(scope="module")
def signatures() -> LshIndex:
    return LshIndex(0.8, permutations=CANDIDATE_PERMUTATIONS, shape=CANDIDATE_BANDING)


@pytest.fixture(scope="module")
def siblings(documents: MemoryDocuments, signatures: LshIndex) -> Deduplicator:
    deduplicator = Deduplicator(documents=documents, signatures=signatures)
    for number in range(COUNT):
        text, name = product(number)
        assert not deduplicator.judge(number, text, name=name).is_duplicate
    return deduplicator


NUMBERS = [0, 7, COUNT // 2, COUNT - 400, COUNT - 1]


@pytest.mark.parametrize("number", NUMBERS)
def test_the_copy_of_one_is_found_wherever_it_stands(siblings: Deduplicator, number: int) -> None:
    text, name = product(number)
    near = changed(text, number, 3)
    verdict = siblings.judge(10_000 + number, near, name=name)
    assert (verdict.kind, verdict.duplicate_of) == ("near_duplicate", number)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_deduplicator_that_is_opened_later_finds_it_too(
    siblings: Deduplicator, documents: MemoryDocuments, signatures: LshIndex, number: int
) -> None:
    assert len(siblings) >= COUNT
    text, name = product(number)
    later = Deduplicator(documents=documents, signatures=signatures)
    verdict = later.judge(20_000 + number, changed(text, number, 3), name=name)
    assert (verdict.kind, verdict.duplicate_of) == ("near_duplicate", number)


def test_what_was_compared_is_counted(siblings: Deduplicator) -> None:
    before = dict(siblings.comparisons)
    text, name = product(3)
    siblings.judge(30_000, changed(text, 3, 4), name=name)
    assert siblings.comparisons[COMPARED] == before[COMPARED] + 1
    assert siblings.comparisons[LEFT_OUT] == before[LEFT_OUT] == 0
    assert siblings.comparisons[TOLD_APART] == before[TOLD_APART]
