"""Open where texts come from and results go: files, standard input, standard output."""

import gzip
import json
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import IO, Any

from neardup.errors import InputError
from neardup.files.durable import replacing
from neardup.files.outputs import is_database

STANDARD_INPUT = "-"

_GZIP = b"\x1f\x8b"


@dataclass(frozen=True, slots=True)
class InputStream:
    """Bytes of ``raw``, unpacked where they were gzip; ``total`` of them, None where unknown."""

    name: str
    file: IO[bytes]
    raw: BufferedReader
    total: int | None

    def position(self) -> int:
        """Return how many of the stored bytes were read; 0 where their number is not known."""
        return 0 if self.total is None else self.raw.tell()


@contextmanager
def open_stream(path: str) -> Iterator[InputStream]:
    """Open a file, or standard input for ``-``; gzip is known by its first bytes."""
    if path == STANDARD_INPUT:
        # Python has None in its place where a shell closed it.
        buffer = getattr(sys.stdin, "buffer", None)
        if not isinstance(buffer, BufferedReader):
            raise InputError("standard input is closed")
        yield _stream("standard input", buffer)
        return
    with Path(path).open("rb") as raw:
        yield _stream(path, raw)


def _stream(name: str, raw: BufferedReader) -> InputStream:
    packed = raw.peek(2)[:2] == _GZIP
    file: IO[bytes] = BufferedReader(gzip.GzipFile(fileobj=raw)) if packed else raw
    status = os.fstat(raw.fileno())
    total = status.st_size if stat.S_ISREG(status.st_mode) else None
    return InputStream(name, file, raw, total)


def json_line(value: Any) -> bytes:
    """Return a value as a line of JSON, in UTF-8."""
    # Half of a surrogate pair has no UTF-8; backslashreplace happens to write JSON's own escape.
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def standard_output() -> IO[bytes]:
    """Return standard output as bytes, or raise InputError where it is closed."""
    # Python has None in its place where a shell closed it.
    buffer: IO[bytes] | None = getattr(sys.stdout, "buffer", None)
    if buffer is None:
        raise InputError("standard output is closed")
    return buffer


def print_text(text: str) -> None:
    """Print to standard output in UTF-8, whatever the text holds."""
    standard_output().write(text.encode("utf-8", "backslashreplace") + b"\n")


@contextmanager
def open_output(path: str | None, source: str) -> Iterator[IO[bytes]]:
    """Open the file of results before the work begins, so that a bad path costs no hour.

    Until all is written it has another name beside its own: what stood there is replaced whole,
    or not at all. ``source`` is the input, which it must not be.
    """
    if path is None or path == "-":
        yield standard_output()
        return
    target = Path(path)
    if target.exists() and Path(source).exists() and target.samefile(source):
        raise InputError(f"{path}: --out is the input; choose another file")
    if is_database(target):
        raise InputError(f"{path}: is a database; choose another file, or remove it yourself")
    if target.exists() and not target.is_file():
        # A device or a pipe cannot be replaced, and a folder says so itself.
        with target.open("wb") as file:
            yield file
        return
    # Through a link, so that the link stays one.
    with _replacing(target.resolve()) as file:
        yield file


@contextmanager
def open_partial(path: str | None, output: IO[bytes]) -> Iterator[tuple[IO[bytes], str]]:
    """Open where the results of a part of the input go, and name it: not the place of whole ones.

    That is the output where it is standard output or a device, otherwise ``PATH.partial``.
    """
    if path is None or path == "-":
        yield output, "standard output"
    elif Path(path).exists() and not Path(path).is_file():
        yield output, path
    else:
        partial = Path(path).resolve()
        with _replacing(partial.with_name(f"{partial.name}.partial")) as file:
            yield file, f"{path}.partial"


@contextmanager
def _replacing(target: Path) -> Iterator[IO[bytes]]:
    with ExitStack() as stack:
        try:
            file = stack.enter_context(replacing(target))
        except OSError as error:
            raise InputError(f"{target}: {error.strerror}") from error
        yield file
