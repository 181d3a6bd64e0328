"""Pages of a part of a file."""

import csv
import gzip
import io
import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import entry_points
from typing import Any, BinaryIO, Protocol, cast

import zstandard

from neardup.batch.input_files import (
    CSV,
    JSON_LINES,
    PARQUET,
    Fields,
    File,
    InputOptions,
    InputPart,
    file_system,
)
from neardup.errors import InputError

GROUP = "neardup.readers"
"""The group of entry points; each names a ``Reader`` for a format, such as ``warc``.

Text extraction of pages is the business of crawlers, and this library knows none.
"""

_ROWS_AT_ONCE = 256
_MAX_LINE_BYTES = 1 << 28
_PIECE_BYTES = 1 << 20
_BUFFER_BYTES = 1 << 16
_FRAME_BYTES = 1 << 12
"""Unpack so many bytes of zstd at once, which may become 128 MB."""


@dataclass(frozen=True, slots=True)
class WebPage:
    """A text of a file, with what its page says of itself.

    Attributes:
        position: The place in its file; it ascends from page to page.
        name: The name for people, such as its URL.
        text: The text to judge and to store.
        is_main: Whether a fingerprint may stand for it; else only equality counts.
        visible_digest: ``text_digest`` of all that the page shows, which is what counts where no
            fingerprint stands for the text; None: the text is all there is.
        title: The title; None where the page has none.
        date: The time at which it was fetched or published, as its source writes it; None where it
            is not known.
        language: The languages that it declares, with commas between them; None: it declares none.
    """

    position: int
    name: str
    text: str
    is_main: bool = True
    visible_digest: bytes | None = None
    title: str | None = None
    date: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A record that is no page to judge, or damage; the reason in a few words, without names."""

    reason: str


class Reader(Protocol):
    """Reads a seekable file from its beginning to its end, in bounded memory."""

    @property
    def extractors(self) -> Sequence[str]:
        """The names of what finds the main text of a page; the first one is the default."""

    def __call__(self, file: BinaryIO, extractor: str = ...) -> Iterator[WebPage | LeftOut]: ...


@cache
def reader_of(format_name: str) -> Reader:
    """Return the reader that is installed for a format, or raise InputError."""
    for entry in entry_points(group=GROUP, name=format_name):
        try:
            found: Reader = entry.load()
        except ImportError as error:
            raise InputError(f"the reader of {format_name} files: {error}") from error
        return found
    raise InputError(
        f"{format_name} files need their reader: pip install crawl-once installs it "
        f"(entry points {GROUP})"
    )


def check_extractor(files: Iterable[File], extractor: str | None) -> None:
    """Refuse an extractor that no reader of some files has.

    Raises:
        InputError: There is no such extractor, or no file has a reader of its own.
    """
    if extractor is None:
        return
    formats = _formats_of_pages(files)
    if not formats:
        raise InputError("--extractor is for WARC; texts of rows are taken as they are")
    for name in formats:
        known = reader_of(name).extractors
        if extractor not in known:
            raise InputError(f"--extractor takes {' or '.join(known)}, got {extractor}")


def extractor_of(files: Iterable[File], extractor: str | None) -> str | None:
    """Return what finds the main text of pages of some files; None: all have texts in rows.

    Args:
        files: The files.
        extractor: The extractor that was asked for; None: the reader's first one.

    Raises:
        InputError: No reader is installed.
    """
    formats = _formats_of_pages(files)
    return (extractor or reader_of(formats[0]).extractors[0]) if formats else None


def _formats_of_pages(files: Iterable[File]) -> list[str]:
    return sorted({file.format for file in files} - {CSV, JSON_LINES, PARQUET})


def read_part(part: InputPart, options: InputOptions) -> Iterator[WebPage | LeftOut]:
    """Yield the pages of a part, and a ``LeftOut`` for each damaged record, without raising.

    Raises:
        InputError: No installed reader reads the format.
    """
    try:
        for found in _pages(part, options):
            other = None
            if isinstance(found, WebPage):
                other = options.other_language(found.language)
            yield found if other is None else LeftOut(f"in another language: {other}")
    except (OSError, EOFError, zlib.error, zstandard.ZstdError) as error:
        yield LeftOut(f"damaged: {str(error).splitlines()[0] if str(error) else 'it breaks off'}")


def _pages(part: InputPart, options: InputOptions) -> Iterator[WebPage | LeftOut]:
    fields = options.fields
    system, inner = file_system(part.path)
    with system.open_input_file(inner) as file:
        if part.format == PARQUET:
            yield from _rows(file, part, fields)
        elif part.format == JSON_LINES:
            yield from _lines(file, part, fields)
        elif part.format == CSV:
            yield from _records(file, part, fields)
        else:
            reader = reader_of(part.format)
            yield from reader(cast("BinaryIO", file), options.extractor or reader.extractors[0])


def _lines(file: Any, part: InputPart, fields: Fields) -> Iterator[WebPage | LeftOut]:
    at = part.start
    if at:
        # A line that begins before belongs to the part before; one byte back sees its end.
        file.seek(at - 1)
    stream = _unpacked(file, part)
    if at:
        at += _read_over(stream, part.end - at + 1) - 1
    while part.is_packed or at < part.end:
        line = stream.readline(_MAX_LINE_BYTES)
        if not line:
            return
        if len(line) == _MAX_LINE_BYTES and not line.endswith(b"\n"):
            at += _read_over(stream)
            yield LeftOut(f"a line of more than {_MAX_LINE_BYTES >> 20} MB")
        elif not line.isspace():
            yield _of_line(line, at, part.path, fields)
        at += len(line)


def _unpacked(file: Any, part: InputPart) -> BinaryIO:
    """Return a file with lines, which pyarrow's files know none of."""
    path = part.path.lower()
    if path.endswith(".gz"):
        file = _Pieces(iter(partial(gzip.GzipFile(fileobj=file).read1, _BUFFER_BYTES), b""))
    elif path.endswith(".zst"):
        file = _Pieces(_unpacked_frames(file))
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


