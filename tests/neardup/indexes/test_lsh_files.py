"""The file of an index of signatures: its bytes, its damage, and what it is opened with."""

import struct
from pathlib import Path

import numpy as np
import pytest
import xxhash

from neardup import HammingIndex, LshIndex, minhash
from neardup.errors import IndexFileError, ParameterError
from neardup.features.shingles import JACCARD_SIZE
from neardup.files.batches import Promise, batch_bytes
from neardup.indexes.arrays import Signatures
from neardup.indexes.banding import Banding
from neardup.indexes.lsh import Candidate
from neardup.indexes.lsh_file import read_header
from tests.neardup.indexes.lsh_flushing import PERMUTATIONS, signature_of
from tests.neardup.indexes.test_lsh import four_bits

FILE = "documents.lsh"
ROW_BYTES = 8 + 16 + 4 * 2
BATCHES = [2, 1, 3]


def made(path: Path) -> list[int]:
    """Make a small index and return the size of its file after each batch."""
    sizes = []
    with LshIndex(path=path, permutations=PERMUTATIONS, shape=(2, 12)) as index:
        sizes.append((path / FILE).stat().st_size)
        for count in BATCHES:
            for number in range(len(index), len(index) + count):
                index.add(signature_of(number), number)
            index.flush()
            sizes.append((path / FILE).stat().st_size)
    return sizes


def ids_in(path: Path) -> list[int]:
    with LshIndex(path=path) as index:
        asked = np.array([signature_of(number) for number in range(sum(BATCHES))])
        found: list[int] = index.query_many(asked).ids.tolist()
    return found


def batches_in(path: Path) -> list[int]:
    """Return how many documents there are in each batch of a file."""
    header = read_header(path)
    return [batch.added for batch in header.batches.batches(path, memoryview(path.read_bytes()))]


def promising(file: bytes, end: int, documents: int) -> bytes:
    """Return a file that promises another length."""
    return file[:56] + Promise(end, documents).to_bytes() + file[80:]


def keys_of(signature: Signatures, bands: int, rows: int) -> list[int]:
    """The keys of bands, in Python's numbers, as docs/lsh_format.md has them."""
    mask, used = 2**64 - 1, bands * rows

    def drawn(number: int) -> int:
        value = number * 0x9E3779B97F4A7C15 & mask
        for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
            value = (value ^ value >> 33) * factor & mask
        return value ^ value >> 33

    keys = []
    for band in range(bands):
        total = drawn(used + band + 1)
        for place in range(band * rows, (band + 1) * rows):
            total += int(signature[place]) * (drawn(place + 1) | 1)
        keys.append((total & mask) >> 32)
    return keys


def sketch_of(signature: Signatures) -> list[int]:
    """The words of a sketch, as docs/lsh_format.md has them."""
    bits = four_bits(signature).tolist()
    return [
        sum(value << 4 * place for place, value in enumerate(bits[start : start + 16]))
        for start in range(0, len(bits), 16)
    ]


