"""Rows from JSON lines."""

import json
from collections.abc import Iterator

from neardup.command_line.errors import InputError
from neardup.command_line.rows.row import Row, kind_of
from neardup.command_line.streams import Stream


def json_lines(stream: Stream) -> Iterator[Row]:
    """Yield a row for each line; empty lines are passed over.

    Raises:
        InputError: A line holds no JSON object.
    """
    for number, line in enumerate(stream.file, start=1):
        if line.isspace():
            continue
        where = f"{stream.name}, line {number}"
        try:
            fields = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(f"{where}: no JSON: {error.msg}, column {error.colno}") from error
        # Bytes that are no UTF-8, numbers of thousands of digits, lists within lists without end.
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: no JSON: {error}") from error
        if not isinstance(fields, dict):
            raise InputError(f"{where}: one object a line expected, got {kind_of(fields)}")
        yield Row(stream.name, "line", number, fields)
