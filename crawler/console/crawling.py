"""Run a crawl from the command line: print first where its state is, and last a report."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawler.addon import FLEET, REPLACED
from crawler.console.command_line import BROKEN, INTERRUPTED, CommandError
from crawler.console.crawl_places import crawl_place, kept_outside, refuse_mirror
from crawler.console.crawl_run import crawl_to_end, prepared_archive, problems, standing
from crawler.console.escaping import say_or_go_on
from crawler.feeds.exporters import require_pyarrow
from crawler.feeds.feed_targets import feeds_stdout
from crawler.fleet.membership import name_of_folder
from crawler.job_registry import prepare_job
from crawler.maintenance.crawl_report import make_report
from crawler.options import Options, is_fleet
from crawler.page_rendering import wanted_rendering
from crawler.pages.visits import DUE, FAILED, NO, YES, has_page
from crawler.storage.database import open_for_reading
from crawler.storage.directory import is_in_use
from crawler.storage.errors import JobInUseError
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from scrapy.crawler import CrawlerProcessBase
    from scrapy.settings import BaseSettings, Settings

    from crawler.fleet.fleet import Welcome
    from crawler.job import Job
    from crawler.spiders.page_spider import PageSpider
    from crawler.warc.archive import Archive

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
        if job.fleet is not None or job.folder is None:
            return
        if revisit == NO or self._has_nothing_to_do(job, revisit):
            queue.retry_broken()

    def _begins(self, job: Job, before: str | None) -> bool:
        """Print what is about to happen; return whether there is anything to do."""
        if job.fleet is not None:
            for line in welcome_lines(job, job.fleet.introduce(), self._settings):
                self._tell(line)
            return True
        revisit = self._arguments.get("revisit", NO)
        stands = standing(job, revisit, before, adds=self._spidercls.adds_when_finished)
        if job.is_finished and revisit in {NO, FAILED} and not has_page(job.database.read):
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


_ALONE = {
    "CRAWL_FIND_WALLS": "walls and soft 404s are judged as pages",
    "NEARDUP_IGNORE_BOILERPLATE": "boilerplate counts as text until crawl-once merge and rejudge",
}
"""Map settings that a crawl alone obeys to what a fleet does instead."""


def prepare_worker(
    settings: BaseSettings, spidercls: type[PageSpider], arguments: Mapping[str, str]
) -> Job:
    """Open the job of a worker; without JOBDIR, in the first directory that no other one uses.

    Raises:
        CommandError: The spider, an argument or a component does not go with a fleet.
        JobError: The directory cannot be used.
        FleetError: The directory holds something else.
    """
    _check(settings, spidercls, arguments)
    name = str(settings["FLEET_NAME"] or name_of_folder(spidercls.folder_name(arguments)))
    settings.set("FLEET_NAME", name, priority="cmdline")
    if settings["JOBDIR"]:
        return prepare_job(settings)
    parent = Path(str(Options(settings).raw("CRAWL_DIRECTORY"))) / name
    for number in count(1):
        folder = parent / f"worker-{number}"
        if is_in_use(folder):
            continue
        settings.set("JOBDIR", str(folder), priority="cmdline")
        try:
            return prepare_job(settings)
        except JobInUseError:  # another one that starts just now was faster
            continue
    raise AssertionError("there is always a next number")


def _check(
    settings: BaseSettings, spidercls: type[PageSpider], arguments: Mapping[str, str]
) -> None:
    if not spidercls.fits_fleet:
        raise CommandError(f"the spider {spidercls.name} works alone; leave FLEET_ENABLED out")
    if arguments.get("revisit", NO) != NO:
        raise CommandError(
            "a fleet visits each page once; for -a revisit, crawl-once merge DIR... OUT makes one "
            "directory of those of all workers, which one crawl goes on with"
        )
    for setting in ("SCHEDULER", "DUPEFILTER_CLASS"):
        chosen = settings[setting]
        if settings.getpriority(setting) and chosen != (REPLACED | FLEET)[setting]:
            raise CommandError(f"a fleet needs its own {setting}, the project has {chosen}")
    if settings.getdict("FEEDS"):
        raise CommandError(
            "a feed has the pages of one worker only; merge the directories of all of them with "
            "crawl-once merge DIR ... OUT, then use crawl-once pages OUT -o FILE"
        )


def welcome_lines(job: Job, welcome: Welcome, settings: BaseSettings) -> Iterator[str]:
    """Yield the lines to print before a worker begins."""
    fleet = job.fleet
    assert fleet is not None
    yield f"fleet {fleet.options.name} at {fleet.where}: {_stands(welcome)}"
    yield f"worker {fleet.membership.worker}: {job.folder}"
    if welcome.is_paused:
        yield "it is paused: nothing is requested before crawl-once fleet REDIS_URL resume"
    yield from (f"warning: {warning}" for warning in welcome.warnings)
    for name, wanted in _ALONE.items():
        if settings.getpriority(name) and Options(settings).boolean(name):
            yield (
                f"warning: {name} has no effect in a fleet, where no worker has all pages of a "
                f"host: {wanted}"
            )


def _stands(welcome: Welcome) -> str:
    counts = welcome.counts
    others = many(welcome.others, "other worker")
    if not counts.seen:
        return f"new, {others}"
    queued = counts.waiting + counts.leased
    if not queued and not welcome.others:
        return "finished; of a list of URLs, what is new is fetched"
    return f"{others}, {many(counts.done, 'request')} done, {queued:,} queued"


def farewell_lines(job: Job) -> Iterator[str]:
    """Yield the lines to print after a worker has ended."""
    fleet = job.fleet
    assert fleet is not None
    if not fleet.has_left:
        yield (
            f"Redis at {fleet.where} did not answer: what this worker held waits again in "
            f"{fleet.options.lease_secs:g} s"
        )
        return
    counts = fleet.last_counts
    assert counts is not None
    yield f"fleet {fleet.options.name}: {many(fleet.pages, 'page')} by all workers"
    queued = counts.waiting + counts.leased
    if queued:
        yield f"not finished, {queued:,} queued at {fleet.where}: the same command goes on"
    yield "to make one directory of those of all workers: crawl-once merge DIR [DIR ...] OUT"
