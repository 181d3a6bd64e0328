"""Show the numbers of a crawl on standard error: in a panel, or line by line."""

from __future__ import annotations

import io
import json
import logging
import re
import sys
import time
from typing import TYPE_CHECKING, Any, TextIO, cast

from rich.console import Console, Group
from rich.filesize import decimal
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from crawler.console.escaping import plain, plain_json, plain_record, say
from crawler.console.progress_line import is_drawable
from crawler.crawl_numbers import FINISHING
from crawler.options import JSON, TEXT
from crawler.pages.export import iso_time
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType

    from crawler.crawl_numbers import Numbers, Sums

_URL = re.compile(r"https?://[^\s<>\"']+")
_AFTER_URL = ".,:;)]}"


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


MAX_WIDTH = 100
"""Columns of the panel, at most."""

_BESIDE = 4
"""Columns right of the panel: a terminal echoes ``^C`` there, twice, without breaking the line."""

_LARGE = 10_000_000

_MANY = 4
"""From so many columns beside the first three on, the panel has no room for wide ones."""


def clock(secs: float) -> str:
    """Return a time as hours, minutes and seconds: ``0:02:13``, ``2 d 0:05:00``."""
    minutes, seconds = divmod(int(secs), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    return f"{f'{days} d ' if days else ''}{hours}:{minutes:02}:{seconds:02}"


def limit_words(numbers: Numbers) -> str:
    """Return how far a crawl is, and how long it still takes; empty where no limit is known."""
    if numbers.share is None:
        return ""
    left = "" if numbers.eta_secs is None else f", about {clock(numbers.eta_secs)} left"
    return f"{int(100 * numbers.share)} % of {numbers.limit}{left}"


def finishing_words(numbers: Numbers) -> str:
    """Return how many pages a crawl that ends still waits for."""
    return f"finishing {many(numbers.in_flight, 'page')}"


def plain_line(numbers: Numbers) -> str:
    """Return all numbers in one line."""
    parts = [clock(numbers.elapsed_secs), f"{_sums_words(numbers.run)}"]
    if numbers.state == FINISHING and numbers.in_flight:
        parts.insert(0, finishing_words(numbers))
    parts += [
        f"{numbers.pages_per_sec:.1f} pages/s",
        f"{numbers.queued:,} queued",
        f"{numbers.in_flight:,} in flight",
        limit_words(numbers),
        *_remarks(numbers),
    ]
    if not numbers.is_new:
        parts.append(f"directory: {_sums_words(numbers.directory)}")
    return ", ".join(filter(None, parts))


def _sums_words(sums: Sums) -> str:
    words = [f"{sums.fetched:,} fetched", f"{sums.kept:,} kept", many(sums.duplicates, "duplicate")]
    words += [f"{count:,} {name}" for name, count in _optional(sums) if count]
    return ", ".join(words)


def _optional(sums: Sums) -> tuple[tuple[str, int], ...]:
    return (
        ("changed", sums.changed),
        ("unchanged", sums.unchanged),
        ("other", sums.other),
        ("failed", sums.failed),
    )


def _remarks(numbers: Numbers) -> Iterator[str]:
    if numbers.promoted:
        yield f"{many(numbers.promoted, 'duplicate')} kept after all"
    if numbers.files:
        yield f"{many(numbers.files, 'file')} among what was fetched"
    if requests := numbers.run.browser_requests:
        yield f"{many(requests, 'request')} of the browser"
    yield from filter(None, (numbers.resting, numbers.fleet))


class PlainProgress:
    """A line at an interval, for logs.

    Args:
        read: Returns the numbers.
        log_format: Format of the lines of the log, between which these stand.
    """

    def __init__(self, read: Callable[[], Numbers], log_format: str = TEXT) -> None:
        self._read = read
        self._is_json = log_format == JSON

    def show(self) -> None:
        """Print the line."""
        line, now = plain_line(self._read()), time.time()
        if self._is_json:
            say(json_line(now, logging.INFO, "crawler.progress", line), to_stderr=True)
            return
        stamp = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(now))
        say(f"{stamp} {line}", to_stderr=True)

    def stop(self) -> None:
        """Print the line a last time."""
        self.show()


class _AbovePanel(io.TextIOBase):
    """A stream to the terminal while a panel is on it: text is printed above, line by line."""

    def __init__(self, console: Console, terminal: TextIO) -> None:
        self._console = console
        self._terminal = terminal
        self._rest = ""

    def write(self, text: str) -> int:
        """Write whole lines; they are the terminal's to wrap."""
        lines, newline, self._rest = (self._rest + text).rpartition("\n")
        if newline:
            self._console.print(Text(lines), soft_wrap=True)
        return len(text)

    def flush_rest(self) -> None:
        """Write a line that was begun."""
        if self._rest:
            self.write("\n")

    def isatty(self) -> bool:
        """See the base class."""
        return self._terminal.isatty()

    @property
    def buffer(self) -> Any:
        """The bytes of the terminal, which are not printed above the panel."""
        return self._terminal.buffer

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """The encoding of the terminal."""
        return self._terminal.encoding


