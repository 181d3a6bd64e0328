"""Which reader is for which file?"""

import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from gzip import BadGzipFile

from neardup.command_line.errors import BadInputError, InputError
from neardup.command_line.rows.csv_table import csv_table
from neardup.command_line.rows.json_lines import json_lines
from neardup.command_line.rows.parquet_table import open_parquet
from neardup.command_line.rows.row import Pass, Row, Source, pass_none
from neardup.command_line.standard_streams import STANDARD_INPUT, open_stream

JSON_LINES, CSV, PARQUET = FORMATS = ("jsonl", "csv", "parquet")

_ENDINGS = {"jsonl": JSON_LINES, "ndjson": JSON_LINES, "jl": JSON_LINES, "json": JSON_LINES}
_ENDINGS |= {"csv": CSV, "parquet": PARQUET}


@contextmanager
def open_rows(
    path: str,
    format_name: str | None,
    fields: Sequence[Sequence[str]] = (),
    pass_over: Pass = pass_none,
) -> Iterator[Source]:
    """Open a file of rows, or standard input for ``-``, JSON lines unless said otherwise.

    Args:
        path: The file; JSON lines and CSV may be gzip.
        format_name: One of ``FORMATS``; None: what the ending of the file says.
        fields: For each field that will be asked for the names that it may have.
        pass_over: Is told of each row that cannot be read, and may raise.

    Raises:
        InputError: The format is not known, or the file is not what it says; the rows raise it too.
        OSError: It cannot be read.
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
        yield Source(stream.name, rows, stream.position, stream.total)


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
