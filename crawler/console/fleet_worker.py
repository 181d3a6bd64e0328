"""Prepare a crawl as a worker of a fleet: its directory and its messages."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from crawler.addon import FLEET, REPLACED
from crawler.console.command_line import CommandError
from crawler.fleet.membership import name_of_folder
from crawler.job_registry import prepare_job
from crawler.options import Options
from crawler.pages.visits import NO
from crawler.storage.directory import is_in_use
from crawler.storage.errors import JobInUseError
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from scrapy.settings import BaseSettings

    from crawler.fleet.fleet import Welcome
    from crawler.job import Job
    from crawler.spiders.page_spider import PageSpider

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
