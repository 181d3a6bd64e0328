"""Open one job for each crawler, shared by all its components, with options from its settings."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.exceptions import NotConfigured
from scrapy.utils.reactor import _asyncio_reactor_path

from crawler.fleet.membership import Membership, checked_name
from crawler.fleet.worker_crawl import FleetOptions
from crawler.frontier.pauses import PausePolicy
from crawler.job import Job
from crawler.options import Options, bounded, check_names, check_values, is_fleet, metrics_place
from crawler.pages.live_parameters import NO_PARTS
from crawler.pages.url_history import IntervalPolicy
from crawler.reading.documents.kinds import readable_kinds
from crawler.reading.protocol import ReadingOptions
from crawler.run import JobOptions
from crawler.storage.errors import JobError
from crawler.storage.output_files import check_feeds
from crawler.url_rules.learning.hypothesis import LearningPolicy
from crawler.urls.canonical import TRIED
from neardup import Features, NearDupError, Parameters
from neardup.errors import IndexFileError, IndexLockedError

if TYPE_CHECKING:
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from crawler.storage.database import Database

_MAX_CONFIDENCE = 0.99

_prepared: dict[Path, Job] = {}
_jobs: WeakKeyDictionary[Crawler, Job] = WeakKeyDictionary()
_listeners: WeakKeyDictionary[Job, socket.socket] = WeakKeyDictionary()
_shared: WeakKeyDictionary[Crawler, dict[type, Any]] = WeakKeyDictionary()


class CrawlerComponent:
    """A component that Scrapy makes with its crawler alone."""

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)  # type: ignore[call-arg]  # which each component takes


class SharedByComponents:
    """An object of a crawler that all its components share; the first that asks makes it."""

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        made = _shared.setdefault(crawler, {})
        if cls not in made:
            made[cls] = cls(crawler)  # type: ignore[call-arg]  # which each of them takes
        found: Self = made[cls]
        return found


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
    folder = Path(settings["JOBDIR"]).resolve()
    check_feeds(settings.getdict("FEEDS"), folder)
    place = metrics_place(Options(settings))
    with ExitStack() as until_opened:
        listener = None if place is None else until_opened.enter_context(listening(*place))
        job = _opened(folder, settings, adopts_settings=False)
        job.callbacks.at_close.append(until_opened.pop_all().close)
    if listener is not None:
        _listeners[job] = listener
    _prepared[folder] = job
    return job


def job_of(crawler: Crawler) -> Job:
    """Return the job of a crawler, opened at the first call.

    Raises:
        NotConfigured: The crawl does not run on asyncio, as the workers need, or judges nothing.
    """
    job = _jobs.get(crawler)
    if job is None:
        job = _jobs[crawler] = _open(crawler.settings)
    return job


def _open(settings: BaseSettings) -> Job:
    if not Options(settings).boolean("NEARDUP_ENABLED"):
        raise NotConfigured("NEARDUP_ENABLED is False")
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

    try:
        job = Job(folder, job_options(settings), adopts_settings=adopts_settings, check=check)
    except (IndexFileError, IndexLockedError) as error:
        raise JobError(str(error)) from error
    except OSError as error:
        raise JobError(f"{error.filename or folder}: {error.strerror}") from error
    try:
        if options is not None:
            from crawler.fleet.fleet import Fleet  # noqa: PLC0415  # needs Redis' client

            job.join(Fleet(job, options))
    except BaseException:
        job.close()
        raise
    return job


def listener_of(crawler: Crawler, host: str, port: int) -> socket.socket:
    """Return the socket of a crawl's metrics, bound now unless the crawl was prepared."""
    return _listeners.get(job_of(crawler)) or listening(host, port)


def listening(host: str, port: int) -> socket.socket:
    """Return a socket that listens at a port of this machine.

    Raises:
        ValueError: The port is taken, or the host is not of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        # create_server adds the address to the words of the system.
        code = getattr(error, "errno", None)
        why = os.strerror(code) if code is not None and code > 0 else error
        raise ValueError(
            f"METRICS_PORT: cannot listen at {host_and_port(host, port)}: {why}"
        ) from None


def host_and_port(host: str, port: int) -> str:
    """Return host and port as a URL has them."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def job_options(settings: BaseSettings) -> JobOptions:
    """Return the options of a crawl.

    Raises:
        ValueError: A setting has a bad value; the message names it.
    """
    options = Options(settings)
    disabled = options.names("URLS_DISABLED_RULES")
    if is_fleet(settings):  # no worker has the pages of all, to compare two of them
        disabled = tuple({*disabled, *(rule.name for rule in TRIED)})
    parameters = _parameters(options)
    return JobOptions(
        parameters=parameters,
        disabled_url_rules=disabled,
        obey_robots_meta=options.boolean("CRAWL_OBEY_ROBOTS_META"),
        keep_versions=options.integer("PAGES_KEEP_VERSIONS"),
        keep_near_texts=options.boolean("PAGES_KEEP_NEAR_TEXTS"),
        markdown=options.boolean("NEARDUP_MARKDOWN"),
        find_walls=options.boolean("CRAWL_FIND_WALLS"),
        follow_duplicates=options.boolean("NEARDUP_FOLLOW_DUPLICATES"),
        intervals=_intervals(options),
        pauses=_pauses(options),
        learning=_learning(options),
        reading=ReadingOptions(
            workers=options.integer("READING_WORKERS"),
            timeout_secs=options.number("READING_TIMEOUT_SECS"),
            memory_limit_mb=options.integer("READING_MEMORY_LIMIT_MB"),
            max_links=options.integer("READING_MAX_LINKS"),
            max_url_length=bounded("URLLENGTH_LIMIT", settings.getint("URLLENGTH_LIMIT"), 0)
            or 65_536,
            keep_html=options.boolean("PAGES_KEEP_HTML"),
            disabled_url_rules=disabled,
            parameters=parameters,
            documents=document_kinds(options),
            document_links=options.boolean("NEARDUP_DOCUMENT_LINKS"),
        ),
    )


