"""Open where texts come from and results go: files, standard input, standard output."""

import json
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any

from neardup.batch.input_files import JSON_LINES, PACKINGS
from neardup.errors import InputError
from neardup.files.durable import new_file

STANDARD_INPUT = "-"


def read_bytes(path: str) -> bytes:
    """Return what a file holds, or for ``-`` standard input."""
    return _standard_input().read() if path == STANDARD_INPUT else Path(path).read_bytes()


@contextmanager
def named_input(path: str, format_name: str | None) -> Iterator[str]:
    """Give the path of an input; for ``-`` that of a temporary copy of standard input."""
    if path != STANDARD_INPUT:
        yield path
        return
    source = _standard_input()
    start = source.peek(8)
    packing = next((ending for ending, magic in PACKINGS.items() if start.startswith(magic)), "")
    with TemporaryDirectory(prefix="neardup-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder, f"stdin.{format_name or JSON_LINES}{packing}")
        with new_file(copy) as file:
            shutil.copyfileobj(source, file)
        yield str(copy)


def _standard_input() -> BufferedReader:
    # Python has None in its place where a shell closed it.
    buffer = getattr(sys.stdin, "buffer", None)
    if not isinstance(buffer, BufferedReader):
        raise InputError("standard input is closed")
    return buffer


def print_json(value: Any) -> None:
    """Print a value as a line of JSON to standard output, in UTF-8."""
    # Half of a surrogate pair has no UTF-8; backslashreplace happens to write JSON's own escape.
    print_text(json.dumps(value, ensure_ascii=False))


def print_text(text: str) -> None:
    """Print to standard output in UTF-8, whatever the text holds."""
    # Python has None in its place where a shell closed it.
    buffer: IO[bytes] | None = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        raise InputError("standard output is closed")
    buffer.write(text.encode("utf-8", "backslashreplace") + b"\n")
