"""Switch all components on in any Scrapy project, with one line."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy.downloadermiddlewares.retry import RetryMiddleware
from scrapy.exceptions import NotConfigured
from scrapy.extensions.spiderstate import SpiderState
from scrapy.settings import SETTINGS_PRIORITIES
from scrapy.utils.misc import load_object
from scrapy.utils.reactor import _asyncio_reactor_path

from crawler.console.escaping import json_logs, plain_logs
from crawler.options import JSON, Options, metrics_place, misspelt_names, our_settings
from crawler.scheduling import FLEET, REPLACED

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

ADDED = (
    ("SPIDER_MIDDLEWARES", "crawler.spidermiddlewares.DuplicateLinks", 950),
    ("DOWNLOADER_MIDDLEWARES", "crawler.downloadermiddlewares.limits.ReplacedRequests", -1),
    ("DOWNLOADER_MIDDLEWARES", "crawler.scheduling.requests_again.StoredLinks", 10),
    ("DOWNLOADER_MIDDLEWARES", "crawler.downloadermiddlewares.limits.PrivateAddresses", 60),
    ("DOWNLOADER_MIDDLEWARES", "crawler.downloadermiddlewares.limits.ScopedRedirects", 65),
    ("DOWNLOADER_MIDDLEWARES", "crawler.downloadermiddlewares.limits.ReadRedirects", 620),
    (
        "DOWNLOADER_MIDDLEWARES",
        "crawler.downloadermiddlewares.conditional_requests.ConditionalRequests",
        610,
    ),
    ("ITEM_PIPELINES", "crawler.pipelines.NearDuplicatesPipeline", 900),
    ("EXTENSIONS", "crawler.extensions.job_keeping.JobKeeper", 10),
    ("EXTENSIONS", "crawler.extensions.limits.CrawlDelay", 20),
    ("EXTENSIONS", "crawler.extensions.limits.Budgets", 25),
    ("EXTENSIONS", "crawler.extensions.job_keeping.IgnoredSettings", 22),
    ("EXTENSIONS", "crawler.extensions.progress.StatusFile", 25),
    ("EXTENSIONS", "crawler.extensions.progress.Progress", 30),
)

GIVEN_UP = "crawler.downloadermiddlewares.retries.GivenUpHosts", 20
"""Added with ``RETRIES``."""

RETRIES = "crawler.downloadermiddlewares.retries.PatientRetry", 970
"""Replaces Scrapy's middleware where the scheduler is ours, nearer to the network than that.

There it gets redirects too.
"""

_MAX_THREADS = 256
"""Threads that resolve names, at most, where CONCURRENT_REQUESTS is higher or has no limit."""

PACING = ("SPIDER_MIDDLEWARES", "crawler.spidermiddlewares.PacedStart", 940)
"""Added where FLEET_ENABLED is set."""

RECORDING = ("DOWNLOADER_MIDDLEWARES", "crawler.downloadermiddlewares.warc.Recording", 990)
"""Added where WARC_ENABLED is set; warcio is imported only then."""

METRICS = ("EXTENSIONS", "crawler.extensions.metrics.Metrics", 28)
"""Added where METRICS_PORT is set, before the panel, so that the address is printed above it."""

SWITCHES = {
    "REMOTE_CONTROL_ENABLED": "scrapy.extensions.remote_control.RemoteControl",
    "TELNETCONSOLE_ENABLED": "scrapy.extensions.telnet.TelnetConsole",
}
"""Extensions of Scrapy that are left out where their setting is off.

