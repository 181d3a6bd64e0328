import gc
import struct
from pathlib import Path

import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.errors import IndexFileError
from neardup.files.batches import AppendingFile, Promise
from neardup.indexes.arrays import Rows
from neardup.indexes.index_directory import EMPTY, Batch, LogHeader, open_log, read_log
from tests.damage import largest_file, refuses_flipped_bytes

HEADER = LogHeader(bytes(range(16)), 3)
Entries = list[tuple[int, int]]
Removed = Entries
Added = Entries
BATCHES: list[tuple[Removed, Added]] = [
    ([], [(1, 10), (2**64 - 1, 2**63 - 1)]),
    ([(1, 10), (3, 4)], []),
    ([(2**64 - 1, 2**63 - 1)], [(7, 8), (0, 0)]),
]


def rows_of(entries: Entries) -> Rows:
    return Rows(
        np.array([entry[0] for entry in entries], np.uint64),
        np.array([entry[1] for entry in entries], np.int64),
    )


def batch_of(removed: Removed, added: Added) -> Batch:
    return Batch(rows_of(removed), rows_of(added))


def batches_of(path: Path) -> list[tuple[Removed, Added]]:
    found = []
    for batch in read_log(path).batches:
        removed, added = (
            list(zip(rows.fingerprints.tolist(), rows.ids.tolist(), strict=True)) for rows in batch
        )
        found.append((removed, added))
    return found


def new_log(path: Path) -> AppendingFile:
    path.write_bytes(HEADER.empty_log())
    return open_log(path, EMPTY)


def promising(log: bytes, end: int, entries: int) -> bytes:
    """Return a log that promises another length."""
    return log[:48] + Promise(end, entries).to_bytes() + log[EMPTY.end :]


def written(path: Path, batches: list[tuple[Removed, Added]]) -> list[int]:
    """Write a log and return its size after each batch."""
    log = new_log(path)
    sizes = [path.stat().st_size]
    for batch in batches:
        batch_of(*batch).append_to(log)
        sizes.append(path.stat().st_size)
    log.close()
    return sizes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "00000003.log"


def test_batches_come_back_in_order(path: Path) -> None:
    sizes = written(path, BATCHES)
    assert batches_of(path) == BATCHES
    assert read_log(path).header == HEADER
    assert read_log(path).whole == (sizes[-1], 7)


def test_the_bytes_are_those_of_the_documentation(path: Path) -> None:
    written(path, BATCHES[2:])
    data = path.read_bytes()

    def checksum(part: bytes) -> int:
        return xxhash.xxh3_64_intdigest(part)

    header = struct.unpack("<8sII16sQQ", data[:48])
    assert header == (b"NDUPLOG\n", 3, 0, bytes(range(16)), 3, checksum(data[:40]))
    assert struct.unpack("<QQQ", data[48:72]) == (168, 3, checksum(data[48:64]))
    batch = struct.unpack("<4sIIIQQ", data[72:104])
    assert batch == (b"NDB\n", 1, 2, 0, 0, checksum(data[72:96]))
    assert struct.unpack("<Qq", data[104:120]) == (2**64 - 1, 2**63 - 1)
    assert struct.unpack("<2Q2q", data[120:152]) == (7, 0, 8, 0)
    assert struct.unpack("<Q8s", data[152:]) == (checksum(data[104:152]), b"NDBEND\r\n")


def test_a_log_goes_on_after_what_it_holds(path: Path) -> None:
    sizes = written(path, BATCHES[:2])
    log = open_log(path, Promise(sizes[-1], 4))
    batch_of(*BATCHES[2]).append_to(log)
    log.close()
    assert read_log(path).whole.entries == 7
    assert batches_of(path) == BATCHES


ENTRIES = [0, 2, 4, 7]
"""Those that the log names after each batch."""


def test_a_log_that_is_shorter_than_it_promised_is_refused_at_every_byte(path: Path) -> None:
    sizes = written(path, BATCHES)
    whole = path.read_bytes()
    for promised, entries in zip(sizes, ENTRIES, strict=True):
        log = promising(whole, promised, entries)
        for size in range(promised):
            path.write_bytes(log[:size])
            with pytest.raises(IndexFileError, match=f"{path}: expected .*; restore it from"):
                read_log(path)


def test_what_is_missing_is_named(path: Path) -> None:
    sizes = written(path, BATCHES)
    path.write_bytes(path.read_bytes()[: sizes[1]])
    with pytest.raises(IndexFileError) as caught:
        read_log(path)
    assert str(caught.value) == (
        f"{path}: expected at least the 7 entries in {sizes[3]} bytes that it promised, found 2 "
        f"entries in {sizes[1]} bytes; restore it from a copy, or delete the index directory and "
        "add its documents again"
    )


def test_a_tail_that_was_never_promised_may_be_cut_at_any_byte(path: Path) -> None:
    sizes = written(path, BATCHES)
    whole = path.read_bytes()
    for promised, entries in zip(sizes, ENTRIES, strict=True):
        log = promising(whole, promised, entries)
        for size in range(promised, len(whole) + 1):
            path.write_bytes(log[:size])
            batches = sum(end <= size for end in sizes[1:])
            assert batches_of(path) == BATCHES[:batches]
            assert read_log(path).whole == (sizes[batches], ENTRIES[batches])


