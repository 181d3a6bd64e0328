import logging
import random
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import Deduplicator, Parameters, Verdict, analyse
from neardup.errors import ParameterError
from neardup.indexes import lsh
from neardup.indexes.lsh import LshIndex
from neardup.indexes.passages import MAX_TEXTS, PASSAGE_BANDING
from neardup.names import Name
from neardup.parts import MAX_READ, MIN_CONTAINMENT
from neardup.storage.documents import MemoryDocuments
from neardup.storage.signatures import memory_passages
from neardup.verdict import Part
from neardup.verification import JaccardVerifier, containment
from neardup.whole import with_whole
from tests.neardup.texts import changed, prose

PAGE = prose(1, 600)
HALF = " ".join(PAGE.split()[:300])
WRAPPED = f"{prose(2, 300)} {HALF} {prose(3, 200)}"
DROPPING = Parameters(drop_contained=True)


class Captures(MemoryDocuments):
    """The captures of one page, of which the newest one alone is found."""

    newest = 0

    def words_of(self, ids: Collection[int]) -> dict[int, int]:
        return super().words_of({self.newest}.intersection(ids))


class CountedReads(MemoryDocuments):
    """Counts how often each text is read."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = Counter[int]()

    def text(self, id: int) -> str | None:  # noqa: A002  (the field's word)
        self.reads[id] += 1
        return super().text(id)


def judged(*texts: str, parameters: Parameters | None = None) -> list[Verdict]:
    deduplicator = Deduplicator(parameters or Parameters())
    return [deduplicator.judge(number, text) for number, text in enumerate(texts)]


def shingles(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return set(zip(*(words[place:] for place in range(5)), strict=False))


class TestParts:
    @pytest.mark.parametrize("other", [PAGE, WRAPPED], ids=["page", "wrapped"])
    def test_a_later_part_names_the_kept_text_that_holds_it(self, other: str) -> None:
        _, verdict = judged(other, HALF)
        assert verdict == Verdict("new", part_of=0, containment=1.0)

    @pytest.mark.parametrize("other", [PAGE, WRAPPED], ids=["page", "wrapped"])
    def test_a_later_whole_names_its_kept_parts(self, other: str) -> None:
        _, _, verdict = judged(prose(9), HALF, other)
        assert verdict == Verdict("new", parts=(Part(1, 1.0),))

    def test_a_whole_names_all_chapters_however_many(self) -> None:
        chapters = [prose(10 + number, 150) for number in range(3 * MAX_READ)]
        *_, verdict = judged(*chapters, " ".join(chapters))
        assert {part.id for part in verdict.parts} == set(range(len(chapters)))

    def test_a_part_of_a_part_names_one_of_both(self) -> None:
        quarter = " ".join(HALF.split()[:150])
        *_, verdict = judged(PAGE, HALF, quarter)
        assert verdict.part_of in {0, 1}

    def test_a_copy_is_no_part(self) -> None:
        _, equal, near = judged(PAGE, PAGE.upper(), changed(PAGE, 1))
        for verdict in (equal, near):
            assert verdict.is_duplicate
            assert (verdict.part_of, verdict.containment, verdict.parts) == (None, None, ())

    def test_texts_that_share_less_are_no_parts(self) -> None:
        most = " ".join([*HALF.split()[:255], *prose(4, 45).split()])
        assert containment(most, PAGE) < MIN_CONTAINMENT
        assert judged(PAGE, most)[1] == judged(most, PAGE)[1] == Verdict("new")

    def test_where_texts_come_with_their_wholes_both_must_stand_there(self) -> None:
        captions = prose(5, 100)
        whole = with_whole(PAGE, f"{PAGE} {captions}")
        _, with_other, with_same = judged(
            whole,
            with_whole(HALF, f"{HALF} {prose(6, 100)}"),
            with_whole(HALF, f"{HALF} {captions}"),
        )
        assert with_other == Verdict("new")
        assert with_same.part_of == 0

    def test_a_text_that_holds_many_parts_is_read_once(self) -> None:
        chapters = [prose(20 + number, 150) for number in range(6)]
        captions = prose(5, 100)
        whole = " ".join(chapters)
        documents = CountedReads()
        deduplicator = Deduplicator(documents=documents, passages=memory_passages(5))
        deduplicator.judge(0, with_whole(whole, f"{whole} {captions}"))
        for number, chapter in enumerate(chapters, 1):
            verdict = deduplicator.judge(number, with_whole(chapter, f"{chapter} {captions}"))
            assert verdict.part_of == 0
        assert documents.reads[0] == 1

    def test_a_passage_of_very_many_texts_makes_no_part(self) -> None:
        template = prose(7, 200)
        pages = [f"{template} {prose(100 + number, 100)}" for number in range(2 * MAX_TEXTS)]
        found = judged(*pages, template)
        assert [verdict.part_of for verdict in found] == [None] * len(found)

    def test_what_its_owner_does_not_store_names_nothing(self) -> None:
        deduplicator = Deduplicator()
        other = Deduplicator(passages=deduplicator._passages)
        deduplicator.judge(1, PAGE)
        assert other.judge(2, HALF) == Verdict("new")

    def test_excluded_texts_are_not_named(self) -> None:
        deduplicator = Deduplicator()
        deduplicator.judge(1, PAGE)
        assert deduplicator.judge(2, HALF, exclude={1}) == Verdict("new")

    def test_where_the_distance_decides_alone_nothing_is_looked_for(self) -> None:
        assert judged(PAGE, HALF, parameters=Parameters(verify=False))[1].part_of is None

    def test_short_texts_are_no_parts(self) -> None:
        assert judged(PAGE, " ".join(PAGE.split()[:49]))[1] == Verdict("too_short")

    @pytest.mark.parametrize("entries", [100, 20_000])
    def test_where_no_more_passages_fit_texts_are_kept_all_the_same(
        self, entries: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        passages = LshIndex(permutations=1, shape=PASSAGE_BANDING)
        passages.add_many(np.arange(entries, dtype=np.uint32)[:, np.newaxis], 10**9)
        deduplicator = Deduplicator(documents=MemoryDocuments(), passages=passages)
        deduplicator.judge(1, PAGE)
        held = len(passages)
        monkeypatch.setattr(lsh, "MAX_ROWS", held)
        caplog.set_level(logging.WARNING)
        other = prose(2, 600)
        assert deduplicator.judge(2, other) == Verdict("new")
        deduplicator.add_document(3, analyse(prose(3, 600)))
        assert len(passages) == held
        assert deduplicator.judge(4, changed(other, 1)).duplicate_of == 2
        assert deduplicator.judge(5, prose(3, 600)).duplicate_of == 3
        assert deduplicator.judge(6, HALF).part_of == 1
        assert [record.getMessage() for record in caplog.records] == [
            f"the index of passages is full with {held} entries: no parts of later texts are found"
        ]

    def test_earlier_captures_of_a_page_hide_nothing_of_its_newest_one(self) -> None:
        captures = Captures()
        deduplicator = Deduplicator(documents=captures, passages=memory_passages(5))
        for number in range(3 * MAX_TEXTS):
            text = f"{PAGE} {prose(100 + number, 300)}"
            verdict = deduplicator.judge(number, text, exclude={captures.newest})
            assert not verdict.is_duplicate
            captures.newest = number
        assert deduplicator.judge(1000, HALF).part_of == captures.newest

    def test_shingles_of_another_size_that_a_verifier_counted_hide_no_part(self) -> None:
        deduplicator = Deduplicator(verifier=JaccardVerifier(8))
        deduplicator.judge(0, PAGE)
        assert deduplicator.judge(1, changed(PAGE, 1, 12)).kind == "new"
        assert deduplicator.comparisons["compared"] == 1
        assert deduplicator.judge(2, HALF) == Verdict("new", part_of=0, containment=1.0)

    def test_forgotten_texts_hide_nothing(self) -> None:
        captures = Captures()
        deduplicator = Deduplicator(documents=captures, passages=memory_passages(5))
        for number in range(2 * MAX_TEXTS):
            text = f"{PAGE} {prose(100 + number, 300)}"
            deduplicator.forget(captures.newest)
            deduplicator.add_document(number, analyse(text))
            captures.newest = number
        assert deduplicator.judge(1000, HALF).part_of == captures.newest


class TestDropping:
    def test_a_part_is_dropped_on_wish_and_names_the_whole(self) -> None:
        deduplicator = Deduplicator(DROPPING)
        deduplicator.judge(1, PAGE)
        verdict = deduplicator.judge(2, HALF)
        assert verdict == Verdict("contained", 1, tier="passage", containment=1.0)
        assert len(deduplicator) == 1
        assert deduplicator.judge(2, HALF) == verdict

    def test_a_part_that_came_first_is_kept(self) -> None:
        part, whole = judged(HALF, PAGE, parameters=DROPPING)
        assert (part.kind, whole.kind, whole.parts) == ("new", "new", (Part(0, 1.0),))

    def test_a_part_of_another_name_is_kept(self) -> None:
        deduplicator = Deduplicator(DROPPING)
        deduplicator.judge(1, PAGE, name=Name(title="The Book", heading="The Book"))
        chapter = Name(title="Chapter 3", heading="Chapter 3")
        assert deduplicator.judge(2, HALF, name=chapter).part_of == 1
        deduplicator.tune(replace(DROPPING, compare_names=False))
        assert deduplicator.judge(3, f"{HALF} end", name=chapter).is_duplicate

    def test_a_whole_of_the_same_name_is_looked_for(self) -> None:
        book, excerpt = Name(heading="The Book"), Name(heading="Excerpt")
        deduplicator = Deduplicator(DROPPING)
        deduplicator.judge(1, f"{prose(20, 400)} {PAGE}", name=excerpt)
        deduplicator.judge(2, f"{prose(30, 400)} {PAGE}", name=book)
        assert deduplicator.judge(3, HALF, name=book).duplicate_of == 2

    def test_what_is_not_confirmed_cannot_be_dropped(self) -> None:
        with pytest.raises(ParameterError, match="drop_contained needs verify"):
            Parameters(verify=False, drop_contained=True)


pieces = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 3)), min_size=1, max_size=5)


class TestPartsProperties:
    @settings(max_examples=60, deadline=None)
    @given(st.lists(pieces, min_size=2, max_size=8), st.integers(0, 9))
    def test_each_part_that_is_told_is_one_and_each_that_is_one_is_told(
        self, pages: list[list[tuple[int, int]]], seed: int
    ) -> None:
        """Texts of passages of 60 words, some of them edited; the oracle compares all pairs."""
        source = random.Random(seed)
        texts = [
            " ".join(
                changed(prose(passage, 60), source.randrange(99), edits) for passage, edits in page
            )
            for page in pages
        ]
        deduplicator, kept, told = Deduplicator(), dict[int, str](), set[tuple[int, int]]()
        for number, text in enumerate(texts):
            verdict = deduplicator.judge(number, text)
            if verdict.is_duplicate:
                continue
            assert all(part.id in kept for part in verdict.parts)
            if verdict.part_of is not None:
                assert verdict.part_of in kept
                assert verdict.containment == share(text, kept[verdict.part_of])
                told.add((number, verdict.part_of))
            for part in verdict.parts:
                assert part.containment == share(kept[part.id], text)
                told.add((part.id, number))
            kept[number] = text
        for one, whole in told:
            assert share(kept[one], kept[whole]) >= MIN_CONTAINMENT
            assert len(kept[one].split()) <= len(kept[whole].split())
        named = {one for one, _ in told}
        for one, whole in permutations(kept, 2):
            is_shorter = len(kept[one].split()) < len(kept[whole].split())
            if is_shorter and share(kept[one], kept[whole]) == 1:
                assert one in named


def share(part: str, whole: str) -> float:
    ours = shingles(part)
    return len(ours & shingles(whole)) / len(ours)


def test_a_document_without_a_sample_gets_one() -> None:
    deduplicator = Deduplicator()
    deduplicator.judge(1, PAGE)
    document = replace(analyse(HALF), sample=None)
    assert deduplicator.judge_document(2, document).part_of == 1


def test_no_parts_are_looked_for_in_a_store_without_passages() -> None:
    with pytest.raises(ParameterError, match="pass passages="):
        Deduplicator(Parameters(drop_contained=True), documents=MemoryDocuments())
    deduplicator = Deduplicator(documents=MemoryDocuments())
    with pytest.raises(ParameterError, match="pass passages="):
        deduplicator.tune(Parameters(drop_contained=True))
    whole = " ".join(f"word{number}" for number in range(400))
    deduplicator.judge(1, whole)
    assert deduplicator.judge(2, whole[: len(whole) // 2]).part_of is None
