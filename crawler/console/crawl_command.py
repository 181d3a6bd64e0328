"""The base of ``crawl``, ``urls`` and ``replay``, whose pages go into a crawl directory."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from crawler.console.command_line import CommandError
from crawler.console.spider_command import SpiderCommand, import_scrapy, spider_class

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import Settings


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
