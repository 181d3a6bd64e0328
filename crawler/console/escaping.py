"""Escape the text of strangers: for a terminal, on which characters can be commands, and for HTML.

All that commands print goes through here, and all pages that they write.
"""

from __future__ import annotations

import codecs
import io
import json
import logging
import os
import re
import sys
import traceback
import unicodedata
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

from crawler.storage.errors import JobError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from jinja2 import Environment

_JSON = frozenset({"json", "jsonlines", "jsonl", "jl"})
_UNSEEN_IN_JSON = re.compile(r"[^\n -~]")

_URL = re.compile(r"https?://[^\s<>\"']+")
_AFTER_URL = ".,:;)]}"

_PICTURES = 0x2400
_DELETE = "\x7f"


def plain(text: str, *, with_lines: bool = False) -> str:
    r"""Return a text with all characters visible that a terminal would obey, or not show.

    Control characters become their pictures (an escape is ``␛``), those that turn the direction of
    writing, have no width or are no characters become ``\u202e`` and the like. White space
    becomes a space.

    Args:
        text: Any text.
        with_lines: Let line breaks be.
    """
    if text.isprintable():
        return text
    return "".join(_shown(character, with_lines=with_lines) for character in text)


def _shown(character: str, *, with_lines: bool) -> str:
    if character.isprintable() or (with_lines and character == "\n"):
        return character
    if character in "\t\n\r" or unicodedata.category(character) == "Zs":
        return " "
    if character < " ":
        return chr(_PICTURES + ord(character))
    if character == _DELETE:
        return "␡"
    return ascii(character)[1:-1]


def say(
    line: str = "",
    *,
    to_stderr: bool = False,
    flush: bool = False,
    with_lines: bool = False,
) -> None:
    """Print a line with every character escaped that a terminal would obey.

    Args:
        line: The line to print.
        to_stderr: Print to standard error.
        flush: Print it at once.
        with_lines: Keep line breaks.
    """
    file = sys.stderr if to_stderr else sys.stdout
    print(plain(line, with_lines=with_lines), file=file, flush=flush or to_stderr)


