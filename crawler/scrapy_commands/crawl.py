"""``scrapy crawl SPIDER`` in our own project: Scrapy's command, with arguments checked first."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError

from crawler.console.command_line import USAGE_ERROR
from crawler.console.escaping import say
from crawler.console.options import CommandError, refuse_options
from crawler.console.profile import feed_words
from crawler.console.scrapy_adapter import ScrapyHost, UnderlinedHelp
from crawler.suggestions import UserError, did_you_mean
from neardup.errors import ServerError

if TYPE_CHECKING:
    import argparse

    from scrapy import Spider

    from crawler.console.command_line import Host
    from crawler.spiders.page_spider import PageSpider


class CrawlSpiderCommand(ScrapyCrawl):
    """Runs a crawl; its arguments are those of ``-a``."""

    def __init__(self) -> None:
        super().__init__()
        self.host: Host = ScrapyHost(self)

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = UnderlinedHelp

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read the options; what is wrong with a feed is one line, without Scrapy's usage."""
        try:
            super().process_options(args, opts)
        except UsageError as error:
            self.complain(feed_words(str(error), opts))
            raise SystemExit(USAGE_ERROR) from None

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check, crawl, report."""
        from crawler.spiders.page_spider import PageSpider
        from crawler.storage.output_files import check_feeds

        assert self.settings is not None
        try:
            spidercls = self._spider(_one_spider(args))
            if issubclass(spidercls, PageSpider):
                self.exitcode = self._crawl(spidercls, opts)
                return
            jobdir = self.settings["JOBDIR"]
            check_feeds(self.settings.getdict("FEEDS"), Path(jobdir) if jobdir else None)
        except (UserError, ServerError, ValueError) as error:
            self.complain(str(error))
            self.exitcode = USAGE_ERROR
            return
        super().run(args, opts)

    def _spider(self, name: str) -> type[Spider]:
        assert self.crawler_process is not None
        loader = self.crawler_process.spider_loader
        try:
            return loader.load(name)
        except KeyError:
            names = sorted(loader.list())
            hint = did_you_mean(name, names) or f"; there are {', '.join(names)}"
            raise CommandError(f"no spider {name!r}{hint}") from None

    def _crawl(self, spidercls: type[PageSpider], opts: argparse.Namespace) -> int:
        from crawler.console.crawling import Crawling

        return Crawling(spidercls, opts.spargs, self).run()

    def complain(self, message: str) -> None:
        """Print an error."""
        say(f"scrapy crawl: {message}", to_stderr=True)

    def words(self, line: str) -> str:
        """Return a line as it is: arguments are those of ``-a`` here."""
        return line


def _one_spider(args: list[str]) -> str:
    refuse_options(args)
    if len(args) != 1:
        got = "none" if not args else " ".join(args)
        raise CommandError(f"one spider is needed, got {got}; try: scrapy crawl site -a url=URL")
    return args[0]
