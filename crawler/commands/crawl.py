"""``crawl-once crawl``, ``urls`` and ``replay``, and the base of all commands that run a spider."""

from __future__ import annotations

import argparse
import re
from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from crawler.console.command_line import Command
from crawler.console.options import CommandError, flag, option
from crawler.console.profile import check_profile_options
from crawler.spiders.argument_table import PATTERNS, REPLAY, SITE, URLS, check_values, option_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy.settings import Settings

    from crawler.spiders.argument_table import Argument
    from crawler.spiders.page_spider import PageSpider


_YES_NO: dict[Any, str] = {True: "yes", False: "no"}
"""Values of flags as spiders take them."""

_ARGUMENT = re.compile(r"(?<!\S)(\(?)-a ([a-z_]+)(?:=(yes|no)\b)?(=?)")


def as_options(line: str) -> str:
    """Return a line with the option, such as ``--name value``, for each ``-a name=value``."""
    line = line.replace("give -a url=https://...", "give a URL such as https://...")
    return _ARGUMENT.sub(_as_option, line)


def _as_option(found: re.Match[str]) -> str:
    opened, name, value, equals = found.groups("")
    if value:
        return f"{opened}{option_words(name, value)}"
    return f"{opened}--{name.replace('_', '-')}{' ' if equals else ''}"


class SpiderCommand(Command):
    """A command that runs a spider.

    Attributes:
        table: The arguments of the spider.
        first: The argument that is given without an option.
    """

    uses_profile = True
    table: ClassVar[Mapping[str, Argument]]
    first: ClassVar[str]
    own_errors = (ValueError,)

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        """Add an option for each argument of the spider, and those of the command."""
        group = parser.add_argument_group("what is fetched")
        for name, argument in self.table.items():
            if name != self.first:
                _add_option(group, name, argument)
        super().add_own_options(parser)

    def act(self, args: list[str], opts: Any) -> None:
        check_profile_options(self.given)
        if answer := next((word for word in args if word in _YES_NO.values()), None):
            # Options of yes and no were followed by one.
            raise CommandError(f"flags take no value, got {answer}; ./{answer} is a directory")
        arguments = self.arguments()
        first, place = self.places(args, is_known=bool(arguments.get(self.first)))
        if first:
            arguments[self.first] = first
        if not arguments.get(self.first):
            raise CommandError(self.missing())
        self.check(arguments)
        # Before all other modules of a crawl, as it says.
        import crawler.console.crawl_run  # noqa: F401

        self.exitcode = self.crawl(arguments, place, opts)

    @abstractmethod
    def places(self, args: list[str], *, is_known: bool) -> tuple[str, str | None]:
        """Return the first argument of the spider, and the directory or the file.

        Args:
            args: What is no option.
            is_known: Whether a configuration file names the first argument.

        Raises:
            CommandError: One of them is needed, or there are too many.
        """

    def missing(self) -> str:
        """Return what to say where the first argument is not given."""
        metavar = self.table[self.first].metavar
        return f"{metavar} is missing; try: {self.host.program} {self.name} {metavar}"

    @abstractmethod
    def check(self, arguments: dict[str, str]) -> None:
        """Check the arguments of the spider.

        Raises:
            ValueError: One of them is wrong.
        """

    @abstractmethod
    def crawl(self, arguments: dict[str, str], place: str | None, opts: Any) -> int:
        """Run the spider; return the exit status; errors for the user are raised."""

    def words(self, line: str) -> str:
        """Return a line with the options of this command in place of ``-a``."""
        # It was given without a name.
        return as_options(line.removeprefix(f"-a {self.first}: "))

    def arguments(self) -> dict[str, str]:
        """Return the arguments of the spider: of the configuration file, then of options.

        Raises:
            ValueError: A value is none of those that there are.
        """
        stored = self.host.configuration.arguments
        found = {name: value for name, value in stored.items() if name in self.table}
        found |= _pairs(getattr(self.given, "spargs", ()))
        options = [name for name in self.table if name not in {self.first, *PATTERNS}]
        values = {name: getattr(self.given, name, None) for name in options}
        given = {name: _YES_NO.get(value, value) for name, value in values.items()}
        given |= {name: _patterns(name, self.given) for name in PATTERNS if name in self.table}
        found |= {name: value for name, value in given.items() if value is not None}
        check_values(found, self.table)
        return found