class TestBytes:
    def test_are_those_of_the_documentation(self, tmp_path: Path) -> None:
        with LshIndex(path=tmp_path, permutations=PERMUTATIONS, shape=(2, 12)) as index:
            index.add(signature_of(5), 2**63 - 1)
            index.add(signature_of(6), 3)
            least = index.min_similarity
        data = (tmp_path / FILE).read_bytes()

        def checksum(part: bytes) -> int:
            return xxhash.xxh3_64_intdigest(part)

        *header, probe, header_checksum = struct.unpack("<8sIIIIIIdQQ", data[:56])
        assert header == [b"NDUPLSH\n", 3, PERMUTATIONS, 2, 12, JACCARD_SIZE, 0, least]
        assert header_checksum == checksum(data[:48])
        signature = np.arange(PERMUTATIONS, dtype=np.uint32) * np.uint32(0x9E3779B1)
        assert probe == checksum(
            struct.pack("<2I2Q", *keys_of(signature, 2, 12), *sketch_of(signature))
        )
        assert struct.unpack("<QQQ", data[56:80]) == (len(data), 2, checksum(data[56:72]))
        batch = struct.unpack("<4sIIIQQ", data[80:112])
        assert batch == (b"NDB\n", 0, 2, 0, 0, checksum(data[80:104]))
        end = 112 + 2 * ROW_BYTES
        ids, words, keys = data[112:128], data[128:160], data[160:end]
        assert struct.unpack("<2q", ids) == (2**63 - 1, 3)
        both = (signature_of(5), signature_of(6))
        assert struct.unpack("<4Q", words) == tuple(w for one in both for w in sketch_of(one))
        assert struct.unpack("<4I", keys) == tuple(k for one in both for k in keys_of(one, 2, 12))
        assert struct.unpack("<Q8s", data[end:]) == (checksum(data[112:end]), b"NDBEND\r\n")

    def test_the_example_of_the_documentation_is_a_file(self, tmp_path: Path) -> None:
        text = (Path(__file__).parents[3] / "docs" / "lsh_format.md").read_text("utf-8")
        lines = text.partition("```\n00  ")[2].partition("```")[0].splitlines()
        data = b"".join(
            bytes.fromhex(line[4 if place else 0 :][:48]) for place, line in enumerate(lines)
        )
        with LshIndex(path=tmp_path, permutations=4, shape=(2, 2)) as index:
            index.add(np.array([1, 2, 3, 4], np.uint32), 7)
        assert (tmp_path / FILE).read_bytes().hex(" ", 8) == data.hex(" ", 8)
        with LshIndex(path=tmp_path) as index:
            assert index.query(np.array([9, 9, 3, 4], np.uint32))[0].id == 7


