"""Open one job for each crawler, shared by all its components."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy.exceptions import NotConfigured
from scrapy.utils.reactor import _asyncio_reactor_path

from crawler.feeds.feed_targets import check_feeds
from crawler.fleet.membership import Membership
from crawler.job import Job
from crawler.job_options import fleet_options, job_options
from crawler.metrics_server import release, reserve
from crawler.options import Options, check_names, check_values, is_fleet, metrics_place

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawler.storage.database import Database

_prepared: dict[Path, Job] = {}
_jobs: WeakKeyDictionary[Crawler, Job] = WeakKeyDictionary()


class CrawlerComponent:
    """A component that Scrapy makes with its crawler alone."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)  # type: ignore[call-arg]  # which each component takes


def prepare_job(settings: BaseSettings) -> Job:
    """Open the job of a crawl that is about to start, so that errors come before it.

    The crawl has to claim it: until then its parameters stay as they are.

    Raises:
        ValueError: A setting has a bad value or a misspelt name, or METRICS_PORT is taken.
        JobError: The crawl directory cannot be used, or a feed cannot be written.
    """
    check_names(settings)
    check_values(settings)
    if not Options(settings).boolean("NEARDUP_ENABLED"):
        raise ValueError("NEARDUP_ENABLED is False: this spider does nothing without it")
    if settings["TWISTED_REACTOR"] != _asyncio_reactor_path:
        raise ValueError(f"TWISTED_REACTOR must be {_asyncio_reactor_path}")
    check_feeds(settings)
    folder = Path(settings["JOBDIR"]).resolve()
    place = metrics_place(Options(settings))
    if place is None:
        job = _opened(folder, settings, adopts_settings=False)
    else:
        reserve(*place)
        try:
            job = _opened(folder, settings, adopts_settings=False)
        except BaseException:
            release(*place)
            raise
        job.callbacks.at_close.append(partial(release, *place))
    _prepared[folder] = job
    return job


def job_of(crawler: Crawler) -> Job:
    """Return the job of a crawler, opened at the first call.

    Raises:
        NotConfigured: The crawl does not run on asyncio, as the workers need.
    """
    job = _jobs.get(crawler)
    if job is None:
        job = _jobs[crawler] = _open(crawler.settings)
    return job


def _open(settings: BaseSettings) -> Job:
    if settings["TWISTED_REACTOR"] != _asyncio_reactor_path:
        raise NotConfigured("near-duplicate detection needs Scrapy's asyncio reactor")
    jobdir = settings["JOBDIR"]
    folder = Path(jobdir).resolve() if jobdir else None
    prepared = None if folder is None else _prepared.pop(folder, None)
    return prepared if prepared is not None else _opened(folder, settings)


def _opened(folder: Path | None, settings: BaseSettings, *, adopts_settings: bool = True) -> Job:
    options = fleet_options(settings) if is_fleet(settings) else None

    def check(database: Database) -> None:
        if folder is not None and options is None:
            Membership(database, folder).check_alone()
        elif folder is not None and options is not None:
            Membership(database, folder).check(options.name)

    job = Job(folder, job_options(settings), adopts_settings=adopts_settings, check=check)
    try:
        if options is not None:
            from crawler.fleet.fleet import Fleet  # noqa: PLC0415  # needs Redis' client

            job.join(Fleet(job, options))
    except BaseException:
        job.close()
        raise
    return job
