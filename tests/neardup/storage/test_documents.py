from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from neardup import Document, analyse
from neardup.errors import DocumentError, DuplicateIdError
from neardup.storage.documents import MemoryDocuments
from neardup.storage.sqlite import SqliteDocuments
from tests.neardup.texts import prose

if TYPE_CHECKING:
    from neardup.storage.documents import Documents


class TestDocumentsContract:
    """What every store of texts promises a deduplicator."""

    @pytest.fixture(params=["memory", "sqlite"])
    def documents(
        self, request: pytest.FixtureRequest, tmp_path: Path
    ) -> Iterator[MemoryDocuments | SqliteDocuments]:
        if request.param == "memory":
            yield MemoryDocuments()
            return
        with SqliteDocuments(tmp_path / "documents.sqlite") as documents:
            yield documents

    def test_it_is_what_a_deduplicator_takes(
        self, documents: MemoryDocuments | SqliteDocuments
    ) -> None:
        taken: Documents = documents
        assert taken.text(1) is None

    @pytest.mark.parametrize("text", ["", "word", "a\0b", "half \ud800", "漢字", prose(1, 5_000)])
    def test_a_text_comes_back_as_it_was(
        self, documents: MemoryDocuments | SqliteDocuments, text: str
    ) -> None:
        documents.add(7, analyse(text))
        assert documents.text(7) == text
        assert documents.digest(7) == analyse(text).digest
        assert len(documents) == 1

    def test_an_unknown_id_has_nothing(self, documents: MemoryDocuments | SqliteDocuments) -> None:
        documents.add(7, analyse("text"))
        assert documents.text(8) is None
        assert documents.digest(8) is None
        assert documents.find_digest(bytes(16)) is None

    def test_the_first_stored_id_of_a_digest_is_found_whatever_its_number(
        self, documents: MemoryDocuments | SqliteDocuments
    ) -> None:
        same = analyse("the same text")
        for number in (30, 10, 20):
            documents.add(number, same)
        assert documents.find_digest(same.digest) == 30
        assert documents.find_digest(same.digest, exclude={30}) == 10
        assert documents.find_digest(same.digest, exclude=[10, 30, 99]) == 20
        assert documents.find_digest(same.digest, exclude=(10, 20, 30)) is None

    def test_an_id_is_stored_once(self, documents: MemoryDocuments | SqliteDocuments) -> None:
        documents.add(1, analyse("first"))
        with pytest.raises(DuplicateIdError, match="holds a document"):
            documents.add(1, analyse("second"))
        assert documents.text(1) == "first"
        assert documents.find_digest(analyse("second").digest) is None

    @pytest.mark.parametrize("number", [0, 2**63 - 1])
    def test_the_ends_of_the_range_of_ids_are_stored(
        self, documents: MemoryDocuments | SqliteDocuments, number: int
    ) -> None:
        documents.add(number, analyse("text"))
        assert documents.text(number) == "text"

    @pytest.mark.parametrize("number", [-1, 2**63])
    def test_an_id_out_of_range_is_refused(
        self, documents: MemoryDocuments | SqliteDocuments, number: int
    ) -> None:
        with pytest.raises(DocumentError, match="id must be"):
            documents.add(number, analyse("text"))
        assert len(documents) == 0

    @pytest.mark.parametrize("fingerprint", [0, 1, 2**63 - 1, 2**63, 2**64 - 1, None])
    def test_every_fingerprint_is_stored(
        self, documents: MemoryDocuments | SqliteDocuments, fingerprint: int | None
    ) -> None:
        documents.add(1, Document(60, bytes(16), fingerprint, "text"))
        if isinstance(documents, SqliteDocuments):
            expected = [] if fingerprint is None else [(fingerprint, 1)]
            assert list(documents.fingerprints()) == expected
