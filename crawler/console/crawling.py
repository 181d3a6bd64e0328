"""Run a crawl from the command line: print first where its state is, and last a report."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawler.console.command_line import INTERRUPTED, CommandError
from crawler.console.crawl_places import crawl_place, kept_outside, refuse_mirror
from crawler.console.crawl_run import crawl_to_end, prepared_archive, problems, standing
from crawler.console.escaping import say_or_go_on
from crawler.feeds.exporters import require_pyarrow
from crawler.feeds.feed_targets import feeds_stdout
from crawler.frontier.queue import RequestQueue
from crawler.job_registry import prepare_job
from crawler.maintenance.crawl_report import make_report
from crawler.options import Options, is_fleet
from crawler.page_rendering import wanted_rendering
from crawler.pages.visits import DUE, FAILED, NO, YES
from crawler.storage.database import open_for_reading
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scrapy.crawler import CrawlerProcessBase
    from scrapy.settings import Settings

    from crawler.job import Job
    from crawler.spiders.page_spider import PageSpider
    from crawler.warc.archive import Archive

BROKEN = 1

_OF_ONE_VISIT = ("revisit", "rules", "max_pages", "max_time", "max_bytes")


def lasting_arguments(arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments that the next visits of a crawl have too, with whole paths of files."""
    lasting = {name: value for name, value in arguments.items() if name not in _OF_ONE_VISIT}
    if lasting.get("cookies"):
        lasting["cookies"] = str(Path(lasting["cookies"]).absolute())
    return lasting


class Teller(NamedTuple):
    """How errors are printed, and how lines name the arguments of a crawl.

    Attributes:
        complain: Prints an error.
        words: Turns ``-a name=value`` in a line into what the program of the user takes.
    """

    complain: Callable[[str], object]
    words: Callable[[str], str] = str


