"""The rows of a part of a file: lines or a list of JSON, CSV, tables of parquet and Arrow."""

import bz2
import csv
import gzip
import io
import json
import lzma
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, count
from typing import IO, Any, BinaryIO, NamedTuple, TypeAlias

import zstandard

from neardup.batch.input_files import ARROW, CSV, PARQUET, InputPart

_ROWS_AT_ONCE = 256
_MAX_LINE_BYTES = 1 << 28
_PIECE_BYTES = 1 << 20
_BUFFER_BYTES = 1 << 16
_PACKED_BYTES = 1 << 12
"""Unpack this many bytes at once: those of zstd may become 128 MB."""

_MAX_WINDOW_BYTES = 1 << 31
"""The window of ``zstd --long=31``, all that zstd has: the user names these files, no server."""

_ARROW_MAGIC = b"ARROW1"
_BLANK = b" \t\r\n\xef\xbb\xbf"
_BETWEEN = " \t\r\n,"

Names: TypeAlias = Sequence[tuple[str, ...]]
"""For each field the names that it may have."""

DAMAGE = (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError)

DAMAGED = "damaged"
"""Reasons begin so where input cannot be read: a run that meets one does not end well."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A record that is no page to judge, or damage; the reason in a few words, without names."""

    reason: str


_NO_OBJECT = LeftOut("a line that is no JSON object")


class Row(NamedTuple):
    """The values of a row by field, with its place in the file."""

    position: int
    values: dict[str, Any]


def read_rows(file: Any, part: InputPart, names: Names | None) -> Iterator[Row | LeftOut]:
    """Yield the rows of a part; of tables with the named columns alone, where any are named."""
    if part.format in {PARQUET, ARROW}:
        return _table_rows(file, part, names)
    return _records(file, part) if part.format == CSV else _lines(file, part)


def _lines(file: Any, part: InputPart) -> Iterator[Row | LeftOut]:
    with _unpacked(file, part) as stream:
        at = part.start
        if stream.peek(_BUFFER_BYTES).lstrip(_BLANK).startswith(b"["):
            # One list, which may be one line. Another part would begin within one of its objects.
            with io.TextIOWrapper(stream, "utf-8-sig", "replace") as text:
                yield from () if at else _array_items(text)
            return
        if at:
            # A line that begins before belongs to the part before; one byte back sees its end.
            stream.seek(at - 1)
            at += _read_over(stream, part.end - at + 1) - 1
        while part.is_packed or at < part.end:
            line = stream.readline(_MAX_LINE_BYTES)
            if not line:
                return
            if len(line) == _MAX_LINE_BYTES and not line.endswith(b"\n"):
                at += _read_over(stream)
                yield LeftOut(f"a line of more than {_MAX_LINE_BYTES >> 20} MB")
            elif not line.isspace():
                yield _of_line(line, at)
            at += len(line)


def _array_items(text: IO[str]) -> Iterator[Row | LeftOut]:
    """Yield the objects of a list of JSON, in bounded memory; their positions are numbers."""
    decode = json.JSONDecoder().raw_decode
    rest, position = text.read(_BUFFER_BYTES).lstrip()[1:].lstrip(), 0
    while not rest.startswith("]"):
        try:
            values, end = decode(rest)
        except (ValueError, RecursionError):
            # It may go on: read as much again, so that a long object is not decoded often.
            more = text.read(max(_BUFFER_BYTES, len(rest))) if len(rest) < _MAX_LINE_BYTES else ""
            if not more:
                yield LeftOut(f"{DAMAGED}: no JSON behind item {position:,} of a list")
                return
            rest += more
            continue
        yield Row(position, values) if isinstance(values, dict) else _NO_OBJECT
        position += 1
        rest = rest[end:].lstrip(_BETWEEN) or text.read(_BUFFER_BYTES).lstrip(_BETWEEN)
    if rest[1:].strip() or text.read(_BUFFER_BYTES).strip():
        yield LeftOut(f"{DAMAGED}: more behind a list of JSON")


def _unpacked(file: Any, part: InputPart) -> io.BufferedReader:
    """Return a file with lines, which pyarrow's files know none of."""
    path = part.path.lower()
    for ending, pieces in _UNPACKERS.items():
        if path.endswith(ending):
            file = _Pieces(pieces(file))
            break
    return io.BufferedReader(file, _BUFFER_BYTES)


class _Pieces(io.RawIOBase):
    """A file of pieces: what comes before damage is read, which a reader of a whole buffer loses.

    Args:
        pieces: The pieces; they may end in an error.
    """

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._rest:
            if (piece := next(self._pieces, None)) is None:
                return 0
            self._rest = memoryview(piece)
        taken, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(taken)] = taken
        return len(taken)


def _of_streams(begun: Callable[[], Any]) -> Callable[[Any], Iterator[bytes]]:
    """Return what yields the bytes of streams one behind the other, given what begins one."""

    def pieces(file: Any) -> Iterator[bytes]:
        stream = None
        while data := file.read(_PACKED_BYTES):
            # xz pads its streams; what is no stream is damage, over which bz2.open goes in silence.
            while data := data if stream else data.lstrip(b"\0"):
                stream = stream or begun()
                yield stream.decompress(data)
                data, stream = (stream.unused_data, None) if stream.eof else (b"", stream)
        if stream is not None:
            raise EOFError("it breaks off")

    return pieces


def _zstd_frame() -> Any:
    return zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW_BYTES).decompressobj()


