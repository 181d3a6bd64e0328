"""Run a spider from the command line; say before and after it how the crawl stands."""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

# Before all other modules of a crawl: at its import it reads the source of each caller, of them and
# of the modules that import each other until it is reached, and looks through all loaded modules.
import scrapy.core.downloader.contextfactory  # noqa: F401

from crawler.console.command_line import INTERRUPTED
from crawler.console.escaping import say_or_go_on, tidy_logs
from crawler.job_registry import prepare_job
from crawler.options import Options
from crawler.pages.visits import DUE, FAILED, NO
from crawler.spiders.argument_table import option_words
from crawler.spiders.page_rendering import wanted_rendering
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy.crawler import Crawler, CrawlerProcessBase
    from scrapy.settings import BaseSettings

    from crawler.console.command_line import Host
    from crawler.job import Job
    from crawler.pages.url_history import Agenda
    from crawler.run import RunResult
    from crawler.spiders.page_spider import PageSpider
    from crawler.warc.archive import Archive

DONE, INCOMPLETE = 0, 1

_AFTER = "; when it is finished, the same command visits again (-a revisit={})"

_UNITS = (("day", 86_400.0), ("hour", 3_600.0), ("minute", 60.0), ("second", 1.0))

_LOGGERS = ("scrapy.core.engine", "scrapy.extensions", "scrapy.utils", "twisted", "asyncio")
"""Loggers that catch an error and go on: of a signal's receiver, of ``start``, of a task."""


class _ErrorCount(logging.Handler):
    """Counts the errors that are caught and only logged."""

    def __init__(self, result: RunResult) -> None:
        super().__init__(logging.INFO)  # Scrapy's level for some errors that end a request
        self._result = result

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[0] is not None:
            self._result.count_error()


class Caller(Protocol):
    """The command that runs a spider."""

    host: Host

    def complain(self, message: str) -> object:
        """Print an error."""

    def words(self, line: str) -> str:
        """Return a line with what the user's program takes in place of ``-a name=value``."""


class SpiderRun(ABC):
    """One run of a spider.

    Args:
        spidercls: The spider.
        arguments: Its arguments.
        caller: The command, whose host has the settings and the process of Scrapy.

    Raises:
        ValueError: An argument or a setting is wrong.
    """

    def __init__(
        self,
        spidercls: type[PageSpider],
        arguments: dict[str, str],
        caller: Caller,
    ) -> None:
        self._spidercls = spidercls
        self._arguments = arguments
        self._caller = caller
        self._settings = caller.host.settings
        self._to_stderr = False
        spidercls.check_arguments(arguments)
        if "render" in spidercls.arguments:
            wanted_rendering(self._settings, spidercls.render_choice(arguments))

    def run(self) -> int:
        """Crawl and report; return the exit status.

        Raises:
            CommandError: What is wanted cannot be done.
            JobError: The crawl directory cannot be used.
            FleetError: Its Redis does not answer, or has another crawl.
        """
        job = self._prepared()
        archive: Archive | None = None
        try:
            before = job.visits.plan
            self._claim(job)
            archive = _prepared_archive(self._settings)
            if not self._begins(job, before, archive):
                return DONE
            process = self._caller.host.crawler_process  # made when everything is checked
            crawler = crawl_to_end(process, self._spidercls, self._arguments, job)
        finally:
            job.close()
            if archive is not None:
                archive.close()
        return self._conclude(job, crawler)

    def _prepared(self) -> Job:
        return prepare_job(self._settings)

    def _claim(self, job: Job) -> None:
        scope = self._spidercls.scope_name(self._arguments)
        job.claim(self._spidercls.plan(self._arguments), scope)

    @abstractmethod
    def _begins(self, job: Job, before: str | None, archive: Archive | None) -> bool:
        """Print what is about to happen; return whether there is anything to do.

        Args:
            job: The job, claimed.
            before: The plan that the directory had until now.
            archive: What comes over the network is recorded there; None: nowhere.
        """

    @abstractmethod
    def _conclude(self, job: Job, crawler: Crawler) -> int:
        """Print what came of the crawl, which has ended; return the exit status."""

    def _tell(self, line: str) -> None:
        """Print a line at once, on standard error where a feed has standard output."""
        say_or_go_on(self._caller.words(line), to_stderr=self._to_stderr)

    def _complain(self, line: str) -> None:
        self._caller.complain(self._caller.words(line))

    def _tell_open(self, job: Job, queued: int) -> None:
        """Print why the crawl stopped, and how many requests wait."""
        if job.result.limit_reason is not None and job.result.shortage is None:
            self._tell(f"stopped: {job.result.limit_reason}")
        if queued or not job.result.has_started:
            goes_on = "" if job.result.shortage else ": the same command goes on"
            self._tell(f"not finished, {queued:,} queued{goes_on}")

    def _exit_status(self, job: Job, *, is_open: bool, is_incomplete: bool = False) -> int:
        """Print why the crawl, which has ended, is incomplete; return the exit status.

        Args:
            job: The job of the crawl.
            is_open: Whether requests wait, beside those to begin with that are not queued yet.
            is_incomplete: Whether something is missing for another reason.
        """
        found = list(problems(job))
        for problem in found:
            self._complain(problem)
        if found or is_incomplete:
            return INCOMPLETE
        # Of a fleet that one worker left, others go on.
        is_interrupted = job.fleet is None and job.result.is_interrupted
        is_open = is_open or not job.result.has_started
        return INTERRUPTED if is_open and is_interrupted else DONE


