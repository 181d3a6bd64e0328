"""``scrapy crawl SPIDER`` in our own project: Scrapy's command, with arguments checked first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError

from crawler.console.command_line import USAGE_ERROR, CommandError, refuse_options
from crawler.console.escaping import say
from crawler.console.profile import feed_words
from crawler.console.scrapy_adapter import UnderlinedHelp
from crawler.frontier.redis import FleetError
from crawler.storage.errors import JobError
from crawler.suggestions import did_you_mean
from neardup.errors import ServerError

if TYPE_CHECKING:
    import argparse

    from scrapy import Spider

    from crawler.spiders.page_spider import PageSpider


class CrawlSpiderCommand(ScrapyCrawl):
    """Runs a crawl; its arguments are those of ``-a``."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = UnderlinedHelp

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read the options; what is wrong with a feed is one line, without Scrapy's usage."""
        try:
            super().process_options(args, opts)
        except UsageError as error:
            _complain(feed_words(str(error), opts))
            raise SystemExit(USAGE_ERROR) from None

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check, crawl, report."""
        from crawler.feeds.feed_targets import check_feeds
        from crawler.spiders.page_spider import PageSpider

        assert self.settings is not None
        try:
            spidercls = self._spider(_one_spider(args))
            if issubclass(spidercls, PageSpider):
                self.exitcode = self._crawl(spidercls, opts)
                return
            check_feeds(self.settings)
        except (CommandError, FleetError, ServerError, ValueError, JobError) as error:
            _complain(str(error))
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
        from crawler.console.crawl_run import Teller
        from crawler.console.crawling import Crawling

        assert self.settings is not None
        process = self.crawler_process
        assert process is not None
        crawling = Crawling(spidercls, opts.spargs, self.settings, Teller(_complain))
        return crawling.run(lambda: process)


def _complain(message: str) -> None:
    say(f"scrapy crawl: {message}", to_stderr=True)


def _one_spider(args: list[str]) -> str:
    refuse_options(args)
    if len(args) != 1:
        got = "none" if not args else " ".join(args)
        raise CommandError(f"one spider is needed, got {got}; try: scrapy crawl site -a url=URL")
    return args[0]
