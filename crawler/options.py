"""Read our settings; an unknown name or a bad value raises."""

from __future__ import annotations

import difflib
import math
from typing import TYPE_CHECKING, Any, TypeVar

import scrapy.settings.default_settings
from scrapy.settings import SETTINGS_PRIORITIES

from crawler import default_settings
from crawler.fleet.membership import checked_name
from crawler.fleet.worker_crawl import FleetOptions
from crawler.frontier.pauses import PausePolicy
from crawler.pages.live_parameters import NO_PARTS
from crawler.pages.url_history import IntervalPolicy
from crawler.reading.documents.kinds import readable_kinds
from crawler.reading.protocol import ReadingOptions
from crawler.run import JobOptions
from crawler.url_rules.learning.hypothesis import LearningPolicy
from neardup import Features, NearDupError, Parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy.settings import BaseSettings

T = TypeVar("T")
N = TypeVar("N", int, float)

PREFIXES = (
    "NEARDUP_",
    "URLS_",
    "READING_",
    "PAGES_",
    "CRAWL_",
    "MIRROR_",
    "WARC_",
    "FLEET_",
    "PROGRESS_",
)

_MIN_COUNT = {
    "CRAWL_MAX_COOKIES": 1,
    "CRAWL_MAX_HEADER_BYTES": 1024,
    "CRAWL_PAUSE_SECS": 0.01,
    "FLEET_LEASE_SECS": 1.0,
    "FLEET_MAX_HOSTS": 1,
    "FLEET_MAX_LEASED": 1,
    "FLEET_SHARDS": 1,
    "PROGRESS_INTERVAL_SECS": 0.1,
    "READING_MAX_LINKS": 1,
    "READING_MEMORY_LIMIT_MB": 256,
    "READING_TIMEOUT_SECS": 0.1,
    "WARC_MAX_FILE_BYTES": 1_024,
}
"""The least value of a number, where that is not 0."""


_MAX_CONFIDENCE = 0.99


def our_settings() -> dict[str, Any]:
    """Return name and default of every setting of ours."""
    return {name: value for name, value in vars(default_settings).items() if name.isupper()}


class Options:
    """Typed access to our settings over Scrapy's."""

    def __init__(self, settings: BaseSettings) -> None:
        self._settings = settings

    def raw(self, name: str) -> Any:
        """Return a setting, or its default where neither add-on nor user set it."""
        defaults = our_settings()
        if name not in defaults:
            raise KeyError(f"{name} is not a setting of ours")
        return self._settings.get(name, defaults[name])

    def boolean(self, name: str) -> bool:
        return self._read(name, "True or False", lambda: self._settings.getbool(name))

    def integer(self, name: str) -> int:
        value = self._read(name, "a whole number", lambda: int(self.raw(name)))
        return _bound(name, value, int(_MIN_COUNT.get(name, 0)))

    def number(self, name: str, *, at_least: float = 0.0) -> float:
        """Return a number, neither nan nor infinite."""
        value = self._read(name, "a number", lambda: float(self.raw(name)))
        if not math.isfinite(value):
            raise ValueError(f"{name} must be a finite number, got {value}")
        return _bound(name, value, max(at_least, _MIN_COUNT.get(name, 0.0)))

    def names(self, name: str) -> tuple[str, ...]:
        """Return a list of strings; on the command line they are separated by commas."""
        value = self.raw(name)
        parts = value.split(",") if isinstance(value, str) else value
        return tuple(str(part).strip() for part in parts if str(part).strip())

    def _read(self, name: str, kind: str, read: Callable[[], T]) -> T:
        value = self.raw(name)
        if self._settings.get(name) is None:
            return value  # type: ignore[no-any-return]  # the default has the type
        try:
            return read()
        except (TypeError, ValueError):
            raise ValueError(f"{name} must be {kind}, got {value!r}") from None


def _bound(name: str, value: N, at_least: N) -> N:
    if not value >= at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {value}")
    return value


def job_options(settings: BaseSettings) -> JobOptions:
    """Return the options of a crawl.

    Raises:
        ValueError: A setting has a bad value; the message names it.
    """
    options = Options(settings)
    disabled = options.names("URLS_DISABLED_RULES")
    parameters = _parameters(options)
    return JobOptions(
        parameters=parameters,
        disabled_url_rules=disabled,
        obey_robots_meta=options.boolean("CRAWL_OBEY_ROBOTS_META"),
        keep_versions=options.integer("PAGES_KEEP_VERSIONS"),
        keep_near_texts=options.boolean("PAGES_KEEP_NEAR_TEXTS"),
        markdown=options.boolean("NEARDUP_MARKDOWN"),
        find_walls=options.boolean("CRAWL_FIND_WALLS"),
        intervals=_intervals(options),
        pauses=_pauses(options),
        learning=_learning(options),
        reading=ReadingOptions(
            workers=options.integer("READING_WORKERS"),
            timeout_secs=options.number("READING_TIMEOUT_SECS"),
            memory_limit_mb=options.integer("READING_MEMORY_LIMIT_MB"),
            max_links=options.integer("READING_MAX_LINKS"),
            max_url_length=_bound("URLLENGTH_LIMIT", settings.getint("URLLENGTH_LIMIT"), 0)
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
    return LearningPolicy(confidence, cluster_budget=budget)


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


def check_names(settings: BaseSettings) -> None:
    """Refuse unknown settings with our prefixes, and misspelt ones of the command line.

    Raises:
        ValueError: A name is misspelt; the message names the setting that was meant.
    """
    ours = our_settings()
    known = {*ours, *vars(scrapy.settings.default_settings)}
    for name in map(str, settings):
        from_user = settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"]
        hint = did_you_mean(name, known) if from_user or name.startswith(PREFIXES) else ""
        if name not in known and (hint or name.startswith(PREFIXES)):
            raise ValueError(f"unknown setting {name}{hint}")


def check_values(settings: BaseSettings) -> None:
    """Refuse values that are no number, or not yes or no, where that is wanted.

    Scrapy reports a bad value of its own settings with a traceback, after the crawl has begun;
    those from the command line are checked here.

    Raises:
        ValueError: The message names the setting.
    """
    options = Options(settings)
    readers: dict[type, Callable[[str], object]] = {
        bool: options.boolean,
        int: options.integer,
        float: options.number,
    }
    for name, default in our_settings().items():
        if type(default) in readers:
            readers[type(default)](name)
    for name, default in vars(scrapy.settings.default_settings).items():
        if settings.getpriority(name) == SETTINGS_PRIORITIES["cmdline"]:
            _check_value(settings, name, default)


def _check_value(settings: BaseSettings, name: str, default: object) -> None:
    # Scrapy's TELNETCONSOLE_ENABLED is 1, and means True.
    is_boolean = isinstance(default, bool) or name.endswith("_ENABLED")
    kind = "True or False" if is_boolean else "a number"
    try:
        if is_boolean:
            settings.getbool(name)
        elif isinstance(default, int | float) and not math.isfinite(settings.getfloat(name)):
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {kind}, got {settings.get(name)!r}") from None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint for a misspelt word, or an empty text."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def is_fleet(settings: BaseSettings) -> bool:
    return Options(settings).boolean("FLEET_ENABLED")


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