Scrapy imports them all the same, with aiohttp and Twisted's terminals: a tenth of a second.
"""


class NearDuplicates:
    """``ADDONS = {"crawler.addon.NearDuplicates": 300}``.

    Sets our defaults, replaces fingerprinter, dupe filter, scheduler and the
    store of ``spider.state``, and adds the pipeline, middlewares and extensions.
    The project's own settings win; a component is moved or switched off like
    any other of Scrapy's (``ITEM_PIPELINES = {"crawler.pipelines.NearDuplicatesPipeline": None}``).
    """

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Prepare the process; called by Scrapy before any of its components is imported.

        Scrapy's cookies ask tldextract, which at its first use on a machine would
        download the list of public suffixes, and fill the log if it cannot; its built-in
        list will do, unless the user sets the variable. Messages of all libraries are
        logged without characters that a terminal would obey, and as JSON where that is chosen.
        """
        plain_logs()
        if Options(settings).raw("CRAWL_LOG_FORMAT") == JSON:
            json_logs()
        os.environ.setdefault("TLDEXTRACT_PUBLIC_SUFFIX_LIST_URLS", "")
        # One resolver serves the whole process, which takes it from these settings.
        settings.set(
            "TWISTED_DNS_RESOLVER", "crawler.downloader.resolver.GuardedResolver", priority="addon"
        )
        # A name holds a thread until it is resolved, and each request can be for another name.
        threads = max(
            settings.getint("REACTOR_THREADPOOL_MAXSIZE"),
            min(settings.getint("CONCURRENT_REQUESTS") or _MAX_THREADS, _MAX_THREADS),
        )
        settings.set("REACTOR_THREADPOOL_MAXSIZE", threads, priority="addon")

    def update_settings(self, settings: BaseSettings) -> None:
        """Set our settings and components; called by Scrapy before the crawl is built.

        Raises:
            NotConfigured: Switched off, or the crawl does not run on asyncio.
        """
        for words in misspelt_names(settings):
            logger.warning(words)
        for name, value in our_settings().items():
            settings.set(name, value, priority="addon")
        if not Options(settings).boolean("NEARDUP_ENABLED"):
            raise NotConfigured("NEARDUP_ENABLED is False")
        if settings["TWISTED_REACTOR"] != _asyncio_reactor_path:
            raise NotConfigured("the asyncio reactor is needed, which is Scrapy's default")
        if _is_shell(settings):
            for name in ("FLEET_ENABLED", "WARC_ENABLED", "PROGRESS_ENABLED"):
                settings.set(name, False, priority="cmdline")
            settings.set("METRICS_PORT", "", priority="cmdline")
            settings.set("JOBDIR", None, priority="cmdline")
        for switch, path in SWITCHES.items():
            if not settings.getbool(switch):
                settings["EXTENSIONS_BASE"].pop(path, None)
        is_fleet = Options(settings).boolean("FLEET_ENABLED")
        for name, path in (REPLACED | (FLEET if is_fleet else {})).items():
            settings.set(name, path, priority="addon")
        if settings["SCHEDULER"] in {REPLACED["SCHEDULER"], FLEET["SCHEDULER"]}:
            _replace_retries(settings)
        recording = (RECORDING,) if Options(settings).boolean("WARC_ENABLED") else ()
        pacing = (PACING,) if is_fleet else ()
        serving = () if metrics_place(Options(settings)) is None else (METRICS,)
        for setting, path, order in (*ADDED, *recording, *pacing, *serving):
            settings.setdefault_in_component_priority_dict(setting, load_object(path), order)
        state = load_object("crawler.extensions.job_keeping.StoredState")
        for setting in ("EXTENSIONS_BASE", "EXTENSIONS"):
            with suppress(KeyError):  # absent, or switched off
                settings.replace_in_component_priority_dict(setting, SpiderState, state)


def _replace_retries(settings: BaseSettings) -> None:
    name = "DOWNLOADER_MIDDLEWARES"
    if RetryMiddleware in map(load_object, settings.getdict(name)):
        return
    settings.setdefault_in_component_priority_dict(name, RetryMiddleware, None)
    for path, order in (GIVEN_UP, RETRIES):
        settings.setdefault_in_component_priority_dict(name, load_object(path), order)


def _is_shell(settings: BaseSettings) -> bool:
    """Return whether this is ``scrapy shell``, whose requests are no visit of a crawl.

    It is the only command with a dupe filter of its own.
    """
    return settings.getpriority("DUPEFILTER_CLASS") == SETTINGS_PRIORITIES["command"]
