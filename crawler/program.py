"""Run ``crawl-once``: find the command, read its options, and run it.

Nothing heavy is imported before the arguments are read, so that help and errors come at once.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
from functools import cached_property, partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from crawler.console.command_line import GROUPS, INTERRUPTED, USAGE_ERROR, Command, HelpFormatter
from crawler.console.escaping import leave_unsaid, say, say_or_go_on
from crawler.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from types import TracebackType

    from scrapy.crawler import CrawlerProcessBase
    from scrapy.settings import Settings

    from crawler.console.profile import Configuration

PROGRAM = "crawl-once"
CRAWL = "crawl"

_INTRODUCTION = f"""\
usage: {PROGRAM} URL [DIR] [options]          crawl a site, and keep each page once
       {PROGRAM} COMMAND [options] ...        see {PROGRAM} COMMAND --help"""

_EXAMPLES = f"""\
examples:
  {PROGRAM} https://docs.python.org/3/                  state and pages go to crawls/docs.python.org
  {PROGRAM} report crawls/docs.python.org               what was found
  {PROGRAM} pages crawls/docs.python.org -o pages.jsonl
  {PROGRAM} mirror https://docs.python.org/3/           a copy that opens from the disk"""


MODULES = {
    **dict.fromkeys(("urls", "replay"), "crawl"),
    **dict.fromkeys(("merge", "tune"), "rejudge"),
    **dict.fromkeys(("pairs", "lab"), "sweep"),
    "verify": "report",
    "adopt": "corpus",
    "completion": "config",
}
"""The module of a command that shares it; each other one has the module of its name."""


def end_in_one_line(program: str) -> None:
    """Have a program end in one line at Ctrl-C; another error prints its traceback."""

    def end(
        kind: type[BaseException], error: BaseException, traceback: TracebackType | None
    ) -> None:
        if not issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, traceback)
            return
        sys.stderr.write(f"{program}: interrupted\n")
        sys.exit(INTERRUPTED)

    sys.excepthook = end


class CrawlOnce:
    """The program as commands see it.

    Args:
        opts: The options of the command, of which some are settings.
    """

    program = PROGRAM

    def __init__(self, opts: argparse.Namespace) -> None:
        self._opts = opts

    @cached_property
    def configuration(self) -> Configuration:
        """Contents of the configuration file.

        Raises:
            CommandError: It cannot be read, or names an option that there is not.
        """
        from crawler.console.profile import read_configuration

        return read_configuration(self._opts.config)

    @cached_property
    def settings(self) -> Settings:
        """The settings of the profile, the configuration file and the command line.

        Raises:
            CommandError: One of them is wrong.
        """
        from crawler.console.profile import profile_settings

        return profile_settings(self._opts, self.configuration)

    @cached_property
    def crawler_process(self) -> CrawlerProcessBase:
        """The process of Scrapy, on asyncio."""
        from scrapy.crawler import AsyncCrawlerProcess

        # Each command names its spider: Scrapy would import all of them to find one by its name.
        loader = "scrapy.spiderloader.DummySpiderLoader"
        self.settings.set("SPIDER_LOADER_CLASS", loader, priority="cmdline")
        return AsyncCrawlerProcess(self.settings)


def command_names() -> list[str]:
    """Return the names of all commands, in the order of the alphabet."""
    return sorted(name for names in GROUPS.values() for name in names)


def load_command(name: str) -> Command:
    """Import a command."""
    module = import_module(f"crawler.commands.{MODULES.get(name, name)}")
    for found in vars(module).values():
        is_command = isinstance(found, type) and issubclass(found, Command)
        if is_command and found.__module__ == module.__name__ and found.summary:  # else a base
            command: Command = found()
            if command.name == name:
                return command
    raise LookupError(f"{module.__name__} defines no command {name}")


class _Parser(argparse.ArgumentParser):
    """Takes ``-:csv``, standard output in a format, as the value of an option, as Scrapy does."""

    def _parse_optional(self, arg_string: str) -> Any:
        return None if arg_string.startswith("-:") else super()._parse_optional(arg_string)

    def print_help(self, file: Any = None) -> None:
        """Print the help, or nothing any more where a pager has had enough."""
        super().print_help(file)
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            leave_unsaid(sys.stdout)

    def error(self, message: str) -> NoReturn:
        """Say in one line what is wrong, as commands do, without all options."""
        self.exit(USAGE_ERROR, f"{self.prog}: {message.removeprefix('argument ')}; see --help\n")


