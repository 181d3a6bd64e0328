import os
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import IndexFileError
from neardup.features.idf_table import IdfTable
from tests.damage import full_for, said_before_a_kill
from tests.neardup.features.test_idf_table import TEXTS, contents, corpora, features


@pytest.fixture
def path(tmp_path: Path) -> Path:
    IdfTable.learned(TEXTS).save(tmp_path / "words.idf")
    return tmp_path / "words.idf"


class TestFile:
    def test_a_file_keeps_everything(self, tmp_path: Path) -> None:
        table = IdfTable.learned(TEXTS, size=2, min_documents=1)
        table.save(str(tmp_path / "words.idf"))
        loaded = IdfTable.load(str(tmp_path / "words.idf"))
        assert contents(loaded) == contents(table)
        assert (loaded.unit, loaded.size, loaded.documents) == ("word", 2, 5)
        assert repr(loaded) == repr(table)

    @given(corpora, st.integers(1, 3), st.integers(1, 3))
    def test_what_is_loaded_weighs_as_what_was_saved(
        self, tmp_path_factory: pytest.TempPathFactory, corpus: list[str], size: int, rare: int
    ) -> None:
        table = IdfTable.learned(corpus, size=size, min_documents=rare)
        path = tmp_path_factory.getbasetemp() / "property.idf"
        table.save(path)
        loaded = IdfTable.load(path)
        assert contents(loaded) == contents(table)
        assert loaded.max_undercount == table.max_undercount
        hashes = features("a", "b", "the", "cat", "unseen")
        assert (loaded.weights(hashes) == table.weights(hashes)).all()

    def test_the_arrays_are_those_of_the_documentation(self, path: Path) -> None:
        arrays = dict(np.load(path, allow_pickle=False))
        about = {name: array.item() for name, array in arrays.items() if not array.ndim}
        assert about.pop("probe") > 0
        assert about == {"unit": "word", "size": 1, "documents": 5, "max_undercount": 0}
        hashes, frequencies = arrays["hashes"].tolist(), arrays["frequencies"].tolist()
        assert hashes == sorted(set(hashes))
        assert dict(zip(hashes, frequencies, strict=True)) == contents(IdfTable.load(path))

    def test_saving_replaces_the_old_file_in_one_step(self, path: Path) -> None:
        IdfTable.learned(["one"]).save(path)
        assert IdfTable.load(path).documents == 1
        assert os.listdir(path.parent) == [path.name]


class TestDamage:
    def test_a_flipped_byte_is_found_or_changes_nothing(self, path: Path) -> None:
        whole, table = path.read_bytes(), IdfTable.load(path)
        found = 0
        for place in range(len(whole)):
            flipped = bytearray(whole)
            flipped[place] ^= 1 << place % 8
            path.write_bytes(flipped)
            try:
                loaded = IdfTable.load(path)
            except IndexFileError:
                found += 1
                continue
            assert loaded.identity == table.identity
            assert loaded.max_undercount == table.max_undercount
        assert found > len(whole) // 2

    def test_every_shorter_file_is_found(self, path: Path) -> None:
        whole = path.read_bytes()
        for size in range(len(whole)):
            path.write_bytes(whole[:size])
            with pytest.raises(IndexFileError):
                IdfTable.load(path)

    def test_another_file_is_named_with_what_to_do(self, path: Path) -> None:
        path.write_bytes(b"GIF89a" + bytes(100))
        with pytest.raises(IndexFileError) as caught:
            IdfTable.load(path)
        assert str(caught.value) == (
            f"{path}: expected a table of document frequencies, found BadZipFile: File is not a "
            "zip file; restore it from a copy, or learn it again from the texts"
        )

    @pytest.mark.parametrize(
        ("change", "complaint"),
        [
            ({"unit": "line"}, "unit must be"),
            ({"size": 0}, "size must be"),
            ({"size": "many"}, "many"),
            ({"probe": np.uint64(123)}, "found probe 000000000000007b; use the version of neardup"),
            ({"documents": 1}, "frequencies of 1 to 3 in 1 documents"),
            ({"frequencies": np.zeros(7, np.int64)}, "frequencies of 0 to 0 in 5 documents"),
            ({"frequencies": np.ones(6, np.int64)}, "7,.* hashes, .6,.* frequencies"),
            ({"frequencies": np.ones(7)}, "rows of uint64 and float64"),
            ({"hashes": np.arange(7, dtype=np.uint64)[::-1]}, "hashes that do not ascend"),
            ({"hashes": np.array([None] * 7)}, "Object arrays cannot be loaded"),
            ({"more": 1}, "unexpected keyword argument 'more'"),
        ],
    )
    def test_a_whole_file_that_says_something_else_is_named(
        self, path: Path, change: dict[str, Any], complaint: str
    ) -> None:
        arrays = dict(np.load(path))
        with path.open("wb") as file:
            np.savez(file, **arrays | change)
        with pytest.raises(IndexFileError, match=complaint):
            IdfTable.load(path)

    def test_a_part_that_is_missing_is_named(self, path: Path) -> None:
        arrays = dict(np.load(path))
        for name in arrays:
            with path.open("wb") as file:
                np.savez(file, **{other: arrays[other] for other in arrays if other != name})
            with pytest.raises(IndexFileError, match=name):
                IdfTable.load(path)

    def test_a_compressed_file_is_refused(self, path: Path) -> None:
        arrays = dict(np.load(path))
        with path.open("wb") as file:
            np.savez_compressed(file, **arrays)
        with pytest.raises(IndexFileError, match="compressed arrays"):
            IdfTable.load(path)

    def test_a_missing_file_is_an_error_of_the_system(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            IdfTable.load(tmp_path / "none")

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is no file here")
    def test_a_failed_save_leaves_the_old_file(self, path: Path) -> None:
        before = path.read_bytes()
        with full_for(Path(f"{path}.tmp")), pytest.raises(OSError, match="No space left"):
            IdfTable.learned(TEXTS * 9).save(path)
        assert path.read_bytes() == before
        assert os.listdir(path.parent) == [path.name]


SAVING = """
import sys
from neardup.features.idf_table import IdfTable
tables = [IdfTable.learned([" ".join(map(str, range(size)))]) for size in (10, 40_000)]
while True:
    for table in tables:
        table.save(sys.argv[1])
        print(flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_kill_9_at_any_moment_leaves_one_table_or_the_other(tmp_path: Path) -> None:
    path, moments = tmp_path / "words.idf", random.Random(9)
    for _ in range(5):
        assert said_before_a_kill(["-c", SAVING, str(path)], moments, 0.1)
        assert len(IdfTable.load(path)) in (10, 40_000)
