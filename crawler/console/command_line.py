"""The base of our commands: a user's error is one clear line and exit status 2."""

from __future__ import annotations

import argparse
import json
import sys
from abc import ABC, abstractmethod
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from crawler.console.escaping import leave_unsaid, plain_logs, say, say_json, say_or_go_on
from crawler.console.options import CommandError, NoOptions, declare, read_options, refuse_options
from crawler.console.progress import ProgressLine
from crawler.storage.errors import is_of_disk
from crawler.suggestions import UserError
from neardup import NearDupError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from scrapy.crawler import CrawlerProcessBase
    from scrapy.settings import Settings

    from crawler.console.profile import Configuration

Value = TypeVar("Value")

_UNREADABLE = (
    ("sqlite3", "DatabaseError"),
    ("zstandard", "ZstdError"),
    ("crawler.pages.page_links", "PlacesError"),
    ("crawler.reading.content.content_xml", "ContentError"),
)
"""Errors about what is stored, by module and name: most errors should come before an import."""

BROKEN = 1
USAGE_ERROR = 2
INTERRUPTED = 130

GROUPS = {
    "crawling": ("crawl", "urls", "mirror", "watch", "replay", "demo", "fleet"),
    "crawl directory": (
        "report",
        "links",
        "pages",
        "rules",
        "verify",
        "tune",
        "rejudge",
        "merge",
    ),
    "corpora": ("corpus", "adopt"),
    "thresholds": ("lab", "sweep", "pairs", "compare"),
    "this program": ("config", "completion"),
}
"""The commands that fetch, for what a crawl left, for corpora, and to try other parameters."""


def _loaded(errors: Iterable[tuple[str, str]]) -> tuple[type[Exception], ...]:
    """Return the errors of modules that are imported: others raised none."""
    return tuple(
        getattr(sys.modules[module], name) for module, name in errors if module in sys.modules
    )


class HelpFormatter(argparse.HelpFormatter):
    """Puts the meaning of an option beside it where there is room for both."""

    def __init__(self, prog: str, **options: Any) -> None:
        super().__init__(prog, max_help_position=28, **options)


class Host(Protocol):
    """The program that runs a command: ``crawl-once``, or ``scrapy`` through its adapter.

    Attributes:
        program: Its name, which begins each message.
        configuration: What a configuration file says; nothing where the program reads none.
        settings: The settings of the profile, that file and the command line.
        crawler_process: The process that a crawl runs in.
    """

    program: str

    @property
    def configuration(self) -> Configuration: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def crawler_process(self) -> CrawlerProcessBase: ...


class Command(ABC):
    """A command of ``crawl-once``, and of ``scrapy``.

    Attributes:
        word: Its name, where its module has another one, such as ``mirror check``.
        verbs: The commands whose name begins with that of this one, by their second word.
        usage: The arguments, for the usage line.
        summary: The line for the list of commands.
        description: The text of --help, where the summary is not enough.
        uses_profile: Whether settings can be given.
        exitcode: The exit status, when the command has run.
        own_errors: Further errors whose messages say in one line what is wrong.
        options: The dataclass of its options, made of ``option`` and ``flag``.
        given: All that is given on the command line, that of profiles and of spiders too.
        progress: A line on the terminal; it must end before anything else is printed.
        after_interrupt: What holds after Ctrl-C, printed then; the exit status is 130.
        host: The program that runs the command.
    """

    word: ClassVar[str] = ""
    verbs: ClassVar[Mapping[str, type[Command]]] = {}
    usage = ""
    summary = ""
    description = ""
    uses_profile = False
    options: ClassVar[type[Any]] = NoOptions
    given: argparse.Namespace
    own_errors: tuple[type[Exception], ...] = ()
    after_interrupt = "interrupted"
    host: Host

    def __init__(self) -> None:
        self.exitcode = 0
        self.progress = ProgressLine()
        self._parser: argparse.ArgumentParser | None = None

    @property
    def known_options(self) -> list[str]:
        """The options and verbs that the program takes with this command."""
        actions = () if self._parser is None else self._parser._actions
        return [*self.verbs, *(name for action in actions for name in action.option_strings)]

    @property
    def name(self) -> str:
        return self.word or type(self).__module__.rpartition(".")[2]

    def meant(self, words: list[str]) -> tuple[Command, list[str]]:
        """Return this command, or that of the verb which comes first, and the words for it."""
        if words and words[0] in self.verbs:
            return self.verbs[words[0]](), words[1:]
        return self, words

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this command, and name the commands beside it."""
        self._parser = parser
        self.add_own_options(parser)
        if group := group_of(self.name):
            parser.epilog = f"Commands of the group {group}: {', '.join(GROUPS[group])}."
        if self.verbs:
            named = ", ".join(f"{self.name} {verb}" for verb in self.verbs)
            parser.epilog = f"Each with a --help of its own: {named}. {parser.epilog}"

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of this command alone."""
        declare(parser, self.options)

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Do the command's work, or print in one line why not; set the exit status."""
        plain_logs()
        with self.progress:
            try:
                refuse_options(args, self.known_options)
                self.given = opts
                self.act(args, read_options(self.options, opts))
                sys.stdout.flush()
            except (Exception, KeyboardInterrupt) as error:
                self.progress.end()
                self.exitcode = self.end(error)

    @abstractmethod
    def act(self, args: list[str], opts: Any) -> None:
        """Do the command's work; errors for the user are raised.

        Args:
            args: The words that are no options.
            opts: The options, of the class ``options``.
        """

    def complain(self, message: str, error: BaseException | None = None) -> int:
        """Print one line; return the exit status for it, by the error where it is one's words."""
        say_or_go_on(f"{self.host.program} {self.name}: {message}", to_stderr=True)
        return BROKEN if is_of_disk(error) else USAGE_ERROR

    def end(self, error: BaseException) -> int:
        """Say in one line why the command ends; return the exit status.

        Raises:
            BaseException: It is a mistake of ours.
        """
        is_ours = type(error).__name__ == "ProgrammingError"  # such as a closed database
        if isinstance(error, (UnicodeDecodeError, *_loaded(_UNREADABLE))) and not is_ours:
            hint = "crawl-once verify DIR says what is wrong with a crawl"
            return self.complain(f"cannot be read: {error}; {hint}", error)
        if isinstance(error, (UserError, NearDupError, *self.own_errors)):
            return self.complain(self.words(str(error)), error)
        if isinstance(error, BrokenPipeError):
            leave_unsaid(sys.stdout)  # the reader (head, a pager) has had enough; that is no error
            return self.exitcode
        if isinstance(error, OSError):
            if error.filename is None:
                leave_unsaid(sys.stdout)
                if is_of_disk(error):
                    error.filename = "standard output"
            return self.complain(words_of(error), error)
        if isinstance(error, KeyboardInterrupt):
            if sys.stderr.isatty():
                say(to_stderr=True)  # past the ^C
            if self.after_interrupt:
                self.complain(self.after_interrupt)
            return INTERRUPTED
        raise error

    def words(self, line: str) -> str:
        """Return a message in the words of this command."""
        return line

    def say_result(self, opts: Any, to_dict: Callable[[], Any], lines: Iterable[str]) -> None:
        """Print a result as one JSON object with ``--json``, as lines without."""
        self.progress.end()
        if opts.json:
            say_json(json.dumps(to_dict(), indent=2, ensure_ascii=False))
            return
        for line in lines:
            say(line)


