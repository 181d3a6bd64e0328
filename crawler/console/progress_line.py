"""Show on standard error how far a command is, in one line."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Self, TextIO

from crawler.console.escaping import plain

if TYPE_CHECKING:
    from rich.live import Live

REDRAW_SECS = 0.5
"""Seconds between two drawings of a panel or a line."""


_DUMB = frozenset({"dumb", "unknown"})


def is_drawable(stream: TextIO | None) -> bool:
    """Return whether a stream is a terminal that can be drawn on; one that is closed is None."""
    is_terminal = stream is not None and stream.isatty()
    return is_terminal and os.environ.get("TERM", "").lower() not in _DUMB


class ProgressLine:
    """A line that is drawn over itself; nothing where standard error is no terminal, or at first.

    Args:
        what: Description of the steps.
    """

    def __init__(self, what: str = "") -> None:
        self._what = what
        self._done = self._total = 0
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
        self.show(self._done + steps, self._total)

    def show(self, done: int, total: int) -> None:
        """Show how many steps are done."""
        self._done = done
        if self._is_due():
            self._draw(f"{self._what}: {done:,} of {total:,}")

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
        from rich.live import Live
        from rich.text import Text

        if self._live is None:
            self._live = Live(
                console=Console(stderr=True),
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        text = Text(plain(line), no_wrap=True, overflow="ellipsis")
        self._live.update(text, refresh=True)