def test_a_promise_that_no_batch_ends_at_is_damage(path: Path) -> None:
    sizes = written(path, BATCHES)
    whole = path.read_bytes()
    for promise in ((sizes[1], 3), (sizes[1] - 1, 2), (0, 0), (sizes[3] + 1, 7)):
        path.write_bytes(promising(whole, *promise))
        with pytest.raises(IndexFileError, match="that it promised"):
            read_log(path)


def test_a_tail_whose_blocks_were_never_written_is_left_out(path: Path) -> None:
    sizes = written(path, BATCHES)
    whole = promising(path.read_bytes(), sizes[2], 4)
    for kept in range(sizes[2], len(whole) - 8):
        path.write_bytes(whole[:kept] + bytes(len(whole) - kept))
        assert batches_of(path) == BATCHES[:2]


def test_a_torn_tail_is_set_aside_before_anything_is_added(path: Path) -> None:
    sizes = written(path, BATCHES[:2])
    written(path.with_name("whole.log"), BATCHES)
    third = path.with_name("whole.log").read_bytes()[sizes[-1] :]
    path.with_name("whole.log").unlink()
    tails = [third[:-1], b"NDB"]
    for tail in tails:
        path.write_bytes(path.read_bytes() + tail)
        log = open_log(path, read_log(path).whole)
        assert path.stat().st_size == sizes[-1]
        log.close()
    log = open_log(path, read_log(path).whole)
    batch_of([], [(5, 5)]).append_to(log)
    log.close()
    assert batches_of(path) == [*BATCHES[:2], ([], [(5, 5)])]
    assert [path.with_name(f"{path.name}.tail-{n}").read_bytes() for n in (1, 2)] == tails
    assert len(list(path.parent.iterdir())) == 3


def test_what_is_whole_beyond_the_promise_is_promised_when_it_is_opened(path: Path) -> None:
    sizes = written(path, BATCHES)
    path.write_bytes(promising(path.read_bytes(), sizes[1], 2))
    open_log(path, read_log(path).whole).close()
    path.write_bytes(path.read_bytes()[: sizes[2]])
    with pytest.raises(IndexFileError, match="that it promised"):
        read_log(path)


def test_half_a_batch_of_a_failed_call_is_removed(path: Path) -> None:
    log = new_log(path)
    with largest_file(EMPTY.end + 70), pytest.raises(OSError, match="File too large"):
        batch_of(*BATCHES[2]).append_to(log)
    assert path.stat().st_size == EMPTY.end
    assert batches_of(path) == []
    assert read_log(path).whole.entries == 0
    batch_of(*BATCHES[1]).append_to(log)
    log.close()
    assert batches_of(path) == BATCHES[1:2]


def test_every_flipped_byte_is_found(path: Path) -> None:
    written(path, BATCHES)
    refuses_flipped_bytes(path, read_log)


def test_zeros_before_the_tail_are_damage(path: Path) -> None:
    sizes = written(path, BATCHES)
    whole = path.read_bytes()
    for start, end in ((sizes[0], sizes[1]), (sizes[0] + 30, sizes[2]), (sizes[1], sizes[2])):
        path.write_bytes(whole[:start] + bytes(end - start) + whole[end:])
        with pytest.raises(IndexFileError):
            read_log(path)


def test_an_unwritten_tail_hides_no_damage_before_it(path: Path) -> None:
    sizes = written(path, BATCHES)
    whole = promising(path.read_bytes(), sizes[2], 4)
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
        path.write_bytes(promising(data, *EMPTY))
        with pytest.raises(IndexFileError):
            read_log(path)


def test_a_log_without_its_header_is_damage(path: Path) -> None:
    written(path, BATCHES)
    whole = path.read_bytes()
    for size in range(EMPTY.end):
        path.write_bytes(whole[:size])
        with pytest.raises(IndexFileError):
            read_log(path)


def test_another_file_and_another_version_are_named(path: Path) -> None:
    path.write_bytes(b"SQLite format 3\0")
    with pytest.raises(IndexFileError, match=r"starting with b'NDUPLOG\\n', found b'SQLite f'"):
        read_log(path)
    data = bytearray(HEADER.empty_log())
    data[8] = 9
    path.write_bytes(data)
    with pytest.raises(IndexFileError, match="expected version 3, found version 9"):
        read_log(path)


entries = st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**63 - 1)), max_size=5)


class TestLogProperties:
    @settings(deadline=None, max_examples=50)
    @given(
        st.lists(st.tuples(entries, entries).filter(any), max_size=6),
        st.data(),
    )
    def test_any_cut_is_noticed_or_leaves_what_was_promised(
        self,
        tmp_path_factory: pytest.TempPathFactory,
        batches: list[tuple[Removed, Added]],
        data: st.DataObject,
    ) -> None:
        path = tmp_path_factory.mktemp("log") / "00000003.log"
        sizes = written(path, batches)
        size, promised = (data.draw(st.integers(0, end)) for end in (sizes[-1], len(batches)))
        entries = sum(len(removed) + len(added) for removed, added in batches[:promised])
        path.write_bytes(promising(path.read_bytes(), sizes[promised], entries)[:size])
        if size < sizes[promised]:
            with pytest.raises(IndexFileError):
                read_log(path)
        else:
            assert batches_of(path) == batches[: sum(end <= size for end in sizes[1:])]


def test_a_log_that_cannot_be_cut_is_closed_again(path: Path) -> None:
    path.write_bytes(HEADER.empty_log())
    with pytest.raises(OSError, match="Invalid argument"):
        open_log(path, Promise(-1, 0))
    gc.collect()  # of an open file this would warn