class Crawling:
    """One run of a crawl.

    Args:
        spidercls: The spider.
        arguments: Its arguments.
        settings: The settings of the profile and of the command line.
        teller: Prints what the user reads.

    Raises:
        ValueError: An argument or a setting is wrong.
        CommandError: What is wanted cannot be done.
    """

    def __init__(
        self,
        spidercls: type[PageSpider],
        arguments: dict[str, str],
        settings: Settings,
        teller: Teller,
    ) -> None:
        self._spidercls = spidercls
        self._arguments = arguments
        self._settings = settings
        self._teller = teller
        self._to_stderr = feeds_stdout(settings)
        self._why = ""
        self._others: list[str] = []
        spidercls.check_arguments(arguments)
        if arguments.get("cookies") and not settings.getbool("COOKIES_ENABLED"):
            raise CommandError("-a cookies: COOKIES_ENABLED is off, so none would be sent")
        if "render" in spidercls.arguments:
            wanted_rendering(settings, spidercls.render_choice(arguments))
        if any(feed.get("format") == "parquet" for feed in settings.getdict("FEEDS").values()):
            require_pyarrow()

    def run(self, process: Callable[[], CrawlerProcessBase]) -> int:
        """Crawl and report; return the exit status.

        Args:
            process: Makes the process of Scrapy, when everything is checked.

        Raises:
            JobError: The crawl directory cannot be used.
            FleetError: Its Redis does not answer, or has another crawl.
        """
        job = self._prepared()
        archive: Archive | None = None
        try:
            before = job.visits.plan
            scope = self._spidercls.scope_name(self._arguments)
            job.claim(self._spidercls.plan(self._arguments), scope)
            job.visits.note_arguments(lasting_arguments(self._arguments))
            taken = self._spidercls.take_rules(self._arguments, job)
            archive = prepared_archive(self._settings)
            self._retry_broken(job)
            if not self._begins(job, before):
                return 0
            if archive is not None:
                self._tell(f"recorded in: {archive.folder}")
            if taken:
                self._tell(f"URL rules taken from {self._arguments['rules']}: {taken:,}")
            if not job.is_new and self._settings.getdict("FEEDS"):
                self._tell("the feed is written at the end, with every page that is kept")
            crawl_to_end(process(), self._spidercls, self._arguments, job)
        finally:
            job.close()
            if archive is not None:
                archive.close()
        return self._conclude(job)

    def _tell(self, line: str) -> None:
        """Print a line at once, on standard error where a feed has standard output."""
        say_or_go_on(self._teller.words(line), to_stderr=self._to_stderr)

    def _prepared(self) -> Job:
        if is_fleet(self._settings):
            from crawler.console.fleet_worker import prepare_worker  # noqa: PLC0415  # needs Redis

            return prepare_worker(self._settings, self._spidercls, self._arguments)
        if not self._settings["JOBDIR"]:
            parent = Path(str(Options(self._settings).raw("CRAWL_DIRECTORY")))
            place = crawl_place(parent, self._spidercls, self._arguments)
            self._settings.set("JOBDIR", str(place.folder), priority="cmdline")
            self._why = place.why
        refuse_mirror(Path(self._settings["JOBDIR"]))
        self._spidercls.update_settings(self._settings)  # as Scrapy does with its copy
        return prepare_job(self._settings)

    def _retry_broken(self, job: Job) -> None:
        """Let what broke at every try wait again, unless another visit begins; alone only."""
        queue, revisit = job.frontier.queue, self._arguments.get("revisit", NO)
        if job.fleet is not None or not isinstance(queue, RequestQueue):
            return
        if revisit == NO or self._has_nothing_to_do(job, revisit):
            queue.retry_broken()

    def _begins(self, job: Job, before: str | None) -> bool:
        """Print what is about to happen; return whether there is anything to do."""
        if job.fleet is not None:
            from crawler.console.fleet_worker import welcome_lines  # noqa: PLC0415

            for line in welcome_lines(job, job.fleet.introduce(), self._settings):
                self._tell(line)
            return True
        revisit = self._arguments.get("revisit", NO)
        stands = standing(job, revisit, before, adds=self._spidercls.adds_when_finished)
        if job.is_finished and revisit in {NO, FAILED} and not job.visits.has_page:
            # Who starts it again, say with the server up, does not want to hear that it is over.
            self._arguments["revisit"] = revisit = YES
            stands = "no page was fetched yet, asking again"
        self._others = self._other_scopes(job)
        if self._others and before == job.visits.plan:  # else the plan before is told
            self._why = f"it holds {', '.join(self._others)} too"
        why = f"; {self._why}" if self._why else ""
        self._tell(f"crawl directory: {self._settings['JOBDIR']} ({stands}{why})")
        return not self._has_nothing_to_do(job, revisit)

    def _other_scopes(self, job: Job) -> list[str]:
        """Return the scopes of other commands that were crawled into the directory."""
        own = self._spidercls.scope_name(self._arguments)
        return [scope for scope in job.visits.scopes if scope != own] if own else []

    def _has_nothing_to_do(self, job: Job, revisit: str) -> bool:
        """Return whether the crawl is finished, and has everything that is wanted from it."""
        if not job.is_finished or revisit == YES:
            return False
        if revisit == FAILED and job.visits.known.failed():
            return False
        if revisit == DUE and job.visits.known.agenda(time.time()).due:
            return False
        # A feed is written from the store.
        return not self._spidercls.adds_when_finished and not self._settings.getdict("FEEDS")

    def _conclude(self, job: Job) -> int:
        """Print the report and what is incomplete; return the exit status."""
        from crawler.console.report_text import report_lines  # noqa: PLC0415  # when it is over
        from crawler.console.wrapping import for_terminal  # noqa: PLC0415

        folder = str(self._settings["JOBDIR"])
        assert job.folder is not None
        with closing(open_for_reading(job.folder)) as connection:
            report = make_report(connection)
            has_others = self._others and self._settings.getdict("FEEDS")
            count = kept_outside(connection, self._arguments) if has_others else 0
        if count:
            self._tell(
                f"the feed holds every kept page of {folder}, {count:,} of them outside this scope "
                f"({', '.join(self._others)}): crawl-once pages --under URL {folder} exports a part"
            )
        stream = sys.stderr if self._to_stderr else sys.stdout
        for line in for_terminal(report_lines(report, folder), stream):
            self._tell(line)
        if job.fleet is not None:
            from crawler.console.fleet_worker import farewell_lines  # noqa: PLC0415

            for line in farewell_lines(job):
                self._tell(line)
        if job.result.limit_reason is not None and job.result.shortage is None:
            self._tell(f"stopped: {job.result.limit_reason}")
        if report.queued:
            goes_on = "" if job.result.shortage else ": the same command goes on"
            self._tell(f"not finished, {report.queued:,} queued{goes_on}")
        elif to_ask := sum(report.file_links_to_ask.values()):
            left = many(to_ask, "link")
            self._tell(f"not finished, {left} still to ask for: the same command goes on")
        self._tell(f"pages: crawl-once pages {folder} -o pages.jsonl")
        is_open = bool(report.queued or report.file_links_to_ask)
        status = INTERRUPTED if is_open and _is_interrupted(job) else 0
        for problem in problems(job):
            self._teller.complain(problem)
            status = BROKEN
        return status


def _is_interrupted(job: Job) -> bool:
    """Return whether a signal ended a crawl that is alone; in a fleet others go on with it."""
    return job.fleet is None and job.result.is_interrupted