def leave_unsaid(stream: TextIO) -> None:
    """Let go nowhere what is still buffered, when Python flushes it at its end, and what comes."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def say_or_go_on(line: str, *, to_stderr: bool = False, with_lines: bool = False) -> None:
    """Print a line at once, or nothing any more where the reader has gone.

    What a crawl does is worth more than what is printed of it.
    """
    try:
        say(line, to_stderr=to_stderr, flush=True, with_lines=with_lines)
    except BrokenPipeError:
        leave_unsaid(sys.stderr if to_stderr else sys.stdout)


def agrees(question: str) -> bool:
    """Ask a person; nothing but ``y`` and ``yes`` agrees, and Ctrl-D is no."""
    try:
        return input(f"{question} [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False


def say_coloured(text: str) -> None:
    """Print a text with colours of ours; its text from sites was escaped before."""
    print(text)


def say_json(text: str) -> None:
    """Print JSON, escaped so that it means the same and a terminal obeys nothing in it."""
    print(plain_json(text))


def plain_stdout(kind: str) -> IO[bytes]:
    """Return standard output for rows in a format, in which nothing acts on a terminal.

    JSON means the same; other formats are as they are where no terminal shows them.

    Args:
        kind: The format, as Scrapy names it.
    """
    if kind in _JSON:
        return cast("IO[bytes]", _Shown(plain_json))
    if sys.stdout.isatty():
        return cast("IO[bytes]", _Shown(partial(plain, with_lines=True)))
    return sys.stdout.buffer


@contextmanager
def whole_file(name: str | Path, kind: str = "") -> Iterator[IO[bytes]]:
    """Open a file that appears under its name when it is complete; ``-`` is standard output.

    Raises:
        JobError: It cannot be made.
    """
    if name == "-":
        file = plain_stdout(kind)
        yield file
        file.flush()
        return
    from neardup.files.durable import named_file  # noqa: PLC0415  # needs SQLite

    path = Path(name)
    try:
        with ExitStack() as stack:
            try:
                file = stack.enter_context(named_file(path))
            except OSError as error:
                raise JobError(f"{path}: {error.strerror}") from error
            yield file
    except OSError as error:  # of a disk that is full, which names no file
        error.filename = error.filename or str(path)
        raise


class _Shown(io.RawIOBase):
    """Standard output behind a function that converts each text."""

    def __init__(self, shown: Callable[[str], str]) -> None:
        super().__init__()
        self._shown = shown
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        """See the base class."""
        return True

    def write(self, data: Any) -> int:
        """See the base class."""
        text = self._shown(self._decoder.decode(bytes(data)))
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        return len(data)

    def flush(self) -> None:
        """See the base class."""
        if not sys.stdout.closed:
            sys.stdout.buffer.flush()


def plain_json(text: str) -> str:
    r"""Return JSON with all invisible characters escaped; it means the same.

    JSON itself asks only for characters below the space to be escaped.
    """
    return _UNSEEN_IN_JSON.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    character = found[0]
    if character.isprintable():
        return character
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


class _PlainRecord(logging.LogRecord):
    """A record of logging without characters that a terminal would obey."""

    def getMessage(self) -> str:  # noqa: N802  # logging's name
        """See the base class."""
        return plain(super().getMessage(), with_lines=True)


def plain_logs() -> None:
    """Escape all log messages from now on, of every library, tracebacks too."""
    logging.setLogRecordFactory(plain_record)


def plain_record(*args: Any, **kwargs: Any) -> logging.LogRecord:
    """Return a record of logging whose message and traceback are escaped."""
    record = _PlainRecord(*args, **kwargs)
    if record.exc_info and record.exc_info[0] is not None:
        lines = "".join(traceback.format_exception(*record.exc_info)).rstrip("\n")
        record.exc_text = plain(lines, with_lines=True)
    return record


class JsonFormatter(logging.Formatter):
    """Formats a record as an object: ``time``, ``level``, ``logger``, ``message``.

    ``url`` is the first URL of the message, ``exception`` the traceback; both are there only where
    there is one.
    """

    def format(self, record: logging.LogRecord) -> str:
        """See the base class."""
        exception = record.exc_text or ""
        if not exception and record.exc_info:
            exception = self.formatException(record.exc_info)
        message = record.getMessage()
        return json_line(record.created, record.levelno, record.name, message, exception)


def json_line(at: float, level: int, logger: str, message: str, exception: str = "") -> str:
    """Return a line of the log as JSON; its parts are those of a record."""
    from crawler.pages.items import iso_time  # noqa: PLC0415  # slow

    line = {
        "time": iso_time(at),
        "level": logging.getLevelName(level),
        "logger": logger,
        "message": message,
    }
    if (found := _URL.search(message)) is not None:
        line["url"] = found[0].rstrip(_AFTER_URL)
    if exception:
        line["exception"] = exception
    return plain_json(json.dumps(line, ensure_ascii=False))


def json_logs() -> None:
    """Let all handlers of the log write JSON from now on, also those that are made later."""
    logging.setLogRecordFactory(_record)


def _record(*args: Any, **kwargs: Any) -> logging.LogRecord:
    # Scrapy makes its handler after the settings are read, and again for each crawler.
    for handler in logging.getLogger().handlers:
        if not isinstance(handler.formatter, JsonFormatter):
            handler.setFormatter(JsonFormatter())
    return plain_record(*args, **kwargs)


def template_environment() -> Environment:
    """Return what fills templates: all values are escaped, and a missing one is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # noqa: PLC0415  # slow

    return Environment(
        loader=PackageLoader("crawler.console", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


_STOPPING = "stopping when what is under way is through; Ctrl-C again ends at once"


class _Echo(logging.Handler):
    """Says in our words what Scrapy logs about Ctrl-C, at a level that is not shown by default."""

    def emit(self, record: logging.LogRecord) -> None:
        if not str(record.msg).startswith("Received"):
            return
        is_second = "twice" in str(record.msg)
        words = "ending at once" if is_second else _STOPPING
        say(f"\n{words}", to_stderr=True, with_lines=True)


def tidy_logs() -> None:
    """Say that a signal was received; call it when Scrapy has configured its logs."""
    scrapys = logging.getLogger("scrapy.crawler")
    if not any(isinstance(handler, _Echo) for handler in scrapys.handlers):
        scrapys.addHandler(_Echo(logging.INFO))
