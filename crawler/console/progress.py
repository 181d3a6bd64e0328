"""Show on standard error how far a command or a crawl is: in a line, in a panel, or in a log."""

from __future__ import annotations

import io
import logging
import os
import sys
import time
from typing import TYPE_CHECKING, Any, Self, TextIO, cast

from crawler.console.escaping import json_line, plain, say
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    from crawler.crawl_numbers import Numbers, Sums

REDRAW_SECS = 0.5
"""Seconds between two drawings of a panel or a line."""

MAX_WIDTH = 100
"""Columns of the panel, at most."""

_BESIDE = 4
"""Columns right of the panel: a terminal echoes ``^C`` there, twice, without breaking the line."""

_LARGE = 10_000_000

_MANY = 4
"""With at least this number of columns beside the first three, the panel has narrow ones."""

_DUMB = frozenset({"dumb", "unknown"})


def is_drawable(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal that can be drawn on; one that is closed is None."""
    is_terminal = stream is not None and stream.isatty()
    return is_terminal and os.environ.get("TERM", "").lower() not in _DUMB


def _drawing(console: Console, panel: Callable[[], RenderableType] | None = None) -> Live:
    """Return what is drawn over itself on a terminal, and removed at its end.

    The thread that changes it draws it: rich's own thread would draw between the lines of others.
    """
    from rich.live import Live

    return Live(
        get_renderable=panel,
        console=console,
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


class ProgressLine:
    """A line that is drawn over itself; nothing at first, and where no terminal is."""

    def __init__(self) -> None:
        self._what, self._done, self._total = "", 0, 0
        self._drawn_at = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def __call__(self, share: float, what: str) -> None:
        """Show progress from 0 to 1, with a description of the current step."""
        if self._is_due():
            self._draw(f"{100 * share:3.0f} %  {what}")

    def begin(self, what: str, total: int) -> None:
        """Begin a task with a number of steps."""
        self._what, self._done, self._total = what, 0, total

    def advance(self, steps: int = 1) -> None:
        """Count steps that are done, and show the progress."""
        self._done += steps
        self(self._done / max(self._total, 1), f"{self._what}: {self._done:,} of {self._total:,}")

    def end(self) -> None:
        """Remove the line, so that other text can be printed."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def _is_due(self) -> bool:
        now = time.monotonic()
        if now - self._drawn_at < REDRAW_SECS:
            return False
        self._drawn_at = now
        return True

    def _draw(self, line: str) -> None:
        if not is_drawable(sys.stderr):
            return
        from rich.console import Console

        if self._live is None:
            self._live = _drawing(Console(stderr=True))
            self._live.start()
        self._live.update(_line(line), refresh=True)


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
    if numbers.is_finishing and numbers.in_flight:
        parts.insert(0, finishing_words(numbers))
    parts += [
        f"{numbers.pages_per_sec:.1f} pages/s",
        f"{numbers.queued:,} queued",
        f"{numbers.in_flight:,} in flight",
        limit_words(numbers),
        *remarks(numbers),
    ]
    if not numbers.is_new:
        parts.append(f"directory: {_sums_words(numbers.directory)}")
    return ", ".join(filter(None, parts))


def _sums_words(sums: Sums) -> str:
    words = [f"{sums.fetched:,} fetched", f"{sums.kept:,} kept", many(sums.duplicates, "duplicate")]
    words += [f"{count:,} {name}" for name, count in optional_sums(sums) if count]
    return ", ".join(words)


def optional_sums(sums: Sums) -> tuple[tuple[str, int], ...]:
    return (
        ("changed", sums.changed),
        ("unchanged", sums.unchanged),
        ("other", sums.other),
        ("failed", sums.failed),
    )


def remarks(numbers: Numbers) -> Iterator[str]:
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
        is_json: Whether the log, between whose lines these stand, is JSON.
    """

    def __init__(self, read: Callable[[], Numbers], *, is_json: bool = False) -> None:
        self._read = read
        self._is_json = is_json

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
        from rich.text import Text

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

    Handlers of the log were made before the panel and write to the terminal itself, where the next
    drawing would erase their lines. They get another stream while the panel is there.
    """

    def __init__(self, read: Callable[[], Numbers]) -> None:
        self._read = read
        self._redirected: list[tuple[logging.StreamHandler[Any], Any]] = []
        self._streams: dict[str, TextIO] = {}
        from rich.console import Console

        self._console = Console(stderr=True)
        self._live = _drawing(self._console, self._panel)

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
    """Return the panel of a crawl, whose lines are at most ``width`` wide."""
    from rich.console import Group
    from rich.panel import Panel
    from rich.text import Text

    lines = [_table(numbers), *map(_line, filter(None, _lines(numbers))), _hint(numbers)]
    title = Text(plain(numbers.title))
    title.truncate(width - 6, overflow="ellipsis")  # else it makes the panel wider
    return Panel(Group(*lines), title=title, title_align="left", width=max(width, 20))


def _table(numbers: Numbers) -> Table:
    from rich.table import Table

    rows = [("this run", numbers.run, "bold")]
    if not numbers.is_new:
        rows.append(("directory", numbers.directory, ""))
    counted = {name for _, sums, _ in rows for name, count in optional_sums(sums) if count}
    shown = counted | {"failed"}
    gap, width = (2, 8) if len(shown) < _MANY else (1, 7)
    table = Table(box=None, padding=(0, gap, 0, 0), pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    names = ("fetched", "kept", "duplicates", *(name for name, _ in optional_sums(numbers.run)))
    for name in names[:3] + tuple(name for name in names[3:] if name in shown):
        table.add_column(name, justify="right", no_wrap=True, min_width=width)
    for label, sums, style in rows:
        counts = [count for name, count in optional_sums(sums) if name in shown]
        cells = [sums.fetched, sums.kept, sums.duplicates, *counts]
        table.add_row(label, *map(_number, cells), style=style)
    return table


def _number(count: int) -> str:
    return f"{count:,}" if count < _LARGE else f"{count / 1e6:,.1f} M"


def _lines(numbers: Numbers) -> Iterator[str]:
    from rich.filesize import decimal

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
    yield from remarks(numbers)


def _hosts_words(numbers: Numbers) -> str:
    busy = f"{numbers.busy} of {many(numbers.workers, 'worker')} busy" if numbers.workers else ""
    if not numbers.hosts:
        return busy
    others = len(numbers.hosts) - 1
    more = f" and {many(others, 'other host')}" if others else ""
    return f"now {numbers.hosts[0]}{more}{'   ' if busy else ''}{busy}"


def _hint(numbers: Numbers) -> RenderableType:
    if numbers.is_finishing:
        again = "Ctrl-C again ends at once, and they are fetched again"
        return _line(f"{finishing_words(numbers)}; {again}", "bold yellow")
    goes_on = ", the same command goes on" if numbers.is_stored else ""
    return _line(f"Ctrl-C stops safely{goes_on}", "dim")


def _line(words: str, style: str = "") -> Text:
    from rich.text import Text

    return Text(plain(words), style=style, no_wrap=True, overflow="ellipsis")