def _unpacked_frames(file: Any) -> Iterator[bytes]:
    """Yield what the frames of a file in zstd hold.

    Raises:
        EOFError: The last frame breaks off.
    """
    frame = None
    while data := file.read(_FRAME_BYTES):
        while data:
            frame = frame or zstandard.ZstdDecompressor().decompressobj()
            yield frame.decompress(data)
            data, frame = (frame.unused_data, None) if frame.eof else (b"", frame)
    if frame is not None:
        raise EOFError("a frame breaks off")


def _records(file: Any, part: InputPart, fields: Fields) -> Iterator[WebPage | LeftOut]:
    csv.field_size_limit(_MAX_LINE_BYTES)
    lines = io.TextIOWrapper(_unpacked(file, part), "utf-8-sig", errors="replace", newline="")
    rows, names, position = csv.reader(lines), None, 0
    while True:
        try:
            record = next(rows, None)
        except csv.Error:
            yield LeftOut("a record that is no CSV")
        else:
            if record is None:
                return
            if names is None:
                names = record
                continue
            if len(record) == len(names):
                values = dict(zip(names, record, strict=True))
                yield _page(values, position, part.path, fields)
            elif record:
                yield LeftOut("a record with another number of fields")
        position += 1


def _read_over(stream: BinaryIO, most: int | None = None) -> int:
    """Read to the end of a line, or over ``most`` bytes, in bounded memory; return their number."""
    length = 0
    while most is None or length < most:
        piece = stream.readline(_PIECE_BYTES)
        length += len(piece)
        if not piece or piece.endswith(b"\n"):
            break
    return length


def _of_line(line: bytes, position: int, path: str, fields: Fields) -> WebPage | LeftOut:
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        return LeftOut("a line that is no JSON")
    if not isinstance(values, dict):
        return LeftOut("a line that is no JSON object")
    return _page(values, position, path, fields)


def _rows(file: Any, part: InputPart, fields: Fields) -> Iterator[WebPage | LeftOut]:
    import pyarrow as pa  # noqa: PLC0415  (optional)
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        table = pq.ParquetFile(file)
        there = [name for name in dict.fromkeys(fields) if name in table.schema_arrow.names]
        groups, behind = _groups(table.metadata, part)
        for batch in table.iter_batches(batch_size=_ROWS_AT_ONCE, columns=there, row_groups=groups):
            first, behind = behind, behind + batch.num_rows
            position = max(first, part.first_row)
            end = behind if part.end_row is None else min(behind, part.end_row)
            if end <= position:
                continue
            for values in _values(batch.slice(position - first, end - position)):
                yield _page(values, position, part.path, fields)
                position += 1
            if end == part.end_row:
                return
    except pa.ArrowException:
        yield LeftOut("damaged parquet")


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
        columns = {name: map(_value, batch[name]) for name in batch.schema.names}
        rows = zip(*columns.values(), strict=True)
        return [dict(zip(columns, row, strict=True)) for row in rows]
    return found


def _value(scalar: Any) -> Any:
    try:
        return scalar.as_py()
    except (ValueError, OverflowError):
        return None


def _page(values: dict[str, Any], position: int, path: str, fields: Fields) -> WebPage | LeftOut:
    text = values.get(fields.text)
    if not isinstance(text, str):
        return LeftOut(f'no text in the field "{fields.text}"')
    name = values.get(fields.name)
    if name is None or isinstance(name, bool) or not isinstance(name, str | int):
        name = f"{path}#{position}"
    title, date = values.get(fields.title), values.get(fields.date)
    language = values.get(fields.language)
    return WebPage(
        position,
        _sound(str(name)),
        _sound(text),
        title=_sound(title) if isinstance(title, str) else None,
        date=None if date is None else _sound(str(date)),
        language=language if isinstance(language, str) else None,
    )


def _sound(text: str) -> str:
    # Half of a surrogate pair, which JSON can spell, has no place in a parquet file.
    return text.encode("utf-8", "replace").decode()
