"""Rows from JSON lines."""

import json
from collections.abc import Iterator

from neardup.command_line.errors import InputError
from neardup.command_line.rows.row import Pass, Row, kind_of, pass_none
from neardup.command_line.standard_streams import Stream


def json_lines(stream: Stream, pass_over: Pass = pass_none) -> Iterator[Row]:
    """Yield a row for each line; empty lines are passed over.

    Args:
        stream: The file.
        pass_over: Is told of each line that holds no JSON object, and may raise.
    """
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
