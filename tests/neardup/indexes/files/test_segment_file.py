import struct
from pathlib import Path

import numpy as np
import pytest
import xxhash

from neardup.errors import IndexFileError
from neardup.indexes.arrays import Rows
from neardup.indexes.files.segment_format import HEADER_BYTES, ROW_BYTES
from neardup.indexes.files.segment_reader import read_segment
from neardup.indexes.files.segment_writer import stage_segment

IDENTITY = bytes(range(16))
ROWS = Rows(np.array([0, 5, 5, 2**64 - 1], np.uint64), np.array([3, 1, 2**63 - 1, 0], np.int64))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "00000002-00000007.seg"
    stage_segment(path, ROWS, IDENTITY, 2, 7).replace(path)
    return path


def test_rows_come_back_as_they_were(path: Path) -> None:
    header, rows = read_segment(path)
    assert rows.fingerprints.tolist() == ROWS.fingerprints.tolist()
    assert rows.ids.tolist() == ROWS.ids.tolist()
    assert header.identity == IDENTITY
    assert (header.first_log, header.last_log, header.rows) == (2, 7, 4)
    assert header.max_id == 2**63 - 1
    assert path.stat().st_size == HEADER_BYTES + 4 * ROW_BYTES


def test_the_bytes_are_those_of_the_documentation(path: Path) -> None:
    data = path.read_bytes()
    fields = struct.unpack("<8sII16sQQQqQQ", data[:80])
    payload = xxhash.xxh3_64_intdigest(data[80:])
    head = xxhash.xxh3_64_intdigest(data[:72])
    assert fields == (b"NDUPSEG\n", 1, 0, IDENTITY, 2, 7, 4, 2**63 - 1, payload, head)
    assert struct.unpack("<4Q4q", data[80:]) == (0, 5, 5, 2**64 - 1, 3, 1, 2**63 - 1, 0)


def test_a_segment_does_not_count_before_it_gets_its_name(tmp_path: Path) -> None:
    path = tmp_path / "00000001-00000001.seg"
    temporary = stage_segment(path, ROWS, IDENTITY, 1, 1)
    assert temporary.name == "00000001-00000001.seg.tmp"
    assert not path.exists()


def test_every_flipped_byte_is_found(path: Path) -> None:
    whole = path.read_bytes()
    for place in range(len(whole)):
        for mask in (0x01, 0x80, 0xFF):
            flipped = bytearray(whole)
            flipped[place] ^= mask
            path.write_bytes(flipped)
            with pytest.raises(IndexFileError) as caught:
                read_segment(path)
            assert str(path) in str(caught.value)


def test_every_shorter_and_a_longer_file_is_found(path: Path) -> None:
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(IndexFileError):
            read_segment(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(IndexFileError, match="expected 144 bytes for 4 rows, found 145 bytes"):
        read_segment(path)


def test_another_file_is_named_with_what_to_do(path: Path) -> None:
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
    with pytest.raises(IndexFileError) as caught:
        read_segment(path)
    assert str(caught.value) == (
        f"{path}: expected a segment, starting with b'NDUPSEG\\n', "
        "found b'\\x89PNG\\r\\n\\x1a\\n'; "
        "restore it from a copy, or delete the index directory and add its documents again"
    )


def test_another_version_is_named(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[8] = 2
    data[72:80] = struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(data[:72])))
    path.write_bytes(data)
    with pytest.raises(IndexFileError, match="expected version 1, found version 2; "):
        read_segment(path)