def words_of(error: Exception) -> str:
    """Return what an error says, after the file that it names, if it does."""
    words = getattr(error, "strerror", None) or str(error) or type(error).__name__
    name = getattr(error, "filename", None)
    return words if name is None else f"{name}: {words}"


def group_of(name: str) -> str:
    """Return the group of a command; empty if it has none."""
    first = name.partition(" ")[0]
    return next((group for group, names in GROUPS.items() if first in names), "")


def one_directory(args: list[str]) -> str:
    """Return the crawl directory that is the only positional argument of a command.

    Of a mirror it is the one within it.

    Raises:
        CommandError: There is none, or more, or a URL.
        JobError: There is no crawl in it.
    """
    if len(args) != 1:
        got = "none" if not args else " ".join(args)
        raise CommandError(f"one crawl directory is needed, got {got}")
    refuse_urls(args)
    folder = crawl_folder(Path(args[0]))
    check_crawl(folder)
    return str(folder)


def check_crawl(folder: Path) -> None:
    """Check that there is a crawl in a directory.

    Raises:
        CommandError: There is no such directory; the message has one whose name is nearly the same.
        JobError: There is no crawl in it.
    """
    from crawler.storage.database import require_crawl

    if not folder.exists():
        raise CommandError(f"{folder}: no such directory{directory_hint(folder)}")
    require_crawl(folder)


def checked_file(name: str, option: str) -> str:
    """Return the name of a file that may be written; ``-`` is standard output.

    Raises:
        CommandError: There is no such directory.
        JobError: A crawl lives on the file, or it is a directory.
    """
    from crawler.storage.output_files import check_output

    if name != "-":
        if not Path(name).parent.is_dir():
            raise CommandError(f"{option} {name}: no such directory: {Path(name).parent}")
        check_output(Path(name))
    return name


def refuse_urls(words: Iterable[str]) -> None:
    """Refuse a URL where a crawl directory is needed.

    Raises:
        CommandError: One of the words is a URL.
    """
    for word in words:
        if "://" in word:
            crawl = f"crawl it first: crawl-once {word} DIR"
            raise CommandError(f"a crawl directory is needed, got {word}; {crawl}")


def refuse_format(name: str, option: str, written: str) -> None:
    """Refuse ``-:FORMAT`` where there is one format.

    Args:
        name: What the option names.
        option: The option.
        written: What is written, such as "changes are lines of JSON".

    Raises:
        CommandError: A format is named.
    """
    if name.startswith("-:"):
        raise CommandError(f"{option} {name}: {written}; {option} - prints them")


def directory_hint(folder: Path) -> str:
    """Return a hint at a crawl directory whose name is nearly that of a missing one."""
    from crawler.storage.database import FILE_NAME

    if not folder.parent.is_dir():
        return ""
    others = [path.name for path in folder.parent.iterdir() if (path / FILE_NAME).is_file()]
    close = get_close_matches(folder.name, others, 1)
    return f"; did you mean {folder.parent / close[0]}?" if close else ""


def crawl_folder(named: Path) -> Path:
    """Return the crawl directory that a user names: of a mirror, the one within it."""
    from crawler.mirror.paths import STATE_FOLDER
    from crawler.storage.database import FILE_NAME

    inner = named / STATE_FOLDER
    return inner if (inner / FILE_NAME).is_file() else named
