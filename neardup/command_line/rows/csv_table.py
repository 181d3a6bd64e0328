"""Rows from CSV."""

import csv
from collections.abc import Iterator

from neardup.command_line.errors import InputError
from neardup.command_line.rows.row import Row
from neardup.command_line.streams import Stream

# Pages are longer than the 131,072 characters that the module allows; the largest C long anywhere.
_FIELD_CHARACTERS = 2**31 - 1


def csv_table(stream: Stream) -> Iterator[Row]:
    """Yield a row for each record below the line of names; UTF-8, with or without a mark.

    Raises:
        InputError: The file is no CSV, not UTF-8, or a record has another number of fields.
    """
    csv.field_size_limit(_FIELD_CHARACTERS)
    table = csv.reader(_lines(stream), strict=True)
    try:
        names = next(table, [])
        for record in table:
            if not record:
                continue
            if len(record) != len(names):
                raise InputError(
                    f"{stream.name}, line {table.line_num}: {len(names)} fields expected, "
                    f"got {len(record)}"
                )
            yield Row(stream.name, "line", table.line_num, dict(zip(names, record, strict=True)))
    except csv.Error as error:
        raise InputError(f"{stream.name}, line {table.line_num}: no CSV: {error}") from error


def _lines(stream: Stream) -> Iterator[str]:
    """Yield lines with their ends, which within quotes belong to a field."""
    for number, line in enumerate(stream.file, start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            message = f"{stream.name}, line {number}: not UTF-8: {error.reason}"
            raise InputError(message) from error
