"""Files of near-duplicate indexes and filters, damaged, foreign, or made by others with care."""

from __future__ import annotations

import io
import struct
import tempfile
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from neardup import HammingIndex, LshIndex
from neardup.bloom import BloomFilter, ScalableBloomFilter
from neardup.errors import NearDupError
from neardup.features.idf_table import IdfTable
from neardup.features.shingles import occurrences
from neardup.files.batches import BATCH_HEADER_BYTES, PROMISE_BYTES, Promise, batch_bytes
from neardup.files.sealed import CHECKSUM, checksum_of, digest_of
from neardup.fingerprints.digest import DIGEST_BYTES
from neardup.indexes.index_directory import LogHeader
from neardup.indexes.index_files import HEADER_BYTES, IDENTITY_BYTES, log_name, sections_of
from neardup.indexes.segment import Shape
from tests.fuzzing.target import Target, together
from tests.neardup.features.test_idf_table import TEXTS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.fuzzing.target import Read

_PERMUTATIONS = 24
_LOG, _SEGMENT = "00000001.log", "00000001-00000001.seg"
_LSH = "documents.lsh"
_IDENTITY = slice(16, 32)


def _resealed(data: bytes, header_bytes: int) -> bytes:
    """Return a file with the checksum of its header made right, as a stranger would."""
    if len(data) < header_bytes:
        return data
    fields = data[: header_bytes - CHECKSUM.size]
    return fields + checksum_of(fields) + data[header_bytes:]


def _right_batches(header_bytes: int, entry_bytes: int) -> Callable[[bytes], bytes]:
    """Return what makes a file of one whole batch of the bytes behind a header."""
    start = header_bytes + PROMISE_BYTES + BATCH_HEADER_BYTES

    def make_right(data: bytes) -> bytes:
        header, payload = _resealed(data[:header_bytes], header_bytes), data[start:]
        count = len(payload) // entry_bytes
        removed = min(count, payload[0] % 3 if payload else 0)
        batch = batch_bytes(removed, count - removed, 0, payload[: count * entry_bytes])
        end = header_bytes + PROMISE_BYTES + len(batch)
        return header + Promise(end, count).to_bytes() + batch

    return make_right


def _right_segment(data: bytes) -> bytes:
    """Return a segment with all of its checksums made right."""
    if len(data) < HEADER_BYTES:
        return data
    numbers = struct.unpack_from("<QQQ", data, 48)
    if max(numbers) > len(data):
        return _resealed(data, HEADER_BYTES)
    sections = sections_of(Shape(*numbers))
    sums = struct.pack(
        f"<{len(sections)}Q", *(digest_of(data[one.offset : one.end]) for one in sections)
    )
    return _resealed(data[:80] + sums + data[80 + len(sums) :], HEADER_BYTES)


def _right_filters(data: bytes) -> bytes:
    """Return a file of Bloom filters with the checksums of the header and of each filter."""
    found, at, fields_bytes = _resealed(data, 56)[:56], 56, 32
    while at + fields_bytes <= len(data):
        size = int.from_bytes(data[at + 24 : at + fields_bytes], "little")
        part = data[at : at + fields_bytes + size]
        found += part + checksum_of(part)
        at += fields_bytes + size + CHECKSUM.size
    return found


def _right_table(data: bytes) -> bytes:
    """Return a table of document frequencies with the checksum of each of its arrays."""
    found = bytearray(data)
    # What breaks the archive itself is left to the reader.
    with suppress(Exception), zipfile.ZipFile(io.BytesIO(data)) as archive:
        at = archive.start_dir
        for entry in archive.infolist():
            start = entry.header_offset
            start += 30 + sum(struct.unpack_from("<HH", data.ljust(start + 30), start + 26))
            array = data[start : start + entry.file_size]
            struct.pack_into("<I", found, at + 16, zlib.crc32(array))
            at += 46 + sum(struct.unpack_from("<HHH", data, at + 28))
    return bytes(found)


def _hamming(folder: Path) -> Path:
    with HammingIndex(folder / "index") as index:
        index.add_many(np.arange(9, dtype=np.uint64) << np.uint64(7), np.arange(9))
        index.flush()
        index.delete(4)
        index.flush()
    return folder / "index"