def _add_option(group: argparse._ArgumentGroup, name: str, argument: Argument) -> None:
    """Add the option of one argument of the spider."""
    option, meaning = f"--{name.replace('_', '-')}", argument.meaning
    if argument.is_flag:
        group.add_argument(option, dest=name, help=meaning, action=argparse.BooleanOptionalAction)
    elif name not in PATTERNS:
        group.add_argument(option, dest=name, metavar=argument.metavar, help=meaning)
    else:
        group.add_argument(
            option, dest=name, metavar=argument.metavar, help=meaning, action="append"
        )
        group.add_argument(
            f"{option}-from",
            metavar="FILE",
            help=f"the patterns of {option} in a file, one a line; # begins a comment",
            action="append",
        )


def _patterns(name: str, opts: argparse.Namespace) -> str | None:
    """Return the patterns of an option and of its files, one a line; None where there are none.

    Raises:
        CommandError: A file cannot be read.
    """
    lines = list(getattr(opts, name, None) or ())
    files = getattr(opts, f"{name}_from", None) or ()
    for file in files:
        try:
            written = Path(file).read_text("utf-8-sig").splitlines()
        except OSError as error:
            raise CommandError(f"--{name}-from: {file}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise CommandError(f"--{name}-from: {file} is no text in UTF-8") from None
        lines += (line for line in written if line.strip() and not line.startswith("#"))
    return "\n".join(lines) if lines or files else None


def _pairs(written: Sequence[str]) -> dict[str, str]:
    """Return the arguments of ``-a``."""
    parted = [word.partition("=") for word in written]
    if bad := [name for name, equals, _ in parted if not equals]:
        raise CommandError(f"NAME=VALUE is needed after -a, got {bad[0]}")
    return {name: value for name, _, value in parted}


def parted(
    args: Sequence[str], wanted: str, *, is_known: bool = False
) -> tuple[list[str], str | None]:
    """Return the URLs and the directory of a command line.

    Args:
        args: What is no option.
        wanted: What is needed first.
        is_known: Whether a configuration file names the URL, so that none is needed.

    Raises:
        CommandError: There are two directories, or what may be a URL has no scheme.
    """
    urls = [word for word in args if "://" in word]
    others = [word for word in args if "://" not in word]
    if not urls and others and not is_known:
        hint = scheme_hint(others[0])
        got = others[0] if hint else " ".join(others)
        raise CommandError(f"{wanted} is needed, got {got}{hint}")
    if len(others) > 1:
        raise CommandError(f"one directory or none is needed, got {' '.join(others)}")
    return urls, others[0] if others else None


def scheme_hint(word: str) -> str:
    """Return a hint for a word that is a URL but for its scheme, or an empty text."""
    host, _, port = word.partition("/")[0].partition(":")
    is_host = "." in host.strip(".") or host == "localhost"
    is_own = bool(port) and (host == "localhost" or host.startswith("127."))
    return f"; did you mean {'http' if is_own else 'https'}://{word}?" if is_host else ""


def spider_class(spider: tuple[str, str]) -> type[PageSpider]:
    """Import the class of a spider."""
    from importlib import import_module

    found: type[PageSpider] = getattr(import_module(spider[0]), spider[1])
    return found


_WRITTEN, _PROGRAMS = "what is written", "for programs and fleets"
"""Headings of groups of options."""


@dataclass(frozen=True)
class _CrawlOptions:
    """The options of a crawl, beside those of its spider."""

    output: Sequence[str] = option(
        "FILE",
        "write all kept pages to FILE, - for standard output; the ending gives the format (jsonl, "
        "json, csv, xml, parquet), FILE:FORMAT names it; may be repeated",
        (),
        names=("-o", ""),
        group=_WRITTEN,
    )
    overwrite_output: Sequence[str] = option(
        "FILE", "as -o, and replace a file that is there", (), names=("-O", ""), group=_WRITTEN
    )
    warc: bool = flag("record everything in WARC files below DIR/warc", group=_WRITTEN)
    into: str | None = option(
        "DIR", "the crawl directory, as DIR; pages of other scopes in it stay", group=_WRITTEN
    )
    metrics: str | None = option(
        "PORT", "serve numbers for Prometheus on this port; 0: any", group=_PROGRAMS
    )
    fleet: str | None = option(
        "REDIS_URL", "take part in the fleet at that Redis (docs/fleet.md)", group=_PROGRAMS
    )
    spargs: Sequence[str] = option(
        "NAME=VALUE",
        "an argument of the spider, as scrapy crawl takes it",
        (),
        names=("-a",),
        group=_PROGRAMS,
    )


class CrawlCommand(SpiderCommand):
    """Runs a crawl.

    Exit status: 0 when the crawl ran, also up to a limit, 1 when a seed gave no page or the crawl
    could not go on, 2 when an argument, a setting or the crawl directory is wrong, 130 when a
    signal stopped it before its end.

    Attributes:
        spider: The module and the name of the spider.
        check_name: The function that checks its arguments, in ``crawler.spiders.arguments``.
    """

    options = _CrawlOptions
    spider: ClassVar[tuple[str, str]]
    check_name: ClassVar[str]

    def places(self, args: list[str], *, is_known: bool) -> tuple[str, str | None]:
        """Return the first argument of the spider and the crawl directory."""
        first, folder = self.parted(args, is_known=is_known)
        into = self.given.into
        if into is not None and folder not in {None, into}:
            raise CommandError(f"one directory is needed, got {folder} and --into {into}")
        return first, into or folder

    def parted(self, args: list[str], *, is_known: bool) -> tuple[str, str | None]:
        """Return the first argument and the directory among the words that are no option.

        Raises:
            CommandError: There are too many.
        """
        if len(args) > 2:
            raise CommandError(f"at most one directory is needed, got {' '.join(args[1:])}")
        return (args[0] if args else ""), (args[1] if len(args) > 1 else None)

    def check(self, arguments: dict[str, str]) -> None:
        from crawler.spiders import arguments as checks

        getattr(checks, self.check_name)(arguments, self.table)

    def crawl(self, arguments: dict[str, str], place: str | None, opts: _CrawlOptions) -> int:
        """Crawl into a directory, and report."""
        from crawler.console.crawling import Crawling

        _take(self.host.settings, place, opts)
        return Crawling(spider_class(self.spider), arguments, self).run()


def _take(settings: Settings, folder: str | None, opts: _CrawlOptions) -> None:
    """Take options over that are settings."""
    if folder is not None:
        settings.set("JOBDIR", folder, priority="cmdline")
    if opts.metrics is not None:
        settings.set("METRICS_PORT", opts.metrics, priority="cmdline")
    if opts.warc:
        settings.set("WARC_ENABLED", True, priority="cmdline")
    if opts.fleet is not None:
        settings.set("FLEET_ENABLED", True, priority="cmdline")
        settings.set("FLEET_REDIS_URL", opts.fleet, priority="cmdline")


class CrawlSiteCommand(CrawlCommand):
    """Crawls from the URLs along the links; ``crawl`` itself may be left out."""

    usage = "[options] URL [URL ...] [DIR]"
    summary = "Crawl a site and keep each page once; the word crawl may be left out"
    description = (
        "Fetch the pages of a site and keep each of them once. State and pages go to DIR (default: "
        "crawls/HOST); crawl-once report DIR and crawl-once pages DIR read them. The same command "
        "goes on with a crawl that was stopped."
    )
    table = SITE
    first = "url"
    spider = ("crawler.spiders.site", "SiteSpider")
    check_name = "check_site"

    def parted(self, args: list[str], *, is_known: bool) -> tuple[str, str | None]:
        urls, folder = parted(args, "a URL", is_known=is_known)
        return ",".join(urls), folder

    def missing(self) -> str:
        return f"a URL is needed; try: {self.host.program} https://docs.python.org/3/"


class FetchUrlsCommand(CrawlCommand):
    """Fetches the URLs of a file or of standard input."""

    word = "urls"
    usage = "[options] FILE [DIR]"
    summary = "Fetch the URLs of a list, and keep each page once; - reads standard input"
    table = URLS
    first = "file"
    spider = ("crawler.spiders.urls", "UrlsSpider")
    check_name = "check_list"


class ReplayCommand(CrawlCommand):
    """Judges the pages of WARC and WACZ files, of HTML and of JSON lines as a crawl would."""

    word = "replay"
    usage = "[options] WARC|FOLDER|FILE.jsonl[,...] [DIR]"
    summary = "Make a crawl of WARC or WACZ files, a folder of HTML, or JSON lines"
    table = REPLAY
    first = "warc"
    spider = ("crawler.spiders.replay", "ReplaySpider")
    check_name = "check_archive"
