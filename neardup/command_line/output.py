"""Open the place of results: standard output, or a file that is whole or not there."""

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from neardup.command_line.errors import InputError


def json_line(value: Any) -> bytes:
    """Return a value as a line of JSON, in UTF-8."""
    # Half of a surrogate pair has no UTF-8; backslashreplace happens to write JSON's own escape.
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"


def standard_output() -> IO[bytes]:
    """Return standard output as bytes.

    Raises:
        InputError: It is closed.
    """
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
    or not at all.

    Args:
        path: None or ``-``: standard output.
        source: The input, which it must not be.

    Raises:
        InputError: Both are one file.
        OSError: It cannot be written.
    """
    if path is None or path == "-":
        yield standard_output()
        return
    target = Path(path)
    if target.exists() and Path(source).exists() and target.samefile(source):
        raise InputError(f"{path}: --out is the input; choose another file")
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
    """Open where the results of a part of the input go: never in the place of whole ones.

    Args:
        path: As for ``open_output``.
        output: The file that it opened.

    Returns:
        The file, and what to call it: standard output or a device, otherwise ``PATH.partial``.
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
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    except OSError as error:
        # The system's message names a file that the user never heard of.
        raise InputError(f"{target}: {error.strerror}") from error
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        # mkstemp makes files for its owner alone.
        Path(name).chmod(target.stat().st_mode if target.exists() else 0o666 & ~_umask())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    # It can only be read by setting it.
    mask = os.umask(0)
    os.umask(mask)
    return mask
