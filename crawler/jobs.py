"""Which job belongs to which crawler: made once, shared by every component."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy.exceptions import NotConfigured
from scrapy.utils.reactor import _asyncio_reactor_path

from crawler.job import Job
from crawler.options import Options, check_names, check_values, job_options

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

_prepared: dict[Path, Job] = {}
_jobs: WeakKeyDictionary[Crawler, Job] = WeakKeyDictionary()


def prepare_job(settings: BaseSettings) -> Job:
    """Open the job of a crawl that is about to start, so that errors come before it.

    Raises:
        ValueError: A setting has a bad value or a misspelt name.
        JobError: The crawl directory cannot be used.
    """
    check_names(settings)
    check_values(settings)
    if not Options(settings).boolean("NEARDUP_ENABLED"):
        raise ValueError("NEARDUP_ENABLED is False: this spider does nothing without it")
    if settings["TWISTED_REACTOR"] != _asyncio_reactor_path:
        raise ValueError(f"TWISTED_REACTOR must be {_asyncio_reactor_path}")
    folder = Path(settings["JOBDIR"]).resolve()
    job = Job(folder, job_options(settings))
    _prepared[folder] = job
    return job


def job_of(crawler: Crawler) -> Job:
    """The job of a crawler, opened at the first call.

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
    if not jobdir:
        return Job(None, job_options(settings))
    folder = Path(jobdir).resolve()
    prepared = _prepared.pop(folder, None)
    return prepared if prepared is not None else Job(folder, job_options(settings))
