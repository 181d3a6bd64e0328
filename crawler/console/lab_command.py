"""The base of the commands of the lab: their progress, and their end."""

from __future__ import annotations

import sys
import time
from abc import abstractmethod
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError, PlainCommand, refuse_options
from crawler.console.escaping import redraw, say
from crawler.lab.pair_label import LabelError
from crawler.lab.sources.source import SourceError
from neardup import NearDupError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

INTERRUPTED = 130
_INTERVAL_SECS = 0.3
_WIDTH = 60


class LabCommand(PlainCommand):
    """Exit status: 0 done, 2 something is to be mended, 130 after Ctrl-C."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add Scrapy's options, then those of this command, which are remembered for hints."""
        super().add_options(parser)
        self.add_own_options(parser)
        self._options = [name for action in parser._actions for name in action.option_strings]

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do the command's work; Ctrl-C ends it in one line."""
        try:
            super().run(args, opts)
        except KeyboardInterrupt:
            name = type(self).__module__.rpartition(".")[2]
            say(f"\nscrapy {name}: interrupted", to_stderr=True, with_lines=True)
            self.exitcode = INTERRUPTED

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do the command's work, or raise an error that says why not."""
        refuse_options(args, self._options)
        with LineProgress() as watch:
            try:
                self.work(args, opts, watch)
            except (SourceError, LabelError, NearDupError, CommandError) as error:
                raise CommandError(str(error)) from None

    @abstractmethod
    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this command."""

    @abstractmethod
    def work(self, args: list[str], opts: argparse.Namespace, watch: LineProgress) -> None:
        """Do the command's work; ``watch`` is called with its progress."""


class LineProgress:
    """A line on a terminal that is overwritten; nothing elsewhere, and at first."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._said_at = time.monotonic()
        self._is_dirty = False

    def __enter__(self) -> LineProgress:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def __call__(self, share: float, what: str) -> None:
        """Show progress from 0 to 1, with a description of the current step."""
        if self._is_shown and time.monotonic() - self._said_at >= _INTERVAL_SECS:
            self._said_at, self._is_dirty = time.monotonic(), True
            redraw(f"{100 * share:3.0f} %  {what}"[:_WIDTH])

    def end(self) -> None:
        """Remove the line, so that other text can be printed."""
        if self._is_dirty:
            redraw()
            self._is_dirty = False


def say_notes(notes: Iterable[str], watch: LineProgress) -> None:
    """Print notes on standard error about data that was left out of files."""
    watch.end()
    for note in notes:
        say(note, to_stderr=True)
