"""The base of our commands: a user's error is one clear line and exit status 2."""

from __future__ import annotations

import json
import logging
import os
import sys
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from scrapy.commands import ScrapyCommand, ScrapyHelpFormatter

from crawler.console.escaping import plain_logs, say, say_json
from crawler.console.progress_line import ProgressLine
from crawler.frontier.redis import FleetError
from crawler.options import did_you_mean
from crawler.storage.errors import JobError
from neardup import NearDupError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

USAGE_ERROR = 2
INTERRUPTED = 130

GROUPS = {
    "crawl directory": ("report", "pages", "rules", "verify", "tune", "rejudge", "merge", "adopt"),
    "thresholds": ("lab", "sweep", "pairs", "compare", "label"),
}
"""The commands for what a crawl left, and those that try other parameters on it."""


class _Echo(logging.Handler):
    """Prints Scrapy's messages about Ctrl-C, whose level is not shown by default."""

    def emit(self, record: logging.LogRecord) -> None:
        if str(record.msg).startswith("Received"):
            say(f"\n{record.getMessage().strip()}", to_stderr=True, with_lines=True)


def tidy_logs() -> None:
    """Print Scrapy's messages about signals."""
    scrapys = logging.getLogger("scrapy.crawler")
    if not any(isinstance(handler, _Echo) for handler in scrapys.handlers):
        scrapys.addHandler(_Echo(logging.INFO))


class CommandError(Exception):
    """An error that the user can correct; the message says how."""


def _for_users() -> tuple[type[Exception], ...]:
    """Return the errors whose messages say in one line what is wrong and what to do."""
    from crawler.lab.pair_label import LabelError
    from crawler.lab.sources.source import SourceError

    return CommandError, FleetError, JobError, LabelError, NearDupError, SourceError


class HelpFormatter(ScrapyHelpFormatter):
    """Scrapy's, which takes each line of help that ends in a colon for a heading."""

    def _split_lines(self, text: str, width: int) -> list[str]:
        lines = super()._split_lines(text, width)
        return [f"{line} " if line.endswith(":") else line for line in lines]


class PlainCommand(ScrapyCommand):
    """A command whose errors are one line on standard error.

    Attributes:
        usage: The arguments, for the usage line.
        summary: The line for Scrapy's list of commands; the command's group is put before it.
        description: The text of --help, where the summary is not enough.
        after_interrupt: What holds after Ctrl-C, printed then; the exit status is 130.
        progress: A line on the terminal; it must end before anything else is printed.
    """

    requires_crawler_process = False
    usage = ""
    summary = ""
    description = ""
    after_interrupt = "interrupted"

    def __init__(self) -> None:
        super().__init__()
        self.progress = ProgressLine()
        self._options: list[str] = []

    def syntax(self) -> str:
        return self.usage

    def short_desc(self) -> str:
        group = _group_of(self)
        return f"[{group}] {self.summary}" if group else self.summary

    def long_desc(self) -> str:
        return self.description or self.summary

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add Scrapy's options, then those of this command; name the commands beside it."""
        super().add_options(parser)
        parser.formatter_class = HelpFormatter
        self.add_own_options(parser)
        self._options = [name for action in parser._actions for name in action.option_strings]
        if group := _group_of(self):
            parser.epilog = f"Commands of the group {group}: {', '.join(GROUPS[group])}."

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this command."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do the command's work, or print in one line why not."""
        plain_logs()
        try:
            with self.progress:
                refuse_options(args, self._options)
                self.act(args, opts)
            sys.stdout.flush()
        except _for_users() as error:
            self.exitcode = complain(self, str(error))
        except BrokenPipeError:
            _close_stdout()  # the reader (head, a pager) has had enough; that is no error
        except OSError as error:
            if error.filename is None:
                _close_stdout()
            self.exitcode = complain(self, _words_of(error))
        except KeyboardInterrupt:
            if sys.stderr.isatty():
                say(to_stderr=True)  # past the ^C
            if self.after_interrupt:
                say(f"scrapy {_name_of(self)}: {self.after_interrupt}", to_stderr=True)
            self.exitcode = INTERRUPTED

    @abstractmethod
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do the command's work; errors for the user are raised."""

    def say_notes(self, notes: Iterable[str]) -> None:
        """Print notes on standard error about data that was left out of files."""
        self.progress.end()
        for note in notes:
            say(note, to_stderr=True)

    def say_result(
        self, opts: argparse.Namespace, to_dict: Callable[[], Any], lines: Iterable[str]
    ) -> None:
        """Print a result as JSON with ``--json``, as lines without."""
        self.progress.end()
        if opts.json:
            say_json(json.dumps(to_dict(), indent=2, ensure_ascii=False))
            return
        for line in lines:
            say(line)


def _words_of(error: OSError) -> str:
    words = error.strerror or str(error) or type(error).__name__
    return words if error.filename is None else f"{error.filename}: {words}"


def _close_stdout() -> None:
    # What is still buffered has nowhere to go when Python flushes it at its end.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _name_of(command: ScrapyCommand) -> str:
    return type(command).__module__.rpartition(".")[2]


def _group_of(command: ScrapyCommand) -> str:
    return next((group for group, names in GROUPS.items() if _name_of(command) in names), "")


def complain(command: ScrapyCommand, message: str) -> int:
    """Print one line; return the exit status for it."""
    say(f"scrapy {_name_of(command)}: {message}", to_stderr=True)
    return USAGE_ERROR


def one_directory(args: list[str]) -> str:
    """Return the only positional argument of a command.

    Raises:
        CommandError: There is none, or more.
    """
    if len(args) != 1:
        got = "none" if not args else " ".join(args)
        raise CommandError(f"one crawl directory is needed, got {got}")
    return args[0]


def refuse_options(args: list[str], known: Iterable[str] = ()) -> None:
    """Refuse an argument that looks like an option and was not recognised as one.

    Args:
        args: The arguments that argparse left.
        known: Options that may have been meant.

    Raises:
        CommandError: There is such an argument.
    """
    for argument in args:
        if argument.startswith("-") and argument != "-":
            hint = did_you_mean(argument.partition("=")[0], known) or "; see --help"
            raise CommandError(f"unknown option {argument}{hint}")
