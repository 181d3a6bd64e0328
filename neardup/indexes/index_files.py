"""The files of an index directory: what their names tell, and what a segment's file holds.

Each log has a number. A segment is named after the first and the last log whose entries it holds:
``00000001-00000004.seg``. So the name says what a segment replaces: every file whose logs lie
within its own. One rename puts a merged segment in and takes its inputs out; what a crash leaves
of the inputs is recognised and removed. The segments that count follow one another without a gap,
from log 1 on, and one log follows them. The grammar of the files is in docs/formats.md.
"""

import mmap
import re
import struct
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neardup.files.durable import TEMPORARY_SUFFIX, origin_of, write_temporary
from neardup.files.sealed import CHECKSUM, FileKind, digest_of, sealed, unusable
from neardup.indexes.segment import (
    COLUMNS,
    Array,
    ArrayColumn,
    Shape,
    Tables,
    columns_of,
    tables_of,
)

LAST_LOG = 99_999_999
"""The largest number of a log: names have eight digits."""

_SEGMENT = re.compile(r"(\d{8})-(\d{8})\.seg")
_LOG = re.compile(r"(\d{8})\.log")
_OURS = (".seg", ".log", TEMPORARY_SUFFIX)


class Span(NamedTuple):
    """The logs whose entries a segment holds, both ends included."""

    first: int
    last: int

    @property
    def name(self) -> str:
        """The name of the segment's file."""
        return f"{self.first:08d}-{self.last:08d}.seg"


class Layout(NamedTuple):
    """The files of an index directory.

    Attributes:
        spans: The segments that count, the oldest first.
        log: The number of the log that takes new entries.
        log_exists: Whether that log exists; otherwise it has to be created.
        obsolete: The names of files that a segment has replaced or that were never finished.
    """

    spans: list[Span]
    log: int
    log_exists: bool
    obsolete: list[str]


class LayoutError(Exception):
    """The names contradict one another; the message says how."""


def log_name(number: int) -> str:
    """Return the name of a log's file."""
    return f"{number:08d}.log"


def layout_of(names: Iterable[str]) -> Layout:
    """Read the state of an index directory from the names in it.

    Names that are none of ours are left alone.

    Raises:
        LayoutError: A file is missing or has a wrong name.
    """
    spans, logs, obsolete = [], [], []
    for name in sorted(names):
        if found := _SEGMENT.fullmatch(name):
            spans.append(Span(int(found[1]), int(found[2])))
        elif found := _LOG.fullmatch(name):
            logs.append(int(found[1]))
        elif name.endswith(TEMPORARY_SUFFIX) and is_ours(name):
            obsolete.append(name)
        elif name.endswith(_OURS):
            raise LayoutError(f"a file name such as 00000001.log, found {name!r}")
    kept = _without_replaced(spans)
    obsolete += [span.name for span in spans if span not in kept]
    log = kept[-1].last + 1 if kept else 1
    _check_logs(logs, log)
    obsolete += [log_name(number) for number in logs if number < log]
    return Layout(kept, log, log in logs, obsolete)


def is_ours(name: str) -> bool:
    """Whether an index gives a segment or a log such a name, a torn tail or half of it included."""
    origin = origin_of(name)
    return bool(_SEGMENT.fullmatch(origin) or _LOG.fullmatch(origin))


