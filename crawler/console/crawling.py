"""Run a crawl from the command line: print first where its state is, and last a report."""

from __future__ import annotations

import json
import sys
import time
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from crawler.console.crawl_run import SpiderRun, standing
from crawler.console.escaping import say_or_go_on
from crawler.console.options import CommandError
from crawler.fleet.membership import name_of_folder
from crawler.job_registry import prepare_job
from crawler.maintenance.crawl_report import make_report
from crawler.mirror.paths import STATE_FOLDER
from crawler.options import Options, is_fleet
from crawler.pages.export import stored_urls
from crawler.pages.page_row import has_page
from crawler.pages.visits import DUE, FAILED, NO, YES
from crawler.scheduling import FLEET, REPLACED
from crawler.spiders.arguments import scope_of, seeds_of
from crawler.storage import meta_names
from crawler.storage.database import FILE_NAME, meta_of, open_for_reading
from crawler.storage.directory import is_in_use
from crawler.storage.errors import JobInUseError
from crawler.storage.output_files import feeds_stdout, require_pyarrow
from crawler.urls.canonical import Canonicalizer
from crawler.urls.scope import scope_folder
from crawler.urls.seeds import host_folder, split_seeds
from neardup.plurals import many

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator, Mapping

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawler.console.crawl_run import Caller
    from crawler.fleet.fleet import Welcome
    from crawler.job import Job
    from crawler.spiders.page_spider import PageSpider
    from crawler.warc.archive import Archive


class CrawlFolder(NamedTuple):
    """A directory, and why it is not the one that is named like the host; empty: it is."""

    folder: Path
    why: str = ""


def crawl_place(
    parent: Path, spidercls: type[PageSpider], arguments: Mapping[str, str]
) -> CrawlFolder:
    """Return the directory of a crawl below ``CRAWL_DIRECTORY``.

    Raises:
        JobError: The directory that is in question cannot be read.
    """
    names = spidercls.folder_name(arguments), spidercls.own_folder_name(arguments)
    scope = spidercls.scope_name(arguments)
    return (
        chosen_place(parent, names, scope, scopes_in) if scope else CrawlFolder(parent / names[0])
    )


def chosen_place(
    parent: Path, names: tuple[str, str], scope: str, scopes_of: Callable[[Path], list[str]]
) -> CrawlFolder:
    """Return the directory that holds a scope, or the one that it is to have.

    The first scope of a host has the directory of the host, each other one its own beside it, so
    that the same scope finds its directory again, whatever else was crawled or deleted meanwhile.

    Args:
        parent: The folder of all directories.
        names: The name of the host's directory, and of the scope's own.
        scope: The scope, as ``scopes_of`` names it.
        scopes_of: Returns the scopes that a directory holds; none where there is no crawl in it.
    """
    of_host, own = (parent / name for name in names)
    there = scopes_of(of_host)
    why = f"{of_host} holds {', '.join(there)}"
    if scope in scopes_of(own):
        return CrawlFolder(own, why if there else "")
    if not there or scope in there:
        return CrawlFolder(of_host)
    return CrawlFolder(own, why)


def refuse_mirror(folder: Path) -> None:
    """Refuse to crawl into the folder of a mirror, whose files are those of a site.

    Raises:
        CommandError: A mirror is in it, or it is the state of one.
    """
    inner = folder if folder.name == STATE_FOLDER else folder / STATE_FOLDER
    if (inner / FILE_NAME).is_file():
        raise CommandError(
            f"{folder}: a mirror, into which nothing is crawled; "
            f"crawl-once mirror {inner.parent} brings it up to date"
        )


def scopes_in(folder: Path) -> list[str]:
    """Return the scopes that a crawl directory holds, or the plan of a crawl without a scope.

    A directory without a page holds none.

    Raises:
        JobError: Its database cannot be read.
    """
    if not (folder / FILE_NAME).is_file():
        return []
    with closing(open_for_reading(folder)) as connection:
        if not has_page(connection.execute):
            return []  # of a misspelt URL there is nothing to keep apart
        scopes = json.loads(meta_of(connection.execute, meta_names.SCOPES) or "[]")
        plan = meta_of(connection.execute, meta_names.PLAN)
    return scopes or ([] if plan is None else [plan])


def kept_outside(connection: sqlite3.Connection, arguments: Mapping[str, str]) -> int:
    """Return the number of kept pages outside the scope of arguments.

    Complexity: O(pages).
    """
    scope = scope_of(seeds_of(arguments), dict(arguments))
    return sum(not scope.allows(url) for url in stored_urls(connection, kept_only=True))