def crawl_to_end(
    scrapy: CrawlerProcessBase, spider: type[PageSpider], arguments: Mapping[str, str], job: Job
) -> Crawler:
    """Crawl in Scrapy's process, and count in the result of the job what broke without an end."""
    tidy_logs()
    crawler = scrapy.create_crawler(spider)
    count = _ErrorCount(job.result)
    for name in _LOGGERS:
        logging.getLogger(name).addHandler(count)
    try:
        scrapy.crawl(crawler, **arguments)
        scrapy.start()
    finally:
        for name in _LOGGERS:
            logging.getLogger(name).removeHandler(count)
    if scrapy.bootstrap_failed:
        job.result.count_error()
    return crawler


def standing(job: Job, revisit: str, before: str | None, *, adds: str) -> str:
    """Return a line about what is about to happen.

    Args:
        job: The job of the crawl, opened and claimed.
        revisit: The value of the argument.
        before: The plan that the directory had until now.
        adds: Message about the pages that a finished crawl adds when started again.
    """
    if job.is_new:
        return "new"
    if not job.is_finished:
        return _unfinished(job, revisit, before)
    if revisit == NO and adds:
        return f"finished; {adds}"
    if revisit == NO:
        return (
            "finished, nothing to fetch; to visit it again: the same command with -a revisit=yes, "
            "or -a revisit=due for what is due, or -a revisit=failed for what failed"
        )
    return _again(job, revisit)


def _again(job: Job, revisit: str) -> str:
    if revisit == FAILED:
        return f"visiting again what failed: {many(job.visits.known.failed(), 'URL')}"
    agenda = job.visits.known.agenda(time.time())
    if revisit == DUE:
        return f"visiting again what is due: {agenda_words(agenda, time.time())}"
    return f"visiting again to see what changed: {many(agenda.due + agenda.later, 'known URL')}"


def _unfinished(job: Job, revisit: str, before: str | None) -> str:
    queued, visits = len(job.frontier.queue), job.visits
    which = "" if visits.number == 1 else f" with visit {visits.number}"
    asks_again = visits.is_queueing or visits.has_queued
    after = "" if revisit == NO or asks_again else _AFTER.format(revisit)
    if queued or visits.is_queueing:
        return f"going on{which}: {many(queued, 'URL')} queued{after}"
    if before != visits.plan:
        return f"adding to what it holds: {_plan_words(before)}"
    return f"going on{which}{after}"


def _plan_words(plan: str | None) -> str:
    """Return a plan as it was typed: the URL or the file first, then options."""
    _, *arguments = (plan or "").split(" -a ")
    parted = [argument.partition("=") for argument in arguments]
    options = [option_words(name, value) for name, _, value in parted[1:]]
    return " ".join([*(value for _, _, value in parted[:1]), *options])


def agenda_words(agenda: Agenda, now: float) -> str:
    """Return how many URLs are due, how many are not, and when the next of those is."""
    words = f"{agenda.due:,} of {many(agenda.due + agenda.later, 'URL')}"
    if agenda.next_at is None:
        return words
    at = datetime.fromtimestamp(agenda.next_at, UTC).strftime("%Y-%m-%d %H:%M UTC")
    which = "next of the others" if agenda.due else "first"
    return f"{words}, the {which} in {duration_words(agenda.next_at - now)} ({at})"


def duration_words(secs: float) -> str:
    """Return a time in its largest unit that gives two or more: ``3 days``, ``36 hours``."""
    for unit, size in _UNITS:
        if secs >= 2 * size:
            return f"{secs / size:.0f} {unit}s"
    return "a second"


def problems(job: Job) -> Iterator[str]:
    """Yield why a crawl that has ended is incomplete, and what to do."""
    if job.failure is not None:
        yield (
            f"stopped: {job.failure}; nothing that was stored is lost, "
            "the same command goes on when that is mended"
        )
    if job.result.shortage is not None:
        yield f"stopped: {job.result.shortage}"
    if job.fleet is not None and (counts := job.fleet.last_counts) is not None:
        if counts.failed:
            yield (
                f"{many(counts.failed, 'request')} of the fleet broke at every try, see the errors "
                "of its workers; when it is finished, the same command tries again"
            )
        if counts.unreadable:
            yield (
                f"{many(counts.unreadable, 'record')} in Redis were written by another program and "
                "put aside, at the keys that end in :unreadable"
            )
    elif broken := job.result.broken_requests:
        yield (
            f"{many(broken, 'request')} broke, see the errors above; the same command tries again"
        )
    if errors := job.result.errors:
        yield f"{many(errors, 'error')} beside those of requests, see above"
    yield from job.result.missing
    for seed, reason in job.result.dead_seeds.items():
        yield f"{seed}: {reason}"


def _prepared_archive(settings: BaseSettings) -> Archive | None:
    """Open the archive of a crawl that is about to start; None where nothing is recorded.

    Raises:
        ArchiveError: It cannot be used.
    """
    if not Options(settings).boolean("WARC_ENABLED"):
        return None
    from crawler.downloadermiddlewares.warc import prepare_archive  # noqa: PLC0415

    return prepare_archive(settings)