def _without_replaced(spans: list[Span]) -> list[Span]:
    """Return the spans that lie within no other, checked to follow one another."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.first, -span.last)):
        if not 1 <= span.first <= span.last:
            raise LayoutError(f"a segment's first log before its last, found {span.name!r}")
        if kept and span.last <= kept[-1].last:
            continue
        wanted = kept[-1].last + 1 if kept else 1
        if span.first != wanted:
            raise LayoutError(f"a segment that starts with log {wanted}, found {span.name!r}")
        kept.append(span)
    return kept


def _check_logs(logs: list[int], log: int) -> None:
    if any(number > log for number in logs):
        raise LayoutError(f"{log_name(log)!r} to be the newest log, found {log_name(max(logs))!r}")
    # A segment is put in place before the next log is made, and removes its own log after that.
    if log not in logs and log - 1 not in logs and log > 1:
        raise LayoutError(f"the log {log_name(log)!r}, found none")


HEADER_BYTES = 256
IDENTITY_BYTES = 16
ALIGNMENT = 64

_KIND = FileKind("a segment", b"NDUPSEG\n", 2, HEADER_BYTES)
_FIELDS = struct.Struct(f"<8sII{IDENTITY_BYTES}sQQQQQq{COLUMNS}Q")
_PADDING = bytes(HEADER_BYTES - _FIELDS.size - CHECKSUM.size)


class SegmentLabel(NamedTuple):
    """The identity of a segment, apart from its content.

    Attributes:
        identity: 16 random bytes that all files of one index share.
        span: The logs whose entries are in it.
    """

    identity: bytes
    span: Span


class Section(NamedTuple):
    """The place of a column in the file.

    Attributes:
        offset: The place of its first byte.
        column: The type and length of the column.
        end: The place of the next column's first byte, after zeros.
    """

    offset: int
    column: ArrayColumn
    end: int


def sections_of(shape: Shape) -> list[Section]:
    """Return where each column stands; the file ends with the last one."""
    columns = columns_of(shape)
    sizes = (-(-column.nbytes // ALIGNMENT) * ALIGNMENT for column in columns)
    edges = list(accumulate(sizes, initial=HEADER_BYTES))
    return [Section(*section) for section in zip(edges, columns, edges[1:], strict=False)]


def stage_segment(path: Path, label: SegmentLabel, tables: Tables) -> Path:
    """Write a durable segment under a temporary name beside ``path`` and return that name.

    Args:
        path: The name that it shall get.
        label: The identity of the segment.
        tables: The content of the segment.

    Raises:
        OSError: The disk is full, or the like; nothing is left behind.
    """
    return write_temporary(path, _chunks(label, tables))


def _chunks(label: SegmentLabel, tables: Tables) -> Iterator[bytes | memoryview]:
    # Each column and the zeros after it.
    parts = [
        (_data(values, column), bytes(end - offset - column.nbytes))
        for values, (offset, column, end) in zip(
            tables.columns, sections_of(tables.shape), strict=True
        )
    ]
    numbers = (*label.span, *tables.shape, tables.max_id, *(digest_of(*part) for part in parts))
    fields = _FIELDS.pack(_KIND.magic, _KIND.version, HEADER_BYTES, label.identity, *numbers)
    yield sealed(fields + _PADDING)
    for part in parts:
        yield from part


def _data(values: Array, column: ArrayColumn) -> memoryview:
    return np.ascontiguousarray(values, column.dtype).view(np.uint8).data


def read_segment(path: Path) -> tuple[SegmentLabel, Tables]:
    """Return the label and the tables, mapped into memory, after checking every byte.

    Raises:
        IndexFileError: The file is damaged, foreign or of another version.

    Complexity: O(n), 1 ms a million entries from the page cache.
    """
    with path.open("rb") as file:
        fields = _KIND.fields(path, file.read(HEADER_BYTES))
    _, _, _, identity, first, last, *numbers = _FIELDS.unpack(fields[: _FIELDS.size])
    shape, max_id, checksums = Shape(*numbers[:3]), numbers[3], numbers[4:]
    sections, size = sections_of(shape), path.stat().st_size
    if size != sections[-1].end:
        wanted = f"{sections[-1].end} bytes for {shape.rows} rows"
        raise unusable(path, wanted, f"{size} bytes")
    mapped = _mapped(path)
    for (start, _, end), expected in zip(sections, checksums, strict=True):
        found = digest_of(memoryview(mapped)[start:end])
        if found != expected:
            wanted = f"checksum {expected:016x} of bytes {start} to {end}"
            raise unusable(path, wanted, f"{found:016x}")
    tables = _tables(mapped, shape, max_id)
    _check_places(path, tables)
    return SegmentLabel(identity, Span(first, last)), tables


def _check_places(path: Path, tables: Tables) -> None:
    """Refuse places outside of the columns: compiled loops do not look where they lead."""
    rows, entries, _ = tables.shape
    ends = [(tables.runs, entries)] * (entries != rows)
    for places, end in [*ends, *((table.starts, rows) for table in tables.tables)]:
        if not len(places) or places[0] or places[-1] != end or (places[1:] < places[:-1]).any():
            raise unusable(path, f"places that ascend from 0 to {end}", "others")


def map_tables(path: Path, written: Tables) -> Tables:
    """Map the tables of a segment that was just written into memory."""
    return _tables(_mapped(path), written.shape, written.max_id)


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _tables(mapped: mmap.mmap, shape: Shape, max_id: int) -> Tables:
    columns = [
        np.frombuffer(mapped, column.dtype, column.length, offset)
        if column.length
        else np.zeros(0, column.dtype)
        for offset, column, _ in sections_of(shape)
    ]
    return tables_of(shape, max_id, columns)