def make_parser(command: Command) -> argparse.ArgumentParser:
    """Return the parser of a command's options."""
    parser = _Parser(
        prog=f"{PROGRAM} {command.name}",
        usage=f"{PROGRAM} {command.name} {command.usage}",
        description=command.description or f"{command.summary}.",
        formatter_class=HelpFormatter,
        allow_abbrev=False,
    )
    fill_parser(parser, command)
    return parser


def fill_parser(parser: argparse.ArgumentParser, command: Command) -> None:
    """Add the options of a command to a parser."""
    command.add_options(parser)
    if command.uses_profile:
        from crawler.console.profile import add_profile_options

        parser.set_defaults(spargs=[], output=None, overwrite_output=None)
        add_profile_options(parser)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; return its exit status."""
    gc.set_threshold(50_000)  # not 700: imports make 190,000 objects, and nearly all of them stay
    end_in_one_line(PROGRAM)
    if "_ARGCOMPLETE" in os.environ:
        _complete()
    words = list(sys.argv[1:] if argv is None else argv)
    if not words or words[0] in {"-h", "--help", "help"}:
        return _help(words[1:])
    if words == ["--version"]:
        say(f"{PROGRAM} {version(PROGRAM)}")
        return 0
    name, rest = _command_of(words)
    if not name:
        return USAGE_ERROR
    return _run(load_command(name), rest)


def _run(command: Command, words: list[str]) -> int:
    command, words = command.meant(words)
    parser = make_parser(command)
    opts, args = parser.parse_known_args(words)
    command.host = CrawlOnce(opts)
    command.run(args, opts)
    return command.exitcode


def _command_of(words: list[str]) -> tuple[str, list[str]]:
    """Return the command that is meant and its words; an empty name after an error is told."""
    names = command_names()
    if words[0] in names:
        return words[0], words[1:]
    # A misspelt command before a URL is no directory to crawl into.
    if "://" in words[0] or words[0].startswith("-"):
        return CRAWL, words
    _complain_of(words[0], names)
    return "", []


def _complain_of(word: str, names: list[str]) -> None:
    from crawler.commands.crawl import scheme_hint

    if Path(word).exists():
        hint = f"; a directory follows a command: {PROGRAM} report {word}"
    else:
        hint = did_you_mean(word, names) or scheme_hint(word) or f"; see {PROGRAM} --help"
    say(f"{PROGRAM}: no command {word!r}{hint}", to_stderr=True)


def _complete() -> None:
    """Answer a shell that asks how a command line may go on, and end."""
    import argcomplete

    parser = argparse.ArgumentParser(prog=PROGRAM)
    commands = parser.add_subparsers()
    typed = os.environ.get("COMP_LINE", "").split()
    for name in command_names():
        command = load_command(name)
        one = commands.add_parser(name, help=command.summary)
        if name in typed:
            command, _ = command.meant(typed[typed.index(name) + 1 :])
            fill_parser(one, command)
            paths = one.add_argument("paths", nargs="*")
            paths.completer = partial(_words_of, command.verbs)  # type: ignore[attr-defined]
    argcomplete.autocomplete(parser)


def _words_of(verbs: Iterable[str], prefix: str, **_: Any) -> list[str]:
    """Return the verbs and the paths that begin with a prefix."""
    from argcomplete.completers import FilesCompleter

    return [*(verb for verb in verbs if verb.startswith(prefix)), *FilesCompleter()(prefix)]


def _help(words: list[str]) -> int:
    """Print the list of commands, or the help of one."""
    if words and words[0] in command_names():
        command, _ = load_command(words[0]).meant(words[1:])
        make_parser(command).print_help()
        return 0
    lines = [_INTRODUCTION]
    for group, names in GROUPS.items():
        lines += ["", f"{group}:"]
        lines += (f"  {name:<11} {load_command(name).summary}" for name in names)
    say_or_go_on("\n".join([*lines, "", _EXAMPLES]), with_lines=True)
    return 0
