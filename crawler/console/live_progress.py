"""Show the numbers of a crawl in a panel on the terminal, below what is printed and logged."""

from __future__ import annotations

import io
import logging
import sys
from typing import TYPE_CHECKING, Any, TextIO, cast

from rich.console import Console, Group
from rich.filesize import decimal
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from crawler.console.escaping import plain
from crawler.console.progress import clock, finishing_words, limit_words, optional_sums, remarks
from crawler.crawl_numbers import FINISHING
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType

    from crawler.crawl_numbers import Numbers

MAX_WIDTH = 100
"""Columns of the panel, at most."""

_BESIDE = 4
"""Columns right of the panel: a terminal echoes ``^C`` there, twice, without breaking the line."""

_LARGE = 10_000_000

_MANY = 4
"""From so many columns beside the first three on, the panel has no room for wide ones."""


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
    if numbers.state == FINISHING:
        again = "Ctrl-C again ends at once, and they are fetched again"
        return _line(f"{finishing_words(numbers)}; {again}", "bold yellow")
    goes_on = ", the same command goes on" if numbers.is_stored else ""
    return _line(f"Ctrl-C stops safely{goes_on}", "dim")


def _line(words: str, style: str = "") -> Text:
    return Text(plain(words), style=style, no_wrap=True, overflow="ellipsis")