_UNPACKERS: dict[str, Callable[[Any], Iterator[bytes]]] = {
    ".gz": lambda file: iter(partial(gzip.GzipFile(fileobj=file).read1, _BUFFER_BYTES), b""),
    ".bz2": _of_streams(bz2.BZ2Decompressor),
    ".xz": _of_streams(partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, _MAX_WINDOW_BYTES)),
    ".zst": _of_streams(_zstd_frame),
    ".zstd": _of_streams(_zstd_frame),
}


def csv_records(file: Any, part: InputPart) -> Iterator[tuple[int, list[str] | None]]:
    """Yield the records of a CSV file, the header first; None: it is no CSV.

    Each comes with its position, behind a header of -1.
    """
    csv.field_size_limit(_MAX_LINE_BYTES)
    unpacked = _unpacked(file, part)
    with io.TextIOWrapper(unpacked, "utf-8-sig", errors="replace", newline="") as lines:
        rows = csv.reader(lines)
        for position in count(-1):
            try:
                record = next(rows)
            except StopIteration:
                return
            except csv.Error:
                record = None
            yield position, record


def _records(file: Any, part: InputPart) -> Iterator[Row | LeftOut]:
    names = None
    for position, record in csv_records(file, part):
        if record is None:
            yield LeftOut("a record that is no CSV")
        elif names is None:
            names = record
        elif len(record) == len(names):
            yield Row(position, dict(zip(names, record, strict=True)))
        elif record:
            yield LeftOut("a record with another number of fields")


def _read_over(stream: BinaryIO, most: int | None = None) -> int:
    """Read to the end of a line, or over ``most`` bytes, in bounded memory; return their number."""
    length = 0
    while most is None or length < most:
        piece = stream.readline(_PIECE_BYTES)
        length += len(piece)
        if not piece or piece.endswith(b"\n"):
            break
    return length


def _of_line(line: bytes, position: int) -> Row | LeftOut:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return LeftOut("a line that is no JSON")
    return Row(position, values) if isinstance(values, dict) else _NO_OBJECT


def _table_rows(file: Any, part: InputPart, names: Names | None) -> Iterator[Row | LeftOut]:
    import pyarrow as pa  # noqa: PLC0415  (optional)

    wanted = None if names is None else list(dict.fromkeys(chain.from_iterable(names)))
    try:
        for first, batch in table_batches(file, part, wanted):
            for position, values in enumerate(_values(batch), start=first):
                yield Row(position, values)
    except (pa.ArrowException, UnicodeDecodeError) as error:  # the latter of names of columns
        yield LeftOut(f"{DAMAGED} {part.format}: {str(error).splitlines()[0]}")


def table_batches(
    file: Any, part: InputPart, wanted: list[str] | None = None
) -> Iterator[tuple[int, Any]]:
    """Yield batches of a table with the wanted columns, each with the position of its first row."""
    batches = _of_parquet if part.format == PARQUET else _of_arrow
    return batches(file, part, wanted)


def _of_parquet(file: Any, part: InputPart, wanted: list[str] | None) -> Iterator[tuple[int, Any]]:
    """Yield batches of the rows of a part, each with the number of its first row."""
    import pyarrow.parquet as pq  # noqa: PLC0415  (optional)

    table = pq.ParquetFile(file)
    groups, behind = _groups(table.metadata, part)
    for batch in table.iter_batches(batch_size=_ROWS_AT_ONCE, columns=wanted, row_groups=groups):
        first, behind = behind, behind + batch.num_rows
        position = max(first, part.first_row)
        end = behind if part.end_row is None else min(behind, part.end_row)
        if end > position:
            yield position, batch.slice(position - first, end - position)
        if end == part.end_row:
            return


def _of_arrow(file: Any, part: InputPart, wanted: list[str] | None) -> Iterator[tuple[int, Any]]:
    """Yield batches of a file of Arrow, or of a stream, as ``save_to_disk`` of datasets has it."""
    import pyarrow as pa  # noqa: PLC0415  (optional)

    magic = file.read(len(_ARROW_MAGIC))
    file.seek(0)
    if magic == _ARROW_MAGIC:
        opened = pa.ipc.open_file(file)
        batches = map(opened.get_batch, range(opened.num_record_batches))
    else:
        batches = pa.ipc.open_stream(file)
    first = 0
    for batch in batches:
        batch.validate(full=True)  # places that lead nowhere would end the process
        heads = {head for name in wanted or () for head in (name, name.partition(".")[0])}
        chosen = [name for name in batch.schema.names if wanted is None or name in heads]
        for start in range(0, batch.num_rows, _ROWS_AT_ONCE):
            yield first + start, batch.select(chosen).slice(start, _ROWS_AT_ONCE)
        first += batch.num_rows


def _groups(metadata: Any, part: InputPart) -> tuple[list[int], int]:
    """Return the groups in which a part has rows, and the number of the first row in them."""
    found, first, start = list[int](), None, 0
    for group in range(metadata.num_row_groups):
        end = start + metadata.row_group(group).num_rows
        if end > part.first_row and (part.end_row is None or start < part.end_row):
            found.append(group)
            first = start if first is None else first
        start = end
    return found, first or 0


def _values(batch: Any) -> list[dict[str, Any]]:
    try:
        found: list[dict[str, Any]] = batch.to_pylist()
    except (ValueError, OverflowError):  # one of them is no UTF-8, or a date of no year
        columns = {name: map(_python, batch[name]) for name in batch.schema.names}
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]
    return found


def _python(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        return None


def value_of(values: dict[str, Any], names: tuple[str, ...]) -> Any:
    """Return the value of the first of some fields that a row has; a dot leads into an object."""
    for name in names:
        found: Any = values.get(name)
        if found is None and "." in name:
            found = values
            for step in name.split("."):
                found = found.get(step) if isinstance(found, dict) else None
        if found is not None:
            return found
    return None
