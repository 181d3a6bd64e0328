"""Warn of settings that have no effect, since another setting decides."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy import signals
from scrapy.settings import SETTINGS_PRIORITIES

from crawler.job_registry import CrawlerComponent, job_of
from crawler.options import our_settings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

logger = logging.getLogger(__name__)

_OF_SLOTS = {"DOWNLOAD_DELAY": "delay", "CONCURRENT_REQUESTS_PER_DOMAIN": "concurrency"}
"""Map settings for every host to what DOWNLOAD_SLOTS calls them for one."""

_NEEDED = {
    "CRAWL_LEARN_ACROSS_DOMAINS": "CRAWL_LEARN_URL_RULES",
    "CRAWL_MAX_CRAWL_DELAY_SECS": "CRAWL_OBEY_CRAWL_DELAY",
    "CRAWL_MAX_PAGES_PER_CLUSTER": "CRAWL_LEARN_URL_RULES",
    "CRAWL_URL_RULE_CONFIDENCE": "CRAWL_LEARN_URL_RULES",
    "METRICS_HOST": "METRICS_PORT",
    "NEARDUP_DOCUMENT_LINKS": "NEARDUP_DOCUMENTS",
    "NEARDUP_MIN_SIMILARITY": "NEARDUP_VERIFY",
    "WARC_FOLDER": "WARC_ENABLED",
    "WARC_MAX_FILE_BYTES": "WARC_ENABLED",
    "WARC_NETWORK": "WARC_ENABLED",
    **{
        name: "FLEET_ENABLED"
        for name in our_settings()
        if name.startswith("FLEET_") and name != "FLEET_ENABLED"
    },
}
"""Map settings to the one without which they have no effect."""


class IgnoredSettings(CrawlerComponent):
    """Logs a warning for each ignored setting when a crawl begins."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        crawler.signals.connect(self._opened, signals.spider_opened)

    def _opened(self) -> None:
        seeds = job_of(self._crawler).run.seeds
        for warning in ignored_settings(self._crawler.settings, seeds):
            logger.warning(warning)


def _is_off(settings: BaseSettings, name: str) -> bool:
    if name == "METRICS_PORT":  # of which 0 is one
        return settings[name] in {None, ""}
    return not settings.getbool(name)


def ignored_settings(settings: BaseSettings, seeds: Iterable[str]) -> Iterator[str]:
    """Yield why a setting of the command line has no effect.

    Args:
        settings: The settings of a crawl.
        seeds: URLs where it starts.
    """
    given = {
        str(name)
        for name in settings
        if settings.getpriority(str(name)) == SETTINGS_PRIORITIES["cmdline"]
    }
    for name, needed in _NEEDED.items():
        if name in given and _is_off(settings, needed):
            yield f"{name} has no effect: {needed} is {settings[needed] or 'not set'}"
    if "DOWNLOAD_SLOTS" in given:
        return
    slots = settings.getdict("DOWNLOAD_SLOTS")
    for host in sorted({urlsplit(seed).hostname or "" for seed in seeds} & slots.keys()):
        for name, part in _OF_SLOTS.items():
            ours, other = settings.getfloat(name), slots[host].get(part)
            if name in given and other is not None and float(other) != ours:
                yield (
                    f"{name}={ours:g} has no effect on {host}: DOWNLOAD_SLOTS of the project gives "
                    f"it a {part} of {other}; -s 'DOWNLOAD_SLOTS={{}}' takes that away"
                )