def canonical_seed(urls: str) -> str:
    return Canonicalizer()(urls.partition(",")[0].strip())


def usual_folder(settings: BaseSettings, url: str) -> Path:
    """Return the folder of a mirror for which none is named: of its host, or its own beside it."""
    parent, seeds = Path(str(Options(settings).raw("MIRROR_DIRECTORY"))), split_seeds(url)
    names = (host_folder(seeds[0]), scope_folder(seeds, "prefix"))
    place = chosen_place(parent, names, canonical_seed(url), mirrored_urls)
    if place.why:
        say_or_go_on(f"mirror: a directory of its own, since {place.why}")
    return place.folder


def mirrored_urls(folder: Path) -> list[str]:
    """Return the URL that a folder mirrors, in a list; empty: none."""
    url = stored_in_mirror(folder, meta_names.MIRROR_URL)
    return [] if url is None else [canonical_seed(url)]


def stored_in_mirror(folder: Path, name: str) -> str | None:
    """Return a value that a mirror stored; None where there is no mirror."""
    if not (folder / STATE_FOLDER / FILE_NAME).is_file():
        return None
    with closing(open_for_reading(folder / STATE_FOLDER)) as connection:
        return meta_of(connection.execute, name)


def known_url(folder: Path) -> str:
    """Return the URL that a folder is a mirror of.

    Raises:
        CommandError: That is not known.
    """
    url = stored_in_mirror(folder, meta_names.MIRROR_URL)
    if url is None:
        raise CommandError(f"{folder}: the URL that it mirrors is not known; give it too")
    return url


_OF_ONE_VISIT = ("revisit", "rules", "max_pages", "max_time", "max_bytes")


def lasting_arguments(arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments that the next visits of a crawl have too, with whole paths of files."""
    lasting = {name: value for name, value in arguments.items() if name not in _OF_ONE_VISIT}
    if lasting.get("cookies"):
        lasting["cookies"] = str(Path(lasting["cookies"]).absolute())
    return lasting


class Crawling(SpiderRun):
    """One run of a crawl, whose pages go into a crawl directory."""

    def __init__(
        self,
        spidercls: type[PageSpider],
        arguments: dict[str, str],
        caller: Caller,
    ) -> None:
        super().__init__(spidercls, arguments, caller)
        settings = self._settings
        self._to_stderr = feeds_stdout(settings.getdict("FEEDS"))
        self._why = ""
        self._others: list[str] = []
        self._taken = 0
        if arguments.get("cookies") and not settings.getbool("COOKIES_ENABLED"):
            raise CommandError("-a cookies: COOKIES_ENABLED is off, so none would be sent")
        if any(feed.get("format") == "parquet" for feed in settings.getdict("FEEDS").values()):
            require_pyarrow()

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

    def _claim(self, job: Job) -> None:
        super()._claim(job)
        job.visits.note_arguments(lasting_arguments(self._arguments))
        self._taken = self._spidercls.take_rules(self._arguments, job)

    def _retry_broken(self, job: Job) -> None:
        """Let what broke at every try wait again, unless another visit begins; alone only."""
        queue, revisit = job.frontier.queue, self._arguments.get("revisit", NO)
        if job.fleet is not None or job.folder is None:
            return
        if revisit == NO or self._has_nothing_to_do(job, revisit):
            queue.retry_broken()

    def _begins(self, job: Job, before: str | None, archive: Archive | None) -> bool:
        self._retry_broken(job)
        if not self._has_work(job, before):
            return False
        if archive is not None:
            self._tell(f"recorded in: {archive.folder}")
        if self._taken:
            self._tell(f"URL rules taken from {self._arguments['rules']}: {self._taken:,}")
        if not job.is_new and self._settings.getdict("FEEDS"):
            self._tell("the feed is written at the end, with every page that is kept")
        return True

    def _has_work(self, job: Job, before: str | None) -> bool:
        """Print where the crawl stands; return whether there is anything to do."""
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

    def _conclude(self, job: Job, crawler: Crawler) -> int:
        from crawler.console.report_text import (  # noqa: PLC0415  # when it is over
            for_terminal,
            report_lines,
        )

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
        self._tell_open(job, report.queued)
        to_ask = sum(report.file_links_to_ask.values())
        if to_ask and not report.queued:
            left = many(to_ask, "link")
            self._tell(f"not finished, {left} still to ask for: the same command goes on")
        self._tell(f"pages: crawl-once pages {folder} -o pages.jsonl")
        return self._exit_status(job, is_open=bool(report.queued or to_ask))


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
