"""Show the numbers of a crawl on standard error: in a panel, or line by line."""

from __future__ import annotations

import io
import logging
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.filesize import decimal
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from crawler.console.escaping import say
from crawler.console.progress_line import is_drawable
from crawler.pages.verdicts import DUPLICATES, FAILED, KEPT

if TYPE_CHECKING:
    from crawler.frontier.pauses import HostPauses
    from crawler.job import Job


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a crawl at one moment; counts are those of this process."""

    pages: int
    pages_per_sec: float
    kept: int
    duplicates: dict[str, int]
    other: dict[str, int]
    failed: int
    queued: int
    saved_bytes: int
    busy: int
    workers: int
    fleet: str = ""
    resting: str = ""


def numbers_of(job: Job) -> Numbers:
    """Read the numbers; cheap."""
    result, frontier, pool = job.result, job.frontier, job.archivist.pool
    counts = dict(result.verdicts)
    elapsed = max(time.monotonic() - result.started, 0.001)
    return Numbers(
        pages=result.pages,
        pages_per_sec=result.pages / elapsed,
        kept=sum(counts.get(verdict, 0) for verdict in KEPT),
        duplicates={v: n for v, n in counts.items() if v in DUPLICATES},
        other={v: n for v, n in counts.items() if v not in DUPLICATES | KEPT | {FAILED}},
        failed=counts.get(FAILED, 0),
        queued=len(frontier.queue),
        saved_bytes=result.saved_bytes,
        busy=pool.busy,
        workers=pool.size,
        fleet=job.fleet.progress if job.fleet is not None else "",
        resting=_resting_words(frontier.pauses),
    )


def _resting_words(pauses: HostPauses) -> str:
    """Return a text about the hosts that are paused, empty where none is."""
    resting = sorted(pauses.resting(), key=lambda pause: pause.left_secs)
    if not resting:
        return ""
    first = resting[0]
    reason = f"({first.reason})"
    if len(resting) == 1:
        return f"{first.name} rests {first.left_secs:.0f} s more {reason}"
    return f"{len(resting):,} hosts rest, {first.name} {first.left_secs:.0f} s more {reason}"


def plain_line(numbers: Numbers) -> str:
    """Return all numbers in one line."""
    parts = [
        f"{numbers.pages:,} pages ({numbers.pages_per_sec:.1f}/s)",
        f"{numbers.kept:,} kept",
        *(_words(verdict, count) for verdict, count in numbers.duplicates.items()),
        *(_words(verdict, count) for verdict, count in numbers.other.items()),
        f"{numbers.queued:,} queued",
        f"{decimal(numbers.saved_bytes)} saved",
    ]
    if numbers.failed:
        parts.append(f"{numbers.failed:,} failed")
    parts.append(f"{numbers.busy}/{numbers.workers} workers busy")
    parts += [words for words in (numbers.resting, numbers.fleet) if words]
    return ", ".join(parts)


def _words(verdict: str, count: int) -> str:
    noun = verdict.replace("_", " ")
    return f"{count:,} {noun}s" if verdict in DUPLICATES and count != 1 else f"{count:,} {noun}"


class PlainProgress:
    """A line at an interval, for logs."""

    def __init__(self, job: Job) -> None:
        self._job = job

    def show(self) -> None:
        """Print the line."""
        stamp = time.strftime("%Y-%m-%d %H:%M:%S")
        say(f"{stamp} {plain_line(numbers_of(self._job))}", to_stderr=True)

    def stop(self) -> None:
        """Print the line a last time."""
        self.show()


class _AbovePanel(io.TextIOBase):
    """Standard error while a panel is on it: text is printed above, line by line."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def write(self, text: str) -> int:
        """Write whole lines; they are the terminal's to wrap."""
        self._console.print(Text(text), end="", soft_wrap=True)
        return len(text)


class LiveProgress:
    """A panel that is redrawn at an interval; log lines pass above it.

    The thread that logs draws it: rich's own thread would draw between the lines of others.

    Handlers of the log were made before the panel and write to the terminal itself, where the next
    drawing would erase their lines. They get another stream while the panel is there.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._redirected: list[tuple[logging.StreamHandler[Any], Any]] = []
        self._console = Console(stderr=True)
        self._live = Live(
            get_renderable=self._panel,
            console=self._console,
            auto_refresh=False,
            transient=True,
        )

    @property
    def is_possible(self) -> bool:
        """Whether standard error is a terminal that can be drawn on."""
        return is_drawable(self._console)

    def start(self) -> None:
        """Begin to draw."""
        terminal = sys.stderr
        self._live.start()
        for handler in logging.getLogger().handlers:
            if isinstance(handler, logging.StreamHandler) and handler.stream is terminal:
                self._redirected.append((handler, terminal))
                handler.setStream(_AbovePanel(self._console))

    def show(self) -> None:
        """Draw the present numbers."""
        self._live.refresh()

    def stop(self) -> None:
        """Remove the panel; the report follows."""
        for handler, terminal in self._redirected:
            handler.setStream(terminal)
        self._redirected.clear()
        self._live.stop()

    def _panel(self) -> Panel:
        numbers = numbers_of(self._job)
        table = Table.grid(padding=(0, 2))
        for _ in range(4):
            table.add_column(justify="right")
            table.add_column()
        table.add_row(
            f"[bold]{numbers.pages:,}[/]", "pages this run",
            f"{numbers.pages_per_sec:.1f}", "pages/s",
            f"{numbers.queued:,}", "queued", f"{numbers.busy}/{numbers.workers}", "workers busy",
        )  # fmt: skip
        cells = [f"[green]{numbers.kept:,}[/]", "kept"]
        for verdict, count in (*numbers.duplicates.items(), *numbers.other.items()):
            cells += [f"{count:,}", verdict.replace("_", " ")]
        cells += [decimal(numbers.saved_bytes), "saved"]
        if numbers.failed:
            cells += [f"[red]{numbers.failed:,}[/]", "failed"]
        for start in range(0, len(cells), 8):
            table.add_row(*cells[start : start + 8])
        subtitle = "; ".join(filter(None, (numbers.resting, numbers.fleet))) or None
        title = self._job.run.title or str(self._job.folder or "crawl")
        return Panel(table, title=title, title_align="left", subtitle=subtitle, expand=False)