def document_kinds(options: Options) -> frozenset[str]:
    """Return the kinds of documents that a crawl reads."""
    return readable_kinds() if options.boolean("NEARDUP_DOCUMENTS") else frozenset()


def _learning(options: Options) -> LearningPolicy | None:
    name = "CRAWL_URL_RULE_CONFIDENCE"
    confidence = options.number(name, at_least=0.5)
    if confidence > _MAX_CONFIDENCE:
        raise ValueError(f"{name} must be at most {_MAX_CONFIDENCE}, got {confidence}")
    if not options.boolean("CRAWL_LEARN_URL_RULES"):
        return None
    budget = options.integer("CRAWL_MAX_PAGES_PER_CLUSTER")
    across_domains = options.boolean("CRAWL_LEARN_ACROSS_DOMAINS")
    return LearningPolicy(
        confidence,
        cluster_budget=budget,
        is_breadth_first=options.boolean("CRAWL_BREADTH_FIRST"),
        across_domains=across_domains,
    )


def _intervals(options: Options) -> IntervalPolicy:
    shorter = options.number("CRAWL_REVISIT_SHORTER_RATE")
    if shorter >= 1:
        raise ValueError(f"CRAWL_REVISIT_SHORTER_RATE must be below 1, got {shorter}")
    shortest = options.number("CRAWL_REVISIT_MIN_INTERVAL_SECS")
    return IntervalPolicy(
        first_secs=options.number("CRAWL_REVISIT_INTERVAL_SECS"),
        min_secs=shortest,
        max_secs=options.number("CRAWL_REVISIT_MAX_INTERVAL_SECS", at_least=shortest),
        shorter=shorter,
        longer=options.number("CRAWL_REVISIT_LONGER_RATE"),
    )


def _pauses(options: Options) -> PausePolicy:
    first_secs = options.number("CRAWL_PAUSE_SECS")
    return PausePolicy(
        first_secs=first_secs,
        max_secs=options.number("CRAWL_MAX_PAUSE_SECS", at_least=first_secs),
        budget_secs=options.number("CRAWL_RETRY_BUDGET_SECS"),
    )


def _parameters(options: Options) -> Parameters:
    try:
        return Parameters(
            features=_features(options),
            max_distance=options.integer("NEARDUP_MAX_DISTANCE"),
            min_words=options.integer("NEARDUP_MIN_WORDS"),
            verify=options.boolean("NEARDUP_VERIFY"),
            min_similarity=options.number("NEARDUP_MIN_SIMILARITY"),
            compare_names=options.boolean("NEARDUP_COMPARE_NAMES"),
            ignore_boilerplate=options.boolean("NEARDUP_IGNORE_BOILERPLATE"),
            drop_contained=options.boolean("NEARDUP_DROP_CONTAINED"),
        )
    except NearDupError as error:
        parameter, _, rest = str(error).partition(" ")
        raise ValueError(f"NEARDUP_{parameter.upper()} {rest}") from None


def _features(options: Options) -> Features | None:
    written = str(options.raw("NEARDUP_FEATURES")).strip()
    return Features.parsed(written) if written else None


def fleet_options(settings: BaseSettings) -> FleetOptions:
    """Return the options of a worker.

    Raises:
        ValueError: A setting has a bad value; the message names it.
        FleetError: The name of the fleet is not valid.
    """
    options = Options(settings)
    if options.boolean("NEARDUP_DROP_CONTAINED"):
        raise ValueError(f"NEARDUP_DROP_CONTAINED must be False: {NO_PARTS}")
    return FleetOptions(
        url=str(options.raw("FLEET_REDIS_URL")),
        name=checked_name(str(options.raw("FLEET_NAME"))),
        lease_secs=options.number("FLEET_LEASE_SECS"),
        shards=options.integer("FLEET_SHARDS"),
        max_hosts=options.integer("FLEET_MAX_HOSTS"),
        max_leased=options.integer("FLEET_MAX_LEASED"),
        delay_secs=settings.getfloat("DOWNLOAD_DELAY"),
        jitter=settings.getfloat("DOWNLOAD_DELAY_JITTER", 0.5),
    )
