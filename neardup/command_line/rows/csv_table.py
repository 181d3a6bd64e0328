"""Rows from CSV."""

import csv
from collections.abc import Iterator
from typing import Self

from neardup.command_line.errors import InputError
from neardup.command_line.rows.row import Pass, Row, pass_none
from neardup.command_line.standard_streams import Stream

# Pages are longer than the 131,072 characters that the module allows; the largest C long anywhere.
_FIELD_CHARACTERS = 2**31 - 1


def csv_table(stream: Stream, pass_over: Pass = pass_none) -> Iterator[Row]:
    """Yield a row for each record below the line of names; UTF-8, with or without a mark.

    Args:
        stream: The file.
        pass_over: Is told of each record that is no CSV, not UTF-8, or has another number of
            fields, and may raise.

    Raises:
        InputError: The line of names cannot be read.
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


def _record(stream: Stream, lines: "_Lines", table: Iterator[list[str]]) -> list[str] | None:
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

    Attributes:
        number: That of the last line.
    """

    def __init__(self, stream: Stream) -> None:
        self.number = 0
        self._file = stream.file

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        line = next(self._file)
        self.number += 1
        return line.decode("utf-8-sig" if self.number == 1 else "utf-8")
