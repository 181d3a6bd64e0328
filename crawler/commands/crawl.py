"""``scrapy crawl``: Scrapy's own command, with arguments checked before anything starts."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands.crawl import Command as ScrapyCrawl
from scrapy.exceptions import UsageError

from crawler.console.command_line import (
    CommandError,
    HelpFormatter,
    complain,
    refuse_options,
    tidy_logs,
)
from crawler.console.escaping import say
from crawler.frontier.redis import FleetError
from crawler.options import Options, did_you_mean, is_fleet
from crawler.storage.errors import JobError
from neardup.errors import ServerError

if TYPE_CHECKING:
    import argparse

    from scrapy import Spider

    from crawler.job import Job
    from crawler.spiders.page_spider import PageSpider
    from crawler.warc.archive import Archive

INCOMPLETE = 1


class CrawlCommand(ScrapyCrawl):
    """Runs a crawl: prints first the place of its state, and last a report of its pages.

    Exit status: 0 when the crawl ran, 1 when a seed gave no page, 2 when an
    argument, a setting or the crawl directory is wrong.
    """

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.formatter_class = HelpFormatter

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Read the options; what is wrong with a feed is one line, without Scrapy's usage."""
        try:
            super().process_options(args, opts)
        except UsageError as error:
            raise SystemExit(complain(self, _feed_words(str(error), opts))) from None

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Check, crawl, report."""
        from crawler.feeds.feed_targets import check_feeds
        from crawler.spiders.page_spider import PageSpider

        try:
            name = _one_spider(args)
            spidercls = self._spider(name)
            if issubclass(spidercls, PageSpider):
                self._crawl(spidercls, args, opts)
                return
            assert self.settings is not None
            check_feeds(self.settings)
        except (CommandError, FleetError, ServerError, ValueError, JobError) as error:
            self.exitcode = complain(self, str(error))
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

    def _crawl(
        self, spidercls: type[PageSpider], args: list[str], opts: argparse.Namespace
    ) -> None:
        from crawler.console.crawl_run import prepared_archive
        from crawler.feeds.exporters import require_pyarrow
        from crawler.render_choice import wanted_rendering

        spidercls.check_arguments(opts.spargs)
        assert self.settings is not None
        if opts.spargs.get("cookies") and not self.settings.getbool("COOKIES_ENABLED"):
            raise CommandError("-a cookies: COOKIES_ENABLED is off, so that none is sent")
        if "render" in spidercls.arguments:
            wanted_rendering(self.settings, spidercls.render_choice(opts.spargs))
        if any(feed.get("format") == "parquet" for feed in self.settings.getdict("FEEDS").values()):
            require_pyarrow()
        job = self._prepared(spidercls, opts)
        archive: Archive | None = None
        try:
            before = job.visits.plan
            job.claim(spidercls.plan(opts.spargs))
            taken = spidercls.take_rules(opts.spargs, job)
            archive = prepared_archive(self.settings)
            if not self._begins(spidercls, job, before, opts):
                return
            if archive is not None:
                tell(f"recorded in: {archive.folder}", opts)
            if taken:
                tell(f"URL rules of {opts.spargs['rules']}: {taken:,}", opts)
            if not job.is_new and self.settings.getdict("FEEDS"):
                tell("the feed is written at the end, with every page that is kept", opts)
            tidy_logs()
            super().run(args, opts)
        finally:
            job.close()
            if archive is not None:
                archive.close()
        self._conclude(job, opts)

    def _prepared(self, spidercls: type[PageSpider], opts: argparse.Namespace) -> Job:
        from crawler.console.fleet_worker import prepare_worker
        from crawler.job_registry import prepare_job

        assert self.settings is not None
        if is_fleet(self.settings):
            return prepare_worker(self.settings, spidercls, opts.spargs)
        if not self.settings["JOBDIR"]:
            parent = Path(str(Options(self.settings).raw("CRAWL_DIRECTORY")))
            folder = parent / spidercls.folder_name(opts.spargs)
            self.settings.set("JOBDIR", str(folder), priority="cmdline")
        return prepare_job(self.settings)

    def _begins(
        self,
        spidercls: type[PageSpider],
        job: Job,
        before: str | None,
        opts: argparse.Namespace,
    ) -> bool:
        """Print what is about to happen; return whether there is anything to do."""
        from crawler.console.crawl_run import standing
        from crawler.console.fleet_worker import welcome_lines
        from crawler.pages.visits import NO, YES

        assert self.settings is not None
        if job.fleet is not None:
            for line in welcome_lines(job, job.fleet.introduce(), self.settings):
                tell(line, opts)
            return True
        revisit = opts.spargs.get("revisit", NO)
        stands = standing(job, revisit, before, adds=spidercls.adds_when_finished)
        if job.is_finished and revisit == NO and not job.visits.has_page:
            # Who starts it again, say with the server up, does not want to hear that it is over.
            opts.spargs["revisit"] = revisit = YES
            stands = "no page was fetched yet, asking again"
        tell(f"crawl directory: {self.settings['JOBDIR']} ({stands})", opts)
        return not self._has_nothing_to_do(spidercls, job, revisit)

    def _has_nothing_to_do(self, spidercls: type[PageSpider], job: Job, revisit: str) -> bool:
        """Return whether the crawl is finished, and has everything that is wanted from it."""
        from crawler.pages.visits import DUE, FAILED, YES

        assert self.settings is not None
        if not job.is_finished or revisit == YES:
            return False
        if revisit == FAILED and job.visits.known.failed():
            return False
        if revisit == DUE and job.visits.known.agenda(time.time()).due:
            return False
        # A feed is written from the store.
        return not spidercls.adds_when_finished and not self.settings.getdict("FEEDS")

    def _conclude(self, job: Job, opts: argparse.Namespace) -> None:
        from crawler.console.crawl_run import problems
        from crawler.console.fleet_worker import farewell_lines
        from crawler.console.report_text import report_lines
        from crawler.maintenance.crawl_report import make_report
        from crawler.storage.database import open_for_reading

        assert self.settings is not None
        folder = str(self.settings["JOBDIR"])
        assert job.folder is not None
        with closing(open_for_reading(job.folder)) as connection:
            report = make_report(connection)
        for line in report_lines(report, folder):
            tell(line, opts)
        if job.fleet is not None:
            for line in farewell_lines(job):
                tell(line, opts)
        if report.queued:
            tell(f"not finished, {report.queued:,} queued: the same command goes on", opts)
        elif to_ask := sum(report.file_links_to_ask.values()):
            tell(f"not finished, {to_ask:,} links still to ask for: the same command goes on", opts)
        tell(f"pages: scrapy pages {folder} -o pages.jsonl", opts)
        for problem in problems(job):
            complain(self, problem)
            self.exitcode = INCOMPLETE


def tell(line: str, opts: argparse.Namespace) -> None:
    """Print to standard output, or to standard error where a feed goes to the former."""
    feeds = [*(opts.output or ()), *(opts.overwrite_output or ())]
    taken = any(feed.startswith("-") for feed in feeds)
    say(line, to_stderr=taken, flush=True)


def _feed_words(message: str, opts: argparse.Namespace) -> str:
    """Say briefly which formats there are, where Scrapy prints a tuple."""
    from crawler.feeds.exporters import EXPORTERS

    if not message.startswith("Unrecognized output format"):
        return message.rstrip(".")
    for feed in [*(opts.output or ()), *(opts.overwrite_output or ())]:
        ending = Path(feed).suffix.lstrip(".")
        if ending not in EXPORTERS and feed.rpartition(":")[2] not in EXPORTERS:
            hint = did_you_mean(ending, EXPORTERS) or f"; there are {', '.join(EXPORTERS)}"
            return f"{feed}: its ending names no format{hint}"
    return message


def _one_spider(args: list[str]) -> str:
    refuse_options(args)
    if len(args) != 1:
        got = "none" if not args else " ".join(args)
        raise CommandError(f"one spider is needed, got {got}; try: scrapy crawl site -a url=URL")
    return args[0]
