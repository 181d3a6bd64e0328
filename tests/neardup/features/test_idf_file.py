import os
import random
import struct
import sys
from pathlib import Path

import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import IndexFileError
from neardup.features.idf_table import IdfTable
from tests.damage import (
    full_for,
    refuses_flipped_bytes,
    refuses_other_lengths,
    said_before_a_kill,
)
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

    def test_a_loaded_table_merges(self, path: Path) -> None:
        merged = IdfTable.load(path).merged(IdfTable.learned(["the end"]))
        assert contents(merged) == contents(IdfTable.learned([*TEXTS, "the end"]))

    def test_the_bytes_are_those_of_the_documentation(self, path: Path) -> None:
        data = path.read_bytes()
        fields = struct.unpack("<8sIIIIQQQQQQ", data[:72])
        assert fields[:8] == (b"NDUPIDF\n", 1, 1, 1, 0, 5, 0, 7)
        assert fields[9] == xxhash.xxh3_64_intdigest(data[72:])
        assert fields[10] == xxhash.xxh3_64_intdigest(data[:64])
        rows = struct.unpack("<14Q", data[72:])
        assert list(rows[:7]) == sorted(rows[:7])
        assert dict(zip(rows[:7], rows[7:], strict=True)) == contents(IdfTable.load(path))

    def test_saving_replaces_the_old_file_in_one_step(self, path: Path) -> None:
        IdfTable.learned(["one"]).save(path)
        assert IdfTable.load(path).documents == 1
        assert os.listdir(path.parent) == [path.name]


class TestDamage:
    def test_every_flipped_byte_is_found(self, path: Path) -> None:
        refuses_flipped_bytes(path, IdfTable.load)

    def test_every_shorter_and_a_longer_file_is_found(self, path: Path) -> None:
        refuses_other_lengths(path, IdfTable.load, "expected 184 bytes, found 185 bytes")

    def test_another_file_is_named_with_what_to_do(self, path: Path) -> None:
        path.write_bytes(b"GIF89a" + bytes(100))
        with pytest.raises(IndexFileError) as caught:
            IdfTable.load(path)
        assert str(caught.value) == (
            f"{path}: expected document frequencies, starting with b'NDUPIDF\\n', found "
            "b'GIF89a\\x00\\x00'; restore it from a copy, or learn it again from the texts"
        )

    @pytest.mark.parametrize(
        ("place", "form", "value", "complaint"),
        [
            (8, "<I", 7, "expected version 1, found version 7"),
            (12, "<I", 9, "expected a unit of 1 or 2 and a size of at least 1, found unit 9"),
            (16, "<I", 0, "found unit 1, size 0"),
            (48, "<Q", 123, "found probe 000000000000007b; use the version of neardup"),
            (40, "<Q", 2**60, "expected 18446744073709551688 bytes, found 184 bytes"),
            (24, "<Q", 1, "expected frequencies of 1 to 1, found 1 to 3"),
        ],
    )
    def test_a_whole_file_that_says_something_else_is_named(
        self, path: Path, place: int, form: str, value: int, complaint: str
    ) -> None:
        data = bytearray(path.read_bytes())
        struct.pack_into(form, data, place, value)
        struct.pack_into("<Q", data, 64, xxhash.xxh3_64_intdigest(bytes(data[:64])))
        path.write_bytes(data)
        with pytest.raises(IndexFileError, match=complaint):
            IdfTable.load(path)

    def test_rows_out_of_order_are_named(self, path: Path) -> None:
        data = bytearray(path.read_bytes())
        data[72:88] = data[80:88] + data[72:80]
        struct.pack_into("<Q", data, 56, xxhash.xxh3_64_intdigest(bytes(data[72:])))
        struct.pack_into("<Q", data, 64, xxhash.xxh3_64_intdigest(bytes(data[:64])))
        path.write_bytes(data)
        with pytest.raises(IndexFileError, match="expected hashes that ascend"):
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