class TestDamage:
    def test_every_flipped_byte_is_found(self, tmp_path: Path) -> None:
        made(tmp_path)
        whole = (tmp_path / FILE).read_bytes()
        for place in range(len(whole)):
            flipped = bytearray(whole)
            flipped[place] ^= (0x01, 0x80, 0xFF)[place % 3]
            (tmp_path / FILE).write_bytes(flipped)
            with pytest.raises(IndexFileError) as caught:
                batches_in(tmp_path / FILE)
            assert str(tmp_path / FILE) in str(caught.value)
            if place % 40 == 0:
                with pytest.raises(IndexFileError):
                    LshIndex(path=tmp_path)

    def test_a_file_that_is_shorter_than_it_promised_is_refused_at_every_byte(
        self, tmp_path: Path
    ) -> None:
        sizes = made(tmp_path)
        whole = (tmp_path / FILE).read_bytes()
        for size in range(len(whole)):
            (tmp_path / FILE).write_bytes(whole[:size])
            with pytest.raises(IndexFileError, match=f"{FILE}: expected .*; restore it from a co"):
                batches_in(tmp_path / FILE)
            if size % 20 == 0 or size in sizes:
                with pytest.raises(IndexFileError):
                    LshIndex(path=tmp_path)
        assert (tmp_path / FILE).read_bytes() == whole[:-1]

    def test_a_tail_that_was_never_promised_is_set_aside(self, tmp_path: Path) -> None:
        sizes = made(tmp_path)
        whole = (tmp_path / FILE).read_bytes()
        for batch, promised in enumerate(sizes):
            file = promising(whole, promised, sum(BATCHES[:batch]))
            for size in range(promised, len(whole) + 1):
                (tmp_path / FILE).write_bytes(file[:size])
                batches = sum(end <= size for end in sizes[1:])
                assert batches_in(tmp_path / FILE) == BATCHES[:batches]
                if size in {promised + 1, *sizes}:
                    assert ids_in(tmp_path) == list(range(sum(BATCHES[:batches])))
                    assert (tmp_path / FILE).stat().st_size == sizes[batches]
                    # From now on what is whole is promised.
                    (tmp_path / FILE).write_bytes((tmp_path / FILE).read_bytes()[:-1])
                    with pytest.raises(IndexFileError):
                        LshIndex(path=tmp_path)
        tails = [tmp_path / f"{FILE}.tail-{n}" for n in (1, 2, 3)]
        assert [tail.read_bytes() for tail in tails] == [whole[end : end + 1] for end in sizes[:-1]]

    def test_nothing_but_a_tail_is_no_index(self, tmp_path: Path) -> None:
        (tmp_path / f"{FILE}.tail-1").write_bytes(b"NDB")
        (tmp_path / f"{FILE}.tail-2.tmp").write_bytes(b"NDB")
        with LshIndex(0.8, path=tmp_path) as index:
            assert len(index) == 0
        assert not (tmp_path / f"{FILE}.tail-2.tmp").exists()
        assert (tmp_path / f"{FILE}.tail-1").exists()

    def test_a_batch_without_documents_holds_none(self, tmp_path: Path) -> None:
        made(tmp_path)
        whole = (tmp_path / FILE).read_bytes()
        (tmp_path / FILE).write_bytes(whole + batch_bytes(0, 0, sum(BATCHES), b""))
        assert ids_in(tmp_path) == list(range(sum(BATCHES)))

    def test_a_tail_whose_blocks_were_never_written_is_left_out(self, tmp_path: Path) -> None:
        sizes = made(tmp_path)
        whole = promising((tmp_path / FILE).read_bytes(), sizes[2], 3)
        for kept in range(sizes[2], len(whole) - 8):
            (tmp_path / FILE).write_bytes(whole[:kept] + bytes(len(whole) - kept))
            assert batches_in(tmp_path / FILE) == BATCHES[:2]
        assert ids_in(tmp_path) == [0, 1, 2]

    def test_a_header_cut_short_or_a_batch_that_is_missing_or_doubled_is_damage(
        self, tmp_path: Path
    ) -> None:
        sizes = made(tmp_path)
        whole = (tmp_path / FILE).read_bytes()
        first, second = whole[: sizes[1]], whole[sizes[1] : sizes[2]]
        broken = [whole[:size] for size in range(sizes[0])]
        broken += [
            promising(data, sizes[0], 0)
            for data in (whole[: sizes[0]] + second, first + first[sizes[0] :], whole + second)
        ]
        for data in broken:
            (tmp_path / FILE).write_bytes(data)
            with pytest.raises(IndexFileError):
                batches_in(tmp_path / FILE)

    def test_another_file_another_version_and_other_keys_are_named(self, tmp_path: Path) -> None:
        made(tmp_path)
        header = (tmp_path / FILE).read_bytes()[:48]
        for place, value, complaint in (
            (0, b"SQLite f", r"starting with b'NDUPLSH\\n', found b'SQLite f'"),
            (8, b"\x02", "expected version 3, found version 2; restore it from a copy, or delete"),
            (12, b"\xff" * 4, "bands within at most 65,536 values, found 4294967295 permutations"),
            (16, b"\xff" * 8, "bands within at most 65,536 values, found 24 permutations"),
            (16, bytes(8), "bands within at most 65,536 values, found 24 permutations"),
            (40, b"12345678", "as this version makes them, found others .probe 3837363534333231"),
        ):
            data = header[:place] + value + header[place + len(value) :]
            data += struct.pack("<Q", xxhash.xxh3_64_intdigest(data))
            (tmp_path / FILE).write_bytes(data)
            with pytest.raises(IndexFileError, match=complaint):
                LshIndex(path=tmp_path)

    def test_an_index_of_fingerprints_is_no_index_of_signatures(self, tmp_path: Path) -> None:
        HammingIndex(tmp_path / "fingerprints").close()
        with pytest.raises(IndexFileError, match="expected an LshIndex or an empty directory"):
            LshIndex(0.8, path=tmp_path / "fingerprints")
        LshIndex(0.8, path=tmp_path / "signatures").close()
        with pytest.raises(IndexFileError):
            HammingIndex(tmp_path / "signatures")


