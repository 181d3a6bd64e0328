import struct
from pathlib import Path

import numpy as np
import pytest
import xxhash

from neardup.errors import IndexFileError
from neardup.indexes.arrays import Rows
from neardup.indexes.index_engine import built
from neardup.indexes.index_files import (
    SegmentLabel,
    Span,
    read_segment,
    sections_of,
    stage_segment,
)
from neardup.indexes.segment import Shape, Tables, no_rows, tables_of
from tests.damage import largest_file

IDENTITY = bytes(range(16))
LABEL = SegmentLabel(IDENTITY, Span(2, 7))
ROWS = Rows(np.array([0, 5, 5, 2**64 - 1], np.uint64), np.array([3, 1, 2**63 - 1, 0], np.int64))
REMOVED = Rows(np.array([9], np.uint64), np.array([8], np.int64))


@pytest.fixture
def tables() -> Tables:
    return built(ROWS, REMOVED)


@pytest.fixture
def path(tmp_path: Path, tables: Tables) -> Path:
    path = tmp_path / "00000002-00000007.seg"
    stage_segment(path, LABEL, tables).replace(path)
    return path


def test_tables_come_back_as_they_were(path: Path, tables: Tables) -> None:
    label, found = read_segment(path)
    assert label == LABEL
    assert found.shape == Shape(3, 4, 1)
    assert found.max_id == 2**63 - 1
    for mine, its in zip(found.columns, tables.columns, strict=True):
        assert (mine.dtype, mine.tolist()) == (its.dtype, its.tolist())


def test_an_empty_segment_may_name_removals(tmp_path: Path) -> None:
    path = tmp_path / "00000002-00000007.seg"
    stage_segment(path, LABEL, built(no_rows(), REMOVED)).replace(path)
    _, found = read_segment(path)
    assert found.shape == Shape(0, 0, 1)
    assert found.max_id == -1
    assert [column.tolist() for column in found.removed] == [[9], [8]]


def test_the_header_is_that_of_the_documentation(path: Path) -> None:
    data = path.read_bytes()
    *fields, head = struct.unpack("<8sII16sQQQQQq20Q8xQ", data[:256])
    assert fields[:9] == [b"NDUPSEG\n", 2, 256, IDENTITY, 2, 7, 3, 4, 1]
    assert fields[9] == 2**63 - 1
    assert head == xxhash.xxh3_64_intdigest(data[:248])
    sections = sections_of(Shape(3, 4, 1))
    for section, checksum in zip(sections, fields[10:], strict=True):
        assert section.offset % 64 == 0
        assert checksum == xxhash.xxh3_64_intdigest(data[section.offset : section.end])
    assert sections[-1].end == len(data)


def test_a_segment_does_not_count_before_it_gets_its_name(tmp_path: Path, tables: Tables) -> None:
    path = tmp_path / "00000001-00000001.seg"
    temporary = stage_segment(path, LABEL, tables)
    assert temporary.name == "00000001-00000001.seg.tmp"
    assert not path.exists()


def test_a_segment_that_was_not_written_whole_leaves_nothing(
    tmp_path: Path, tables: Tables
) -> None:
    with largest_file(300), pytest.raises(OSError, match="File too large"):
        stage_segment(tmp_path / "00000001-00000001.seg", LABEL, tables)
    assert not list(tmp_path.iterdir())


def test_every_flipped_byte_is_found(path: Path) -> None:
    whole = path.read_bytes()
    # The starts of 256 buckets are alike: every byte of the rest, and every 29th of them.
    places = {*range(700), *range(700, len(whole), 29), *range(len(whole) - 300, len(whole))}
    for place in places:
        flipped = bytearray(whole)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(IndexFileError) as caught:
            read_segment(path)
        assert str(path) in str(caught.value)


def test_every_shorter_and_a_longer_file_is_found(path: Path) -> None:
    whole = path.read_bytes()
    for size in {*range(300), *range(300, len(whole), 97), len(whole) - 1}:
        path.write_bytes(whole[:size])
        with pytest.raises(IndexFileError):
            read_segment(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(IndexFileError, match=r"expected (\d+) bytes for 3 rows, found \d+ bytes"):
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


@pytest.mark.parametrize("version", [1, 3])
def test_another_version_is_named(path: Path, version: int) -> None:
    data = bytearray(path.read_bytes())
    data[8] = version
    data[248:256] = struct.pack("<Q", xxhash.xxh3_64_intdigest(bytes(data[:248])))
    path.write_bytes(data)
    with pytest.raises(IndexFileError, match=f"expected version 2, found version {version}; "):
        read_segment(path)


@pytest.mark.parametrize("table", range(5))
def test_places_that_lead_out_of_the_columns_are_refused(
    path: Path, tables: Tables, table: int
) -> None:
    """The checksums are right, as those of a stranger are; a search would end the process."""
    wrong = [*tables.columns]
    at = 1 if table == 4 else 2 + 4 * table
    for places in (
        [0, *[2**32 - 1] * (len(wrong[at]) - 1)],
        [*wrong[at][:-1], 2],
        [3, *wrong[at][1:]],
    ):
        wrong[at] = np.array(places, np.uint32)
        stage_segment(path, LABEL, tables_of(tables.shape, tables.max_id, wrong)).replace(path)
        with pytest.raises(IndexFileError, match="places that ascend"):
            read_segment(path)
