"""Read the rows of JSON lines, CSV and parquet files."""

import csv
import json
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from gzip import BadGzipFile
from pathlib import Path
from typing import Any, Self

from neardup.command_line.row import Pass, Row, RowSource, either, kind_of, listed, pass_none
from neardup.command_line.streams import STANDARD_INPUT, InputStream, open_stream
from neardup.errors import BadInputError, InputError
from neardup.installing import install_command

_ROWS_AT_ONCE = 64
# Otherwise all of a column that is in one group of rows is read at once, and a file is often one.
_BUFFER_BYTES = 1 << 20

# Pages are longer than the 131,072 characters that the module allows; the largest C long anywhere.
_FIELD_CHARACTERS = 2**31 - 1

JSON_LINES, CSV, PARQUET = FORMATS = ("jsonl", "csv", "parquet")

_ENDINGS = {
    **dict.fromkeys(("jsonl", "ndjson", "jl", "json"), JSON_LINES),
    "csv": CSV,
    "parquet": PARQUET,
}


@contextmanager
def open_parquet(path: str, fields: Sequence[Sequence[str]]) -> Iterator[RowSource]:
    """Open a parquet file and read of each field the first column that has one of its names."""
    try:
        import pyarrow as pa  # noqa: PLC0415  (optional)
        import pyarrow.parquet as pq  # noqa: PLC0415
    except ImportError:
        raise InputError(f"parquet needs pyarrow: {install_command('parquet')}") from None
    with Path(path).open("rb") as file:
        try:
            table = pq.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False)
            names = table.schema_arrow.names
            chosen = [_chosen(path, wanted, names) for wanted in fields]
            progress = _Progress()
            rows = _rows(path, table, chosen, progress)
            yield RowSource(path, rows, lambda: progress.rows, table.metadata.num_rows)
        except pa.ArrowException as error:
            raise InputError(f"{path}: no parquet: {error}") from error


def _chosen(path: str, wanted: Sequence[str], names: Sequence[str]) -> str:
    for name in wanted:
        if name in names:
            return name
    raise InputError(f"{path}: no column {either(wanted)}; there are {listed(names)}")


class _Progress:
    rows = 0


def _rows(path: str, table: Any, fields: Sequence[str], progress: _Progress) -> Iterator[Row]:
    import pyarrow as pa  # noqa: PLC0415  (optional)

    columns = list(dict.fromkeys(fields))
    try:
        for batch in table.iter_batches(batch_size=_ROWS_AT_ONCE, columns=columns):
            for values in batch.to_pylist():
                progress.rows += 1
                yield Row(path, "row", progress.rows, values)
    except pa.ArrowException as error:
        where = f"{path}, after row {progress.rows}"
        raise BadInputError(f"{where}: damaged parquet: {error}") from error


def json_lines(stream: InputStream, pass_over: Pass = pass_none) -> Iterator[Row]:
    """Yield a row for each line; ``pass_over`` takes each that holds no JSON object."""
    for number, line in enumerate(stream.file, start=1):
        if line.isspace():
            continue
        try:
            row = Row(stream.name, "line", number, _fields(line))
        except InputError as error:
            pass_over(InputError(f"{stream.name}, line {number}: {error}"))
        else:
            yield row


def _fields(line: bytes) -> dict[str, object]:
    try:
        fields = json.loads(line)
    except json.JSONDecodeError as error:
        raise InputError(f"no JSON: {error.msg}, column {error.colno}") from error
    # Bytes that are no UTF-8, numbers of thousands of digits, lists within lists without end.
    except (ValueError, RecursionError) as error:
        raise InputError(f"no JSON: {error}") from error
    if not isinstance(fields, dict):
        raise InputError(f"one object a line expected, got {kind_of(fields)}")
    return fields


def csv_table(stream: InputStream, pass_over: Pass = pass_none) -> Iterator[Row]:
    """Yield a row for each record below the line of names; UTF-8, with or without a mark.

    ``pass_over`` takes each record that is no CSV, not UTF-8, or has another number of fields.
    """
    csv.field_size_limit(_FIELD_CHARACTERS)
    lines = _Lines(stream)
    table = csv.reader(lines, strict=True)
    names = _record(stream, lines, table) or []
    while True:
        try:
            record = _record(stream, lines, table)
            if record is None:
                return
            if record and len(record) != len(names):
                raise InputError(
                    f"{stream.name}, line {lines.number}: {len(names)} fields expected, "
                    f"got {len(record)}"
                )
        except InputError as error:
            pass_over(error)
            continue
        if record:
            yield Row(stream.name, "line", lines.number, dict(zip(names, record, strict=True)))


def _record(stream: InputStream, lines: "_Lines", table: Iterator[list[str]]) -> list[str] | None:
    """Return the next record, None at the end; after an error the next call goes on behind it."""
    try:
        return next(table, None)
    except csv.Error as error:
        raise InputError(f"{stream.name}, line {lines.number}: no CSV: {error}") from error
    except UnicodeDecodeError as error:
        raise InputError(
            f"{stream.name}, line {lines.number}: not UTF-8: {error.reason}"
        ) from error


class _Lines:
    """Lines with their ends, which within quotes belong to a field.

    No generator: that would end at the first line which is not UTF-8.
    """

    def __init__(self, stream: InputStream) -> None:
        self.number = 0
        self._file = stream.file

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        line = next(self._file)
        self.number += 1
        return line.decode("utf-8-sig" if self.number == 1 else "utf-8")


@contextmanager
def open_rows(
    path: str,
    format_name: str | None,
    fields: Sequence[Sequence[str]] = (),
    pass_over: Pass = pass_none,
) -> Iterator[RowSource]:
    """Open a file of rows, or standard input for ``-``, JSON lines unless said otherwise.

    Args:
        path: The file; JSON lines and CSV may be gzip.
        format_name: One of ``FORMATS``; None: what the ending of the file says.
        fields: For each field that will be asked for the names that it may have.
        pass_over: Called with each row that cannot be read, and may raise.
    """
    chosen = format_name or _by_ending(path)
    if chosen == PARQUET:
        if path == STANDARD_INPUT:
            raise InputError(
                "parquet is read from its end, so not from standard input; name a file"
            )
        with open_parquet(path, fields) as source:
            yield source
        return
    read = csv_table if chosen == CSV else json_lines
    with open_stream(path) as stream:
        rows = _unpacked(stream.name, read(stream, pass_over))
        yield RowSource(stream.name, rows, stream.position, stream.total)


def _unpacked(name: str, rows: Iterator[Row]) -> Iterator[Row]:
    try:
        yield from rows
    except (EOFError, zlib.error, BadGzipFile) as error:
        raise BadInputError(f"{name}: damaged gzip: {error}") from error


def _by_ending(path: str) -> str:
    if path == STANDARD_INPUT:
        return JSON_LINES
    ending = path.lower().removesuffix(".gz").rpartition(".")[2]
    if ending not in _ENDINGS:
        raise InputError(
            f"{path}: its ending says no format; choose with --format {', '.join(FORMATS)}"
        )
    return _ENDINGS[ending]