class LiveProgress:
    """A panel that is redrawn at an interval; all that is printed or logged passes above it.

    The thread that logs draws it: rich's own thread would draw between the lines of others.

    Handlers of the log were made before the panel and write to the terminal itself, where the next
    drawing would erase their lines. They get another stream while the panel is there.
    """

    def __init__(self, read: Callable[[], Numbers]) -> None:
        self._read = read
        self._redirected: list[tuple[logging.StreamHandler[Any], Any]] = []
        self._streams: dict[str, TextIO] = {}
        self._console = Console(stderr=True)
        self._live = Live(
            get_renderable=self._panel,
            console=self._console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    @property
    def is_possible(self) -> bool:
        """Whether standard error is a terminal that can be drawn on."""
        return is_drawable(self._console)

    def start(self) -> None:
        """Begin to draw."""
        self._console.file = sys.stderr  # which is about to be another one
        for name in ("stdout", "stderr"):
            stream: TextIO = getattr(sys, name)
            if stream.isatty():
                self._streams[name] = stream
                setattr(sys, name, cast("TextIO", _AbovePanel(self._console, stream)))
        terminal = self._streams.get("stderr")
        for handler in logging.getLogger().handlers:
            if isinstance(handler, logging.StreamHandler) and handler.stream is terminal:
                self._redirected.append((handler, terminal))
                handler.setStream(sys.stderr)
        self._live.start(refresh=True)

    def show(self) -> None:
        """Draw the present numbers."""
        self._live.refresh()

    def stop(self) -> None:
        """Remove the panel; the report follows."""
        for name, stream in self._streams.items():
            cast("_AbovePanel", getattr(sys, name)).flush_rest()
            setattr(sys, name, stream)
        self._live.stop()
        # Last: another thread may log meanwhile, and the panel would be drawn over its line.
        for handler, terminal in self._redirected:
            handler.setStream(terminal)
        self._streams.clear()
        self._redirected.clear()

    def _panel(self) -> Panel:
        return panel_of(self._read(), min(self._console.width - _BESIDE, MAX_WIDTH))


def panel_of(numbers: Numbers, width: int) -> Panel:
    """Return the panel of a crawl, of which no line is wider than ``width``."""
    lines = [_table(numbers), *map(_line, filter(None, _lines(numbers))), _hint(numbers)]
    title = Text(plain(numbers.title))
    title.truncate(width - 6, overflow="ellipsis")  # else it makes the panel wider
    return Panel(Group(*lines), title=title, title_align="left", width=max(width, 20))


def _table(numbers: Numbers) -> Table:
    rows = [("this run", numbers.run, "bold")]
    if not numbers.is_new:
        rows.append(("directory", numbers.directory, ""))
    shown = {name for _, sums, _ in rows for name, count in _optional(sums) if count} | {"failed"}
    gap, width = (2, 8) if len(shown) < _MANY else (1, 7)
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    names = ("fetched", "kept", "duplicates", *(name for name, _ in _optional(numbers.run)))
    for name in names[:3] + tuple(name for name in names[3:] if name in shown):
        table.add_column(name, justify="right", no_wrap=True, min_width=width)
    for label, sums, style in rows:
        counts = [count for name, count in _optional(sums) if name in shown]
        cells = [sums.fetched, sums.kept, sums.duplicates, *counts]
        table.add_row(label, *map(_number, cells), style=style)
    return table


def _number(count: int) -> str:
    return f"{count:,}" if count < _LARGE else f"{count / 1e6:,.1f} M"


def _lines(numbers: Numbers) -> Iterator[str]:
    parts = [
        clock(numbers.elapsed_secs),
        f"{numbers.pages_per_sec:.1f} pages/s",
        f"{numbers.queued:,} queued",
        f"{numbers.in_flight:,} in flight",
        decimal(numbers.run.bytes),
    ]
    yield "   ".join(parts)
    yield limit_words(numbers)
    yield _hosts_words(numbers)
    yield from _remarks(numbers)


def _hosts_words(numbers: Numbers) -> str:
    busy = f"{numbers.busy} of {many(numbers.workers, 'worker')} busy" if numbers.workers else ""
    if not numbers.hosts:
        return busy
    others = len(numbers.hosts) - 1
    more = f" and {many(others, 'other host')}" if others else ""
    return f"now {numbers.hosts[0]}{more}{'   ' if busy else ''}{busy}"


def _hint(numbers: Numbers) -> RenderableType:
    if numbers.state == FINISHING:
        again = "Ctrl-C again ends at once, and they are fetched again"
        return _line(f"{finishing_words(numbers)}; {again}", "bold yellow")
    goes_on = ", the same command goes on" if numbers.is_stored else ""
    return _line(f"Ctrl-C stops safely{goes_on}", "dim")


def _line(words: str, style: str = "") -> Text:
    return Text(plain(words), style=style, no_wrap=True, overflow="ellipsis")
