"""The bases of the commands that run a spider: its arguments are their options."""

from __future__ import annotations

import re
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from crawler.console.command_line import Command, CommandError
from crawler.console.profile import check_profile_options
from crawler.mirror.errors import MirrorError
from crawler.spiders.argument_table import PATTERNS, check_values

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from scrapy.settings import Settings

    from crawler.spiders.argument_table import Argument
    from crawler.spiders.page_spider import PageSpider

_ARGUMENT = re.compile(r"(?<!\S)(\(?)-a ([a-z_]+)(=?)")


def as_options(line: str) -> str:
    """Return a line with ``--name value`` for each ``-a name=value``."""
    line = line.replace("give -a url=https://...", "give a URL such as https://...")
    return _ARGUMENT.sub(
        lambda found: f"{found[1]}--{found[2].replace('_', '-')}{' ' if found[3] else ''}", line
    )


class SpiderCommand(Command):
    """A command that runs a spider.

    Attributes:
        table: The arguments of the spider.
        first: The argument that is given without an option.
    """

    uses_profile = True
    table: ClassVar[Mapping[str, Argument]]
    first: ClassVar[str]
    own_errors = (MirrorError, ValueError)

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        """Add an option for each argument of the spider."""
        group = parser.add_argument_group("what is fetched")
        for name, argument in self.table.items():
            if name != self.first:
                self.add_argument_option(group, name, argument)

    def add_argument_option(
        self, group: argparse._ArgumentGroup, name: str, argument: Argument
    ) -> None:
        """Add the option of one argument of the spider."""
        option = f"--{name.replace('_', '-')}"
        if name not in PATTERNS:
            group.add_argument(option, dest=name, metavar=argument.metavar, help=argument.meaning)
            return
        group.add_argument(
            option, dest=name, metavar=argument.metavar, help=argument.meaning, action="append"
        )
        group.add_argument(
            f"{option}-from",
            metavar="FILE",
            help=f"the patterns of {option} in a file, one a line; # begins a comment",
            action="append",
        )

    def act(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check what is given before anything heavy is imported; then crawl."""
        check_profile_options(opts)
        self.exitcode = self.crawl(args, opts)

    @abstractmethod
    def crawl(self, args: list[str], opts: argparse.Namespace) -> int:
        """Do the command's work; return the exit status; errors for the user are raised."""

    def words(self, line: str) -> str:
        """Return a line with the options of this command in place of ``-a``."""
        # It was given without a name.
        return as_options(line.removeprefix(f"-a {self.first}: "))

    def arguments(self, opts: argparse.Namespace) -> dict[str, str]:
        """Return the arguments of the spider: of the configuration file, then of options.

        Raises:
            ValueError: A value is none of those that there are.
        """
        stored = self.host.configuration.arguments
        found = {name: value for name, value in stored.items() if name in self.table}
        found |= _pairs(getattr(opts, "spargs", ()))
        given = {name: getattr(opts, name, None) for name in self.table}
        given |= {name: _patterns(name, opts) for name in PATTERNS if name in self.table}
        found |= {name: value for name, value in given.items() if value is not None}
        check_values(found, self.table)
        return found


def import_scrapy() -> None:
    """Import the parts of Scrapy that search the stack and all modules when they are imported.

    They do so for each class that they deprecate, which is cheaper while both are few.
    """
    import scrapy.core.downloader.contextfactory  # noqa: F401


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


class CrawlCommand(SpiderCommand):
    """Runs a crawl.

    Exit status: 0 when the crawl ran, also up to a limit, 1 when a seed gave no page or the crawl
    could not go on, 2 when an argument, a setting or the crawl directory is wrong, 130 when a
    signal stopped it before its end.

    Attributes:
        spider: The module and the name of the spider.
        check: The name of what checks its arguments, in ``crawler.spiders.arguments``.
    """

    spider: ClassVar[tuple[str, str]]
    check: ClassVar[str]

    def add_own_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_own_options(parser)
        group = parser.add_argument_group("what is written")
        group.add_argument(
            "-o",
            "--output",
            metavar="FILE",
            action="append",
            help="write all kept pages to FILE, - for standard output; the ending gives the format "
            "(jsonl, json, csv, xml, parquet), FILE:FORMAT names it; may be repeated",
        )
        group.add_argument(
            "-O",
            "--overwrite-output",
            metavar="FILE",
            action="append",
            help="as -o, and replace a file that is there",
        )
        group.add_argument(
            "--warc", action="store_true", help="record everything in WARC files below DIR/warc"
        )
        group.add_argument(
            "--into",
            metavar="DIR",
            help="the crawl directory, as DIR; pages of other scopes in it stay",
        )
        group = parser.add_argument_group("for programs and fleets")
        group.add_argument(
            "--metrics", metavar="PORT", help="serve numbers for Prometheus on this port; 0: any"
        )
        group.add_argument(
            "--fleet",
            metavar="REDIS_URL",
            help="take part in the fleet at that Redis (docs/fleet.md)",
        )
        group.add_argument(
            "-a",
            dest="spargs",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="an argument of the spider, as scrapy crawl takes it",
        )

    def crawl(self, args: list[str], opts: argparse.Namespace) -> int:
        """Crawl into a directory, and report."""
        arguments = self.arguments(opts)
        first, folder = self.places(args, is_known=bool(arguments.get(self.first)))
        if first:
            arguments[self.first] = first
        if not arguments.get(self.first):
            raise CommandError(self.missing())
        if opts.into is not None:
            if folder is not None and folder != opts.into:
                raise CommandError(f"one directory is needed, got {folder} and --into {opts.into}")
            folder = opts.into
        from crawler.spiders import arguments as checks

        getattr(checks, self.check)(arguments, self.table)  # before Scrapy is imported
        return self._run(arguments, folder, opts)

    def places(self, args: list[str], *, is_known: bool) -> tuple[str, str | None]:
        """Return the first argument of the spider and the crawl directory.

        Args:
            args: What is no option.
            is_known: Whether a configuration file names the first argument.

        Raises:
            CommandError: There are too many.
        """
        if len(args) > 2:
            raise CommandError(f"at most one directory is needed, got {' '.join(args[1:])}")
        return (args[0] if args else ""), (args[1] if len(args) > 1 else None)

    def missing(self) -> str:
        """Return what to say where the first argument is not given."""
        metavar = self.table[self.first].metavar
        return f"{metavar} is missing; try: {self.host.program} {self.name} {metavar}"

    def _run(self, arguments: dict[str, str], folder: str | None, opts: argparse.Namespace) -> int:
        import_scrapy()
        from crawler.console.crawl_run import Teller
        from crawler.console.crawling import Crawling

        settings = self.host.settings
        _take(settings, folder, opts)
        teller = Teller(lambda line: self.complain(self.words(line)), self.words)
        crawling = Crawling(spider_class(self.spider), arguments, settings, teller)
        return crawling.run(lambda: self.host.crawler_process)


def _take(settings: Settings, folder: str | None, opts: argparse.Namespace) -> None:
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