class TestOpening:
    def test_takes_from_the_file_what_is_not_given(self, tmp_path: Path) -> None:
        with LshIndex(0.7, path=tmp_path / "deep" / "index", permutations=64) as index:
            index.add(np.arange(64, dtype=np.uint32), 9)
            shape = index.shape
        with LshIndex(path=str(tmp_path / "deep" / "index")) as index:
            assert (index.permutations, index.shape, index.min_similarity) == (64, shape, 0.7)
            assert index.query(np.arange(64, dtype=np.uint32)) == [Candidate(9, 1.0)]
        with LshIndex(0.7, path=tmp_path / "deep" / "index", permutations=64) as index:
            assert len(index) == 1
        with LshIndex(path=tmp_path / "deep" / "index", shape=shape) as index:
            assert len(index) == 1

    def test_other_numbers_than_those_of_the_file_are_refused(self, tmp_path: Path) -> None:
        LshIndex(0.8, path=tmp_path).close()
        for asked in (
            {"permutations": 64},
            {"min_similarity": 0.5},
            {"shape": (16, 8)},
            {"min_similarity": 0.8, "min_recall": 0.99},
        ):
            with pytest.raises(ParameterError) as caught:
                LshIndex(path=tmp_path, **asked)
            message = f"{tmp_path} holds signatures of 128 permutations in 18 bands of 7, asked for"
            assert str(caught.value).startswith(message)
        with LshIndex(path=tmp_path) as index:
            assert index.shape == Banding(18, 7)

    def test_signatures_of_other_shingles_than_those_of_the_file_are_refused(
        self, tmp_path: Path
    ) -> None:
        with LshIndex(0.8, path=tmp_path, shingle_size=3) as index:
            index.add(minhash("one two three four", shingle_size=3), 1)
        with pytest.raises(ParameterError) as caught:
            LshIndex(path=tmp_path)
        assert str(caught.value) == (
            f"{tmp_path} holds signatures of shingles of 3 words, asked for are {JACCARD_SIZE}; "
            "make signatures with shingle_size=3 and open it so, or add the documents to another "
            "index"
        )
        with LshIndex(path=tmp_path, shingle_size=3) as index:
            assert index.query(minhash("one two three four", shingle_size=3))
        with pytest.raises(ParameterError, match=r"shingle_size must be 1\.\.16, got 0"):
            LshIndex(0.8, shingle_size=0)

    def test_bad_numbers_make_no_directory(self, tmp_path: Path) -> None:
        for asked in ({}, {"min_similarity": 2}, {"min_similarity": 0.8, "permutations": 0}):
            with pytest.raises(ParameterError):
                LshIndex(path=tmp_path / "index", **asked)
        assert not (tmp_path / "index").exists()

    def test_abandon_keeps_what_was_flushed_and_nothing_else(self, tmp_path: Path) -> None:
        index = LshIndex(0.8, path=tmp_path, permutations=PERMUTATIONS)
        index.add(signature_of(0), 0)
        index.flush()
        index.add(signature_of(1), 1)
        index.abandon()
        index.abandon()
        index.close()
        with LshIndex(path=tmp_path) as again:
            assert len(again) == 1

    def test_more_than_one_batch_at_once_comes_back(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("neardup.indexes.lsh.BATCH_ROWS", 1000)
        values = np.random.default_rng(3).integers(0, 2**32, (70_000, 16), dtype=np.uint32)
        with LshIndex(path=tmp_path, permutations=16, shape=(2, 8)) as index:
            index.add_many(values, np.arange(70_000))
        with LshIndex(path=tmp_path) as index:
            found = index.query_many(values)
            assert (found.ids == found.positions).sum() == 70_000
