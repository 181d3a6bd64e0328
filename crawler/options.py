"""Read our settings; an unknown name or a bad value raises."""

from __future__ import annotations

import math
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, TypeVar

import scrapy.settings.default_settings
from scrapy.settings import SETTINGS_PRIORITIES

from crawler import default_settings
from crawler.suggestions import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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
    "METRICS_",
)

_MAX_PORT = 65_535

_NEARLY = 0.85
"""Take a setting of a project for a misspelt one of ours from this likeness on, 0 to 1.

A missing letter of ten is .95; ``CRAWL_MAX_PAGES``, which a project may have, is .71.
"""

TEXT, JSON = "text", "json"
"""The formats of log lines."""

_MIN_COUNT = {
    "CRAWL_MAX_COOKIES": 1,
    "CRAWL_MAX_HEADER_BYTES": 1024,
    "CRAWL_PAUSE_SECS": 0.01,
    "CRAWL_RENDER_BROWSER_MAX_MB": 200,
    "CRAWL_RENDER_MAX_BYTES": 1_024,
    "CRAWL_RENDER_MAX_REQUESTS": 1,
    "CRAWL_RENDER_TIMEOUT_SECS": 0.5,
    "FLEET_LEASE_SECS": 1.0,
    "FLEET_MAX_HOSTS": 1,
    "FLEET_MAX_LEASED": 1,
    "PROGRESS_INTERVAL_SECS": 0.1,
    "READING_MAX_LINKS": 1,
    "READING_MEMORY_LIMIT_MB": 256,
    "READING_TIMEOUT_SECS": 0.1,
    "WARC_MAX_FILE_BYTES": 1_024,
}
"""The least value of a number, where that is not 0."""


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
        return bounded(name, value, int(_MIN_COUNT.get(name, 0)))

    def number(self, name: str, *, at_least: float = 0.0) -> float:
        """Return a number, neither nan nor infinite."""
        value = self._read(name, "a number", lambda: float(self.raw(name)))
        if not math.isfinite(value):
            raise ValueError(f"{name} must be a finite number, got {value}")
        return bounded(name, value, max(at_least, _MIN_COUNT.get(name, 0.0)))

    def text(self, name: str) -> str:
        return str(self.raw(name)).strip()

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


def metrics_place(options: Options) -> tuple[str, int] | None:
    """Return host and port at which metrics are served; None where they are not.

    Raises:
        ValueError: The port is no port.
    """
    port = options.raw("METRICS_PORT")
    written = "" if port is None else str(port).strip()
    if not written:
        return None
    if not written.isdecimal() or int(written) > _MAX_PORT:
        raise ValueError(f"METRICS_PORT must be 0 to {_MAX_PORT} or empty, got {written!r}")
    return str(options.raw("METRICS_HOST")), int(written)


def bounded(name: str, value: N, at_least: N) -> N:
    """Return the value of a setting.

    Raises:
        ValueError: It is below its least value; the message names the setting.
    """
    if not value >= at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {value}")
    return value


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


def misspelt_names(settings: BaseSettings) -> Iterator[str]:
    """Yield words for each setting of a project that is nearly one of ours, and none itself."""
    ours = our_settings()
    known = {*ours, *vars(scrapy.settings.default_settings)}
    for name in sorted({*map(str, settings)} - known):
        if close := get_close_matches(name, ours, 1, _NEARLY):
            yield f"unknown setting {name}; did you mean {close[0]}?"


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
    if (chosen := options.text("CRAWL_LOG_FORMAT")) not in {TEXT, JSON}:
        raise ValueError(f"CRAWL_LOG_FORMAT must be {TEXT} or {JSON}, got {chosen!r}")
    metrics_place(options)
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


def is_fleet(settings: BaseSettings) -> bool:
    return Options(settings).boolean("FLEET_ENABLED")
