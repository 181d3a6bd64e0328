import struct
from pathlib import Path

import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.errors import IndexFileError
from neardup.indexes.arrays import Rows
from neardup.indexes.files.log_format import HEADER_BYTES, LogHeader, batch_bytes
from neardup.indexes.files.log_reader import read_log
from neardup.indexes.files.log_writer import LogWriter, create_log

HEADER = LogHeader(bytes(range(16)), 3)
BATCHES = [[(1, 10), (2**64 - 1, 2**63 - 1)], [(0, 0)], [(7, 8), (0, 0), (9, 9)]]


def rows_of(batch: list[tuple[int, int]]) -> Rows:
    return Rows(
        np.array([entry[0] for entry in batch], np.uint64),
        np.array([entry[1] for entry in batch], np.int64),
    )


def entries_of(path: Path) -> list[tuple[int, int]]:
    rows = read_log(path).rows
    return list(zip(rows.fingerprints.tolist(), rows.ids.tolist(), strict=True))


def written(path: Path, batches: list[list[tuple[int, int]]]) -> list[int]:
    """Write a log and return its size after each batch."""
    log = LogWriter(path, create_log(path, HEADER), 0)
    sizes = [path.stat().st_size]
    for batch in batches:
        log.append(rows_of(batch))
        sizes.append(path.stat().st_size)
    log.close()
    return sizes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "00000003.log"


def test_batches_come_back_in_order(path: Path) -> None:
    sizes = written(path, BATCHES)
    assert entries_of(path) == [entry for batch in BATCHES for entry in batch]
    assert read_log(path).header == HEADER
    assert read_log(path).end == sizes[-1]


def test_the_bytes_are_those_of_the_documentation(path: Path) -> None:
    written(path, BATCHES[:1])
    data = path.read_bytes()

    def checksum(part: bytes) -> int:
        return xxhash.xxh3_64_intdigest(part)

    header = struct.unpack("<8sII16sQQ", data[:48])
    assert header == (b"NDUPLOG\n", 1, 0, bytes(range(16)), 3, checksum(data[:40]))
    assert struct.unpack("<4sIQQ", data[48:72]) == (b"NDB\n", 2, 0, checksum(data[48:64]))
    assert struct.unpack("<2Q2q", data[72:104]) == (1, 2**64 - 1, 10, 2**63 - 1)
    assert struct.unpack("<Q8s", data[104:]) == (checksum(data[72:104]), b"NDBEND\r\n")


def test_a_log_goes_on_after_what_it_holds(path: Path) -> None:
    sizes = written(path, BATCHES[:2])
    log = LogWriter(path, sizes[-1], 3)
    log.append(rows_of(BATCHES[2]))
    assert log.count == 6
    log.close()
    assert entries_of(path) == [entry for batch in BATCHES for entry in batch]


def test_a_tail_cut_at_any_byte_leaves_the_batches_before_it(path: Path) -> None:
    sizes = written(path, BATCHES)
    whole = path.read_bytes()
    for size in range(HEADER_BYTES, len(whole) + 1):
        path.write_bytes(whole[:size])
        batches = sum(end <= size for end in sizes[1:])
        assert entries_of(path) == [entry for batch in BATCHES[:batches] for entry in batch]
        assert read_log(path).end == sizes[batches]


def test_a_tail_whose_blocks_were_never_written_is_cut_off(path: Path) -> None:
    sizes = written(path, BATCHES)
    whole = path.read_bytes()
    for kept in range(sizes[2], len(whole) - 8):
        path.write_bytes(whole[:kept] + bytes(len(whole) - kept))
        assert entries_of(path) == [entry for batch in BATCHES[:2] for entry in batch]


