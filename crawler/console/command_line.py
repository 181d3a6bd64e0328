"""The base of our commands: a user's error is one clear line and exit status 2."""

from __future__ import annotations

import logging
import os
import sys
from abc import abstractmethod
from typing import TYPE_CHECKING

from scrapy.commands import ScrapyCommand

from crawler.console.escaping import plain_logs, say
from crawler.options import did_you_mean

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

USAGE_ERROR = 2


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


class PlainCommand(ScrapyCommand):
    """A command whose errors are one line on standard error."""

    requires_crawler_process = False

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do the command's work, or print in one line why not."""
        plain_logs()
        try:
            self.act(args, opts)
            sys.stdout.flush()
        except CommandError as error:
            self.exitcode = complain(self, str(error))
        except BrokenPipeError:
            # The reader (head, a pager) has had enough; that is no error. What is
            # still buffered has nowhere to go when Python flushes it at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except OSError as error:
            self.exitcode = complain(self, f"cannot write: {error.strerror}")
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    @abstractmethod
    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do the command's work."""


def complain(command: ScrapyCommand, message: str) -> int:
    """Print one line; return the exit status for it."""
    name = type(command).__module__.rpartition(".")[2]
    say(f"scrapy {name}: {message}", to_stderr=True)
    return USAGE_ERROR


def one_directory(args: list[str]) -> str:
    """Return the only positional argument of a command.

    Raises:
        CommandError: There is none, or more.
    """
    refuse_options(args)
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