def _merged(folder: Path) -> Path:
    with HammingIndex(folder / "index", buffer_size=1) as index:
        index.add_many(np.arange(9, dtype=np.uint64) << np.uint64(7), np.arange(9))
    return folder / "index"


def _signatures(folder: Path) -> Path:
    rows = np.arange(4 * _PERMUTATIONS, dtype=np.uint32).reshape(4, -1)
    with LshIndex(0.8, path=folder / "index", permutations=_PERMUTATIONS) as index:
        index.add_many(rows, list(range(4)))
        index.flush()
    return folder / "index"


def _of_index(
    make: Callable[[Path], Path],
    name: str,
    make_right: Callable[[bytes], bytes],
    ask: Callable[[Path], object],
) -> tuple[Callable[[], Sequence[bytes]], Callable[[Path], Read]]:
    """Return the seeds of one file of an index, and what begins to read it.

    The first byte of an input says whether its checksums are made right.
    """

    def seeds() -> list[bytes]:
        with tempfile.TemporaryDirectory() as folder:
            whole = (make(Path(folder)) / name).read_bytes()
        return [b"\0" + whole, b"\1" + whole]

    def begin(folder: Path) -> Read:
        index = make(folder)
        others = {path: path.read_bytes() for path in index.iterdir()}

        def read(data: bytes) -> None:
            for path in index.iterdir():
                if path not in others:
                    path.unlink()
            for path, whole in others.items():
                path.write_bytes(whole)
            body = make_right(data[1:]) if data[:1] >= b"\1" else data[1:]
            (index / name).write_bytes(body)
            if name == _SEGMENT:  # the log behind it belongs to the same index
                identity = body[_IDENTITY].ljust(IDENTITY_BYTES, b"\0")
                (index / log_name(2)).write_bytes(LogHeader(identity, 2).empty_log())
            ask(index)

        return read

    return seeds, begin


def _ask_hamming(path: Path) -> None:
    with HammingIndex(path) as index:
        index.query(128)
        index.add(7, 1_000_000)
        index.flush()


def _ask_signatures(path: Path) -> None:
    with LshIndex(path=path) as index:
        index.query(np.arange(_PERMUTATIONS, dtype=np.uint32))


def _filters() -> list[bytes]:
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.bloom")
        for made in (BloomFilter(50, 0.01), ScalableBloomFilter(10, 0.1)):
            for number in range(40):
                made.add(number.to_bytes(2, "big"))
            made.save(path)
            found.append(path.read_bytes())
    return [bytes([number]) + one for one in found for number in range(2)]


def _begin_filters(folder: Path) -> Read:
    path = folder / "x.bloom"

    def read(data: bytes) -> None:
        path.write_bytes(_right_filters(data[1:]) if data[:1] >= b"\1" else data[1:])
        for kind in (BloomFilter, ScalableBloomFilter):
            try:
                loaded = kind.load(path)
            except NearDupError:
                continue
            loaded.has_digest(bytes(DIGEST_BYTES))
            loaded.add(b"x")

    return read


def _tables() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.idf")
        IdfTable.learned(TEXTS).save(path)
        return [bytes([number]) + path.read_bytes() for number in range(2)]


def _begin_tables(folder: Path) -> Read:
    path = folder / "x.idf"

    def read(data: bytes) -> None:
        path.write_bytes(_right_table(data[1:]) if data[:1] >= b"\1" else data[1:])
        IdfTable.load(path).document_frequencies(occurrences("the"))

    return read


_REFUSALS = (NearDupError,)
_LOGS = _of_index(_hamming, _LOG, _right_batches(48, 16), _ask_hamming)
_SEGMENTS = _of_index(_merged, _SEGMENT, _right_segment, _ask_hamming)
_LSH_FILES = _of_index(_signatures, _LSH, _right_batches(56, 48), _ask_signatures)
TARGETS = (
    together(
        "hamming-index",
        Target("logs", *_LOGS, _REFUSALS),
        Target("segments", *_SEGMENTS, _REFUSALS),
    ),
    together(
        "lsh-bloom-and-idf",
        Target("lsh", *_LSH_FILES, _REFUSALS),
        Target("bloom", _filters, _begin_filters, _REFUSALS, 4096),
        Target("idf", _tables, _begin_tables, _REFUSALS, 4096),
    ),
)