def test_a_cut_tail_is_removed_before_anything_is_added(path: Path) -> None:
    sizes = written(path, BATCHES[:2])
    path.write_bytes(path.read_bytes() + batch_bytes(rows_of(BATCHES[2]), 3)[:-1])
    log = LogWriter(path, read_log(path).end, 3)
    assert path.stat().st_size == sizes[-1]
    log.append(rows_of([(5, 5)]))
    log.close()
    assert entries_of(path) == [*BATCHES[0], *BATCHES[1], (5, 5)]


def test_half_a_batch_of_a_failed_call_is_removed_by_the_next(path: Path) -> None:
    resource = pytest.importorskip("resource", reason="file sizes cannot be limited here")
    log = LogWriter(path, create_log(path, HEADER), 0)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (HEADER_BYTES + 70, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            log.append(rows_of(BATCHES[2]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.stat().st_size == HEADER_BYTES + 70
    assert entries_of(path) == []
    assert log.count == 0
    log.append(rows_of(BATCHES[1]))
    log.close()
    assert entries_of(path) == BATCHES[1]


def test_every_flipped_byte_is_found(path: Path) -> None:
    written(path, BATCHES)
    whole = path.read_bytes()
    for place in range(len(whole)):
        for mask in (0x01, 0x80, 0xFF):
            flipped = bytearray(whole)
            flipped[place] ^= mask
            path.write_bytes(flipped)
            with pytest.raises(IndexFileError) as caught:
                read_log(path)
            assert str(path) in str(caught.value)


def test_zeros_before_the_tail_are_damage(path: Path) -> None:
    sizes = written(path, BATCHES)
    whole = path.read_bytes()
    for start, end in ((sizes[0], sizes[1]), (sizes[0] + 30, sizes[2]), (sizes[1], sizes[2])):
        path.write_bytes(whole[:start] + bytes(end - start) + whole[end:])
        with pytest.raises(IndexFileError):
            read_log(path)


def test_an_unwritten_tail_hides_no_damage_before_it(path: Path) -> None:
    sizes = written(path, BATCHES)
    whole = path.read_bytes()
    for place in range(sizes[0], sizes[2]):
        data = bytearray(whole[:-20] + bytes(20))
        data[place] ^= 0x10
        path.write_bytes(data)
        with pytest.raises(IndexFileError):
            read_log(path)


def test_a_batch_that_is_missing_or_doubled_is_damage(path: Path) -> None:
    sizes = written(path, BATCHES)
    whole = path.read_bytes()
    first, second = whole[: sizes[1]], whole[sizes[1] : sizes[2]]
    for data in (whole[: sizes[0]] + second, first + first[sizes[0] :], whole + second):
        path.write_bytes(data)
        with pytest.raises(IndexFileError):
            read_log(path)


def test_a_log_without_its_header_is_damage(path: Path) -> None:
    written(path, BATCHES)
    whole = path.read_bytes()
    for size in range(HEADER_BYTES):
        path.write_bytes(whole[:size])
        with pytest.raises(IndexFileError):
            read_log(path)


def test_another_file_and_another_version_are_named(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0")
    with pytest.raises(IndexFileError, match=r"starting with b'NDUPLOG\\n', found b'SQLite f'"):
        read_log(path)
    data = bytearray(HEADER.to_bytes())
    data[8] = 9
    path.write_bytes(data)
    with pytest.raises(IndexFileError, match="expected version 1, found version 9"):
        read_log(path)


class TestLogProperties:
    @settings(deadline=None, max_examples=50)
    @given(
        st.lists(
            st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**63 - 1)), min_size=1),
            max_size=6,
        ),
        st.data(),
    )
    def test_any_cut_leaves_whole_batches(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        batches: list[list[tuple[int, int]]],
        data: st.DataObject,
    ) -> None:
        path = tmp_path_factory.mktemp("log") / "00000003.log"
        sizes = written(path, batches)
        size = data.draw(st.integers(HEADER_BYTES, sizes[-1]))
        path.write_bytes(path.read_bytes()[:size])
        whole = sum(end <= size for end in sizes[1:])
        assert entries_of(path) == [entry for batch in batches[:whole] for entry in batch]
