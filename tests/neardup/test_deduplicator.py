import shutil
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from neardup import (
    Deduplicator,
    Document,
    HammingIndex,
    Parameters,
    analyse,
    hamming,
    jaccard,
)
from neardup.errors import (
    ClosedError,
    DocumentError,
    DuplicateIdError,
    ParameterError,
)
from neardup.kept_facts import StoredFacts
from neardup.names import Name
from neardup.storage.documents import MemoryDocuments
from tests.damage import run_until_it_kills_itself
from tests.neardup.texts import FAR, NEAR, PAGE, SHORT, changed, prose
from tests.neardup.verdicts import FEATURES, NEW, TOO_SHORT, equal, fingerprint_of, without_parts

KILLED = """
import os, signal, sys
from neardup import Deduplicator
from tests.neardup.texts import prose
deduplicator = Deduplicator(path=sys.argv[1])
for number in range(60):
    deduplicator.judge(number, prose(number, 400))
    if number == 39:
        deduplicator.flush()
os.kill(os.getpid(), signal.SIGKILL)
"""


class CrawlDatabase:
    """The store of a crawler, which keeps the pages itself and lets ``add`` do nothing."""

    def __init__(self) -> None:
        self.pages: dict[int, Document] = {}

    def find_digest(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        found = (number for number, page in self.pages.items() if page.digest == digest)
        return next((number for number in found if number not in exclude), None)

    def text(self, id: int) -> str | None:  # noqa: A002  (the field's word)
        return self.pages[id].text if id in self.pages else None

    def name(self, id: int) -> str:  # noqa: A002  (the field's word)
        return self.pages[id].name if id in self.pages else ""

    def facts_of(self, ids: Collection[int]) -> list[StoredFacts]:
        pages = {number: self.pages[number] for number in ids if number in self.pages}
        return [
            StoredFacts(number, page.fingerprint, page.name)
            for number, page in pages.items()
            if page.fingerprint is not None
        ]

    def words_of(self, ids: Collection[int]) -> dict[int, int]:
        return {number: self.pages[number].words for number in ids if number in self.pages}

    def add(self, id: int, document: Document) -> None:  # noqa: A002  (the field's word)
        pass

    def find_payload(self, digest: bytes, exclude: Collection[int] = ()) -> int | None:
        found = (number for number, page in self.pages.items() if page.payload == digest)
        return next((number for number in found if number not in exclude), None)


@pytest.mark.parametrize("place", ["memory", "directory", "opened again", "killed"])
def test_an_id_that_was_dropped_stands_for_its_text(tmp_path: Path, place: str) -> None:
    deduplicator = Deduplicator(path=None if place == "memory" else tmp_path / "first")
    dropped = {2: PAGE + "!", 3: PAGE, 4: "", 5: "read otherwise"}
    assert deduplicator.judge(1, PAGE, payload=b"page") == NEW
    for number in (2, 3, 4):
        deduplicator.judge(number, dropped[number])
    assert deduplicator.judge(5, dropped[5], payload=b"page").kind == "exact_duplicate"
    deduplicator.flush()
    if place == "opened again":
        deduplicator.close()
        deduplicator = Deduplicator(path=tmp_path / "first")
    if place == "killed":
        shutil.copytree(tmp_path / "first", tmp_path / "second")
        deduplicator.close()
        deduplicator = Deduplicator(path=tmp_path / "second")
    with deduplicator:
        for number, text in dropped.items():
            for payload in (None, b"other", b"page"):
                with pytest.raises(DuplicateIdError, match=f"id {number} was judged with another"):
                    deduplicator.judge(number, FAR, payload=payload)
            with pytest.raises(DuplicateIdError, match="give each text its id"):
                deduplicator.add_document(number, analyse(FAR))
            again = deduplicator.judge(number, text, payload=b"page" if number == 5 else None)
            assert again.is_duplicate == bool(text)
        # Nobody knows the id of a text that was refused.
        assert deduplicator.judge(6, FAR) == NEW


def test_a_dropped_id_is_kept_where_other_parameters_say_so() -> None:
    deduplicator = Deduplicator()
    deduplicator.judge(1, PAGE)
    assert deduplicator.judge(2, NEAR).duplicate_of == 1
    deduplicator.tune(Parameters(min_similarity=1))
    assert without_parts(deduplicator.judge(2, NEAR)) == NEW
    assert deduplicator.judge(2, NEAR) == NEW
    with pytest.raises(DuplicateIdError, match="id 2 is kept with another text"):
        deduplicator.judge(2, FAR)


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\ufeff"])
def test_an_empty_text_is_never_a_duplicate_and_never_kept(text: str) -> None:
    documents = MemoryDocuments()
    deduplicator = Deduplicator(documents=documents)
    assert deduplicator.judge(1, text) == TOO_SHORT
    assert deduplicator.judge(2, text) == TOO_SHORT
    assert deduplicator.judge(1, text) == TOO_SHORT
    assert len(documents) == 0


def test_the_nearest_is_named_and_of_equals_the_lowest_id() -> None:
    deduplicator = Deduplicator(Parameters(max_distance=8, min_similarity=0.5))
    farther = changed(PAGE, 7, count=8)
    near = fingerprint_of(NEAR)
    assert hamming(fingerprint_of(farther), near) > hamming(fingerprint_of(PAGE), near)
    deduplicator.judge(1, farther)
    assert deduplicator.judge(9, PAGE, exclude={1}) == NEW
    assert deduplicator.judge(5, PAGE, exclude={1, 9}) == NEW
    assert deduplicator.judge(20, NEAR, exclude={5, 9}).duplicate_of == 1
    assert deduplicator.judge(20, NEAR).duplicate_of == 5


class TestExclude:
    def test_a_page_is_no_duplicate_of_its_earlier_captures(self) -> None:
        deduplicator = Deduplicator()
        deduplicator.judge(1, PAGE)
        assert deduplicator.judge(2, PAGE, exclude=[1]) == NEW
        assert deduplicator.judge(3, NEAR, exclude=(1, 2)) == NEW
        assert deduplicator.judge(4, PAGE, exclude={1}).duplicate_of == 2
        assert deduplicator.judge(5, NEAR, exclude={1, 2}).duplicate_of == 3


class TestTheSameId:
    @pytest.mark.parametrize("text", [FAR, NEAR, SHORT, ""])
    def test_a_kept_id_with_another_text_is_an_error(self, text: str) -> None:
        deduplicator = Deduplicator()
        deduplicator.judge(1, PAGE)
        with pytest.raises(DuplicateIdError, match="id 1 is kept with another text"):
            deduplicator.judge(1, text)
        assert len(deduplicator) == 1

    @pytest.mark.parametrize("text", [PAGE, SHORT])
    def test_it_is_not_its_own_duplicate_in_the_store_of_others(self, text: str) -> None:
        database = CrawlDatabase()
        deduplicator = Deduplicator(documents=database)
        verdict = deduplicator.judge(1, text)
        database.pages[1] = analyse(text)
        assert deduplicator.judge(1, text) == verdict
        assert not verdict.is_duplicate

    @pytest.mark.parametrize("number", [-1, 2**63, 1.5, "1", None])
    def test_what_is_no_id_is_refused(self, number: int) -> None:
        deduplicator = Deduplicator()
        with pytest.raises(DocumentError, match="id must be"):
            deduplicator.judge(number, PAGE)
        assert deduplicator.judge(1, PAGE) == NEW


class TestNoPageIsLost:
    @pytest.mark.parametrize("verify", [True, False])
    def test_a_fingerprint_without_its_text_makes_no_verdict(self, verify: bool) -> None:
        index = HammingIndex(radius=8)
        index.add(fingerprint_of(PAGE), 1)
        deduplicator = Deduplicator(Parameters(FEATURES, verify=verify), index=index)
        assert deduplicator.judge(2, PAGE) == NEW
        assert deduplicator.judge(3, NEAR).duplicate_of == 2

    @pytest.mark.parametrize("verify", [True, False])
    def test_a_text_that_its_owner_never_stored_makes_no_verdict(self, verify: bool) -> None:
        database = CrawlDatabase()
        parameters = Parameters(verify=verify)
        deduplicator = Deduplicator(parameters, documents=database)
        assert deduplicator.judge(1, PAGE) == NEW
        assert deduplicator.judge(2, PAGE) == NEW
        assert deduplicator.judge(3, NEAR) == NEW
        database.pages[2] = analyse(PAGE, parameters)
        assert deduplicator.judge(4, NEAR).duplicate_of == 2

    def test_what_flush_promised_survives_a_kill(self, tmp_path: Path) -> None:
        run_until_it_kills_itself(KILLED, tmp_path)
        with Deduplicator(path=tmp_path) as deduplicator:
            assert len(deduplicator) == 40
            # A crawl that resumes may judge again what it does not know to be kept.
            for number in range(30, 60):
                assert deduplicator.judge(number, prose(number, 400)) == NEW
            for number in range(60):
                copy = deduplicator.judge(1000 + number, prose(number, 400))
                assert copy.duplicate_of == number


class TestJudgeDocument:
    def test_a_long_document_without_a_fingerprint_is_compared_by_equality(self) -> None:
        deduplicator = Deduplicator()
        bare = replace(analyse(PAGE), fingerprint=None)
        assert deduplicator.judge_document(1, bare) == NEW
        assert deduplicator.judge_document(2, bare) == equal(1)
        assert deduplicator.judge(3, NEAR) == NEW
        assert len(deduplicator) == 1

    def test_the_fingerprint_of_a_short_document_does_not_count(self) -> None:
        deduplicator = Deduplicator(Parameters(verify=False))
        low = Parameters(min_words=1)
        assert deduplicator.judge_document(1, analyse(SHORT, low)) == TOO_SHORT
        assert deduplicator.judge_document(2, analyse(SHORT + "!", low)) == TOO_SHORT
        assert len(deduplicator) == 0


class TestAddDocument:
    def test_later_texts_are_compared_with_what_was_added_unasked(self) -> None:
        deduplicator = Deduplicator()
        deduplicator.judge(1, PAGE)
        deduplicator.add_document(2, analyse(NEAR))
        assert deduplicator.judge(3, PAGE, exclude={1}).duplicate_of == 2
        assert deduplicator.judge(4, NEAR) == equal(2)
        assert len(deduplicator) == 2

    def test_adding_again_changes_nothing_and_another_text_is_an_error(self) -> None:
        deduplicator = Deduplicator()
        deduplicator.judge(1, PAGE)
        deduplicator.add_document(1, analyse(PAGE))
        assert len(deduplicator) == 1
        with pytest.raises(DuplicateIdError):
            deduplicator.add_document(1, analyse(FAR))

    def test_an_empty_text_is_not_kept(self) -> None:
        documents = MemoryDocuments()
        Deduplicator(documents=documents).add_document(1, analyse(" "))
        assert len(documents) == 0

    @pytest.mark.parametrize("text", [SHORT, PAGE])
    def test_a_short_text_is_found_by_equality_and_a_long_one_by_distance(self, text: str) -> None:
        deduplicator = Deduplicator()
        deduplicator.add_document(1, analyse(text, Parameters(min_words=1)))
        assert deduplicator.judge(2, text).duplicate_of == 1
        assert deduplicator.judge(3, changed(text, 1)).is_duplicate == (text == PAGE)


@pytest.mark.parametrize(
    "text", ["\0" * 60, "\ud800 " * 60, "a\ud800 " * 60, "字" * 60, "w" * 5_000_000]
)
def test_odd_texts_get_a_verdict(text: str, tmp_path: Path) -> None:
    with Deduplicator(path=tmp_path) as deduplicator:
        first = deduplicator.judge(1, text)
        assert first in {NEW, TOO_SHORT}
        assert deduplicator.judge(2, text).duplicate_of == 1


def test_it_is_not_used_after_closing(tmp_path: Path) -> None:
    deduplicator = Deduplicator(path=tmp_path)
    deduplicator.close()
    deduplicator.close()
    with pytest.raises(ClosedError):
        deduplicator.judge(1, PAGE)
    with pytest.raises(ClosedError):
        deduplicator.add_document(1, analyse(PAGE))
    with pytest.raises(ClosedError):
        deduplicator.flush()


def test_a_title_tells_near_texts_apart() -> None:
    deduplicator = Deduplicator()
    deduplicator.judge(1, PAGE, title="Widget 3000 | Shop")
    other = deduplicator.judge(2, NEAR, title="Widget 4000 | Shop")
    assert (other.kind, other.resembles, other.is_duplicate) == ("same_template", 1, False)
    assert other.similarity == jaccard(PAGE, NEAR)
    assert (
        deduplicator.judge(3, changed(PAGE, 3), title="(1 new) Widget 3000 | Shop").duplicate_of
        == 1
    )
    with pytest.raises(ParameterError, match="name has the title"):
        deduplicator.judge(4, FAR, title="Widget", name=Name("Widget"))
