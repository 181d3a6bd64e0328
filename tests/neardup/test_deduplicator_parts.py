from pathlib import Path
from typing import SupportsIndex

import pytest

from neardup import (
    Deduplicator,
    Features,
    HammingIndex,
    LshIndex,
    Parameters,
)
from neardup.errors import (
    DocumentsFileError,
    ParameterError,
)
from neardup.features.idf_table import IdfTable
from neardup.storage.documents import MemoryDocuments
from tests.neardup.texts import FAR, NEAR, PAGE, SHORT, changed
from tests.neardup.verdicts import FEATURES, NEW, fingerprint_of


class TestDirectory:
    def test_other_distances_open_the_same_directory(self, tmp_path: Path) -> None:
        with Deduplicator(path=tmp_path) as deduplicator:
            deduplicator.judge(1, PAGE)
        for distance in (0, 8):
            with Deduplicator(Parameters(max_distance=distance), tmp_path) as deduplicator:
                assert deduplicator.judge(2, PAGE).duplicate_of == 1

    def test_an_error_within_the_block_keeps_what_was_judged(self, tmp_path: Path) -> None:
        def fail() -> None:
            with Deduplicator(path=tmp_path) as deduplicator:
                deduplicator.judge(1, PAGE)
                raise KeyError

        with pytest.raises(KeyError):
            fail()
        with Deduplicator(path=tmp_path) as deduplicator:
            assert deduplicator.judge(2, PAGE).duplicate_of == 1

    def test_a_text_whose_keeping_failed_is_judged_anew(self) -> None:
        class FullOnce(HammingIndex):
            full = True

            def add(self, fingerprint: SupportsIndex, id: SupportsIndex) -> None:  # noqa: A002
                if self.full:
                    self.full = False
                    raise OSError(28, "No space left on device")
                super().add(fingerprint, id)

        deduplicator = Deduplicator(documents=MemoryDocuments(), index=FullOnce(radius=8))
        with pytest.raises(OSError, match="No space left"):
            deduplicator.judge(1, PAGE)
        assert deduplicator.judge(1, PAGE) == NEW
        assert deduplicator.judge(2, NEAR).duplicate_of == 1

    def test_a_folder_of_other_settings_is_refused(self, tmp_path: Path) -> None:
        with Deduplicator(Parameters(min_words=100), tmp_path / "words") as deduplicator:
            deduplicator.judge(1, SHORT)
        with pytest.raises(DocumentsFileError, match="ask for at least 100"):
            Deduplicator(Parameters(min_words=50), tmp_path / "words")
        Deduplicator(Parameters(min_words=200), tmp_path / "words").close()
        with pytest.raises(DocumentsFileError, match="ask for at least 200"):
            Deduplicator(Parameters(min_words=100), tmp_path / "words")
        tables = [IdfTable.learned(texts) for texts in ([PAGE, FAR], [PAGE, SHORT])]
        features = [Features("word", 1, "tf_idf", table) for table in tables]
        Deduplicator(Parameters(features[0]), tmp_path / "idf").close()
        Deduplicator(Parameters(features[0]), tmp_path / "idf").close()
        with pytest.raises(DocumentsFileError, match="its fingerprints are of the features"):
            Deduplicator(Parameters(features[1]), tmp_path / "idf")
        (tmp_path / "file").touch()
        with pytest.raises(DocumentsFileError, match="choose the path of a folder"):
            Deduplicator(path=tmp_path / "file")


class TestGivenParts:
    def test_a_path_excludes_them(self, tmp_path: Path) -> None:
        with pytest.raises(ParameterError, match="path excludes documents, index, signatures"):
            Deduplicator(path=tmp_path, index=HammingIndex())
        with pytest.raises(ParameterError, match="path excludes documents, index, signatures"):
            Deduplicator(path=tmp_path, documents=MemoryDocuments())
        assert list(tmp_path.iterdir()) == []

    def test_an_index_of_a_smaller_radius_would_miss_duplicates(self) -> None:
        with pytest.raises(ParameterError, match=r"index\.radius must be at least 3, got 2"):
            Deduplicator(index=HammingIndex(radius=2))

    def test_passages_in_other_bands_would_miss_parts(self) -> None:
        with pytest.raises(ParameterError, match="passages must be in 1 bands of 1 values"):
            Deduplicator(passages=LshIndex(shape=(16, 4), permutations=64))

    def test_signatures_in_other_bands_would_miss_duplicates(self) -> None:
        with pytest.raises(ParameterError, match="signatures must be in 16 bands of 4 values"):
            Deduplicator(signatures=LshIndex(shape=(8, 8), permutations=64))

    def test_an_index_of_a_larger_radius_finds_no_more_than_max_distance(self) -> None:
        deduplicator = Deduplicator(
            Parameters(FEATURES, max_distance=0, verify=False),
            index=HammingIndex(radius=8),
        )
        deduplicator.judge(1, PAGE)
        assert deduplicator.judge(2, changed(PAGE, 3, count=10)) == NEW

    def test_closing_leaves_them_open(self) -> None:
        documents, index = MemoryDocuments(), HammingIndex(radius=8)
        with Deduplicator(documents=documents, index=index) as deduplicator:
            deduplicator.judge(1, PAGE)
            deduplicator.flush()
        assert [match.id for match in index.query(fingerprint_of(PAGE))] == [1]
        with Deduplicator(documents=documents, index=index) as deduplicator:
            assert deduplicator.judge(2, NEAR).duplicate_of == 1
