"""Make the settings of a run of ``crawl-once``: profile, configuration file, command line."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.console.escaping import say
from crawler.console.options import CommandError, declare, flag, option
from crawler.spiders.argument_table import MIRROR, REPLAY, SITE, URLS
from crawler.suggestions import did_you_mean

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from scrapy.settings import Settings

FILE_NAME = "crawl-once.toml"
PROFILE = "crawler.settings.crawl"

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

SETTINGS = "settings"
"""The table of the configuration file that holds settings."""

_ARGUMENTS = {**SITE, **URLS, **REPLAY, **MIRROR}

_OF_CRAWLS = ("crawl.db", ".mirror")
"""Names in a folder by which it is a crawl directory."""

_HARMLESS_ARGUMENTS = frozenset({
    "scope", "max_pages", "max_time", "max_bytes", "max_rate", "hours", "max_depth", "allow",
    "deny", "include", "exclude", "sitemaps", "links", "revisit", "render", "screenshots",
    "requisites", "accept", "reject", "text", "search", "keep_versions",
})  # fmt: skip
_HARMLESS_SETTINGS = (
    "AUTOTHROTTLE_", "CLOSESPIDER_", "CONCURRENT_REQUESTS", "DEPTH_LIMIT", "DOWNLOAD_DELAY",
    "DOWNLOAD_MAXSIZE", "DOWNLOAD_TIMEOUT", "RANDOMIZE_DOWNLOAD_DELAY", "RETRY_TIMES",
    "CRAWL_BREADTH_FIRST", "CRAWL_FIND_WALLS", "CRAWL_LEARN_", "CRAWL_MAX_", "CRAWL_MIN_FREE_BYTES",
    "CRAWL_PAUSE_SECS", "CRAWL_RENDER_MAX_", "CRAWL_RENDER_TIMEOUT_SECS", "CRAWL_RETRY_BUDGET_SECS",
    "CRAWL_REVISIT_", "CRAWL_SKIPPED_EXTENSIONS", "CRAWL_URL_RULE_", "NEARDUP_", "PAGES_KEEP_",
    "READING_", "URLS_DISABLED_RULES",
)  # fmt: skip
"""Beginnings of the settings that a file in a crawl directory may hold.

They are delays, limits, scope and thresholds. Such a file may be a stranger's: no program, path or
class is taken from it, nor what a crawl may reach or must obey.
"""


class Configuration(NamedTuple):
    """Contents of a configuration file.

    Attributes:
        path: The file; None where there is none.
        arguments: Arguments of spiders, as ``-a`` would give them.
        settings: Settings of the project and of Scrapy.
    """

    path: Path | None
    arguments: Mapping[str, str]
    settings: Mapping[str, Any]


NO_CONFIGURATION = Configuration(None, {}, {})


_GROUP = "settings and logs"


@dataclass(frozen=True)
class _ProfileOptions:
    """Declares the options of profiles; argparse holds what is said by them."""

    config: str | None = option(
        "FILE", f"options and settings (default: {FILE_NAME}, if it is here)", group=_GROUP
    )
    set: Sequence[str] = option(
        "NAME=VALUE",
        "a setting of the project or of Scrapy; may be repeated",
        (),
        names=("-s", ""),
        group=_GROUP,
    )
    loglevel: str | None = option(
        "LEVEL",
        f"log level: {', '.join(LEVELS)} (default: WARNING)",
        names=("-L", ""),
        group=_GROUP,
    )
    logfile: str | None = option("FILE", "log there and not on standard error", group=_GROUP)
    nolog: bool = flag("log nothing", group=_GROUP)
    pidfile: str | None = option("FILE", "write the id of the process there", group=_GROUP)
    pdb: bool = flag("open the debugger where an error is logged", group=_GROUP)


def add_profile_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that all commands have which read the profile."""
    declare(parser, _ProfileOptions)
    parser.set_defaults(set=[])


def check_profile_options(opts: argparse.Namespace) -> None:
    """Refuse a log level that there is not, and write the others as Scrapy does.

    Raises:
        CommandError: The message names those that there are.
    """
    level = getattr(opts, "loglevel", None)
    if level is None:
        return
    if level.upper() not in LEVELS:
        hint = did_you_mean(level.upper(), LEVELS) or f"; there are {', '.join(LEVELS)}"
        raise CommandError(f"--loglevel {level}: no such level{hint}")
    opts.loglevel = level.upper()


def read_configuration(named: str | None) -> Configuration:
    """Read the configuration file that is named, or the one in the working folder.

    Raises:
        CommandError: It cannot be read, or names an option that there is not.
    """
    path = Path(named) if named is not None else Path(FILE_NAME)
    if named is None and not path.is_file():
        return NO_CONFIGURATION
    try:
        with path.open("rb") as file:
            tables = tomllib.load(file)
    except OSError as error:
        raise CommandError(f"--config {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise CommandError(f"{path}: not TOML: {error}") from None
    settings = tables.pop(SETTINGS, {})
    if not isinstance(settings, dict):
        raise CommandError(f"{path}: {SETTINGS} must be a table, [{SETTINGS}]")
    if any((path.parent / name).exists() for name in _OF_CRAWLS):
        tables, settings = _harmless(path, tables, settings)
    arguments = {name.replace("-", "_"): value for name, value in tables.items()}
    for name in arguments:
        if name not in _ARGUMENTS:
            hint = (
                did_you_mean(name, [*_ARGUMENTS, SETTINGS])
                or f"; settings belong into [{SETTINGS}]"
            )
            raise CommandError(f"{path}: unknown option {name}{hint}")
    return Configuration(
        path, {name: _written(path, name, value) for name, value in arguments.items()}, settings
    )


def _harmless(
    path: Path, arguments: Mapping[str, Any], settings: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what counts of a file in a crawl directory, and say what does not."""
    harmful = {*_ARGUMENTS} - _HARMLESS_ARGUMENTS  # what is no argument is an error
    kept = {name: arguments[name] for name in arguments if name.replace("-", "_") not in harmful}
    chosen = {name: settings[name] for name in settings if name.startswith(_HARMLESS_SETTINGS)}
    ignored = sorted({*arguments, *settings} - {*kept, *chosen})
    if ignored:
        say(
            f"{path}: ignored, since the file is in a crawl directory: {', '.join(ignored)}; give "
            "them on the command line, or in a file elsewhere that --config names",
            to_stderr=True,
        )
    return kept, chosen


def _written(path: Path, name: str, value: object) -> str:
    """Return a value of the file as the command line would have it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | str):
        return str(value)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return ",".join(value)
    raise CommandError(
        f"{path}: {name} must be a text, a whole number or a list of texts, got {value!r}"
    )


def profile_settings(opts: argparse.Namespace, configuration: Configuration) -> Settings:
    """Return the settings of the profile, changed by the configuration file and by options.

    Raises:
        CommandError: An option is wrong.
    """
    from scrapy.commands.crawl import Command
    from scrapy.exceptions import UsageError
    from scrapy.settings import Settings

    check_profile_options(opts)
    settings = Settings()
    settings.setmodule(PROFILE, priority="project")
    named = getattr(opts, "overwrite_output", None) or []
    settings.setdict(_with_careful_feeds(configuration.settings, named), priority="cmdline")
    reader = Command()
    reader.settings = settings
    try:
        reader.process_options([], opts)
    except UsageError as error:
        raise CommandError(feed_words(str(error), opts)) from None
    return settings


def _with_careful_feeds(settings: Mapping[str, Any], named: Sequence[str]) -> dict[str, Any]:
    """Return settings whose feeds replace no file of others, unless ``-O`` names it."""
    from crawler.storage.output_files import SPARES_OTHERS

    feeds = settings.get("FEEDS")
    if not isinstance(feeds, dict):
        return dict(settings)
    free = {*named, *(word.rpartition(":")[0] for word in named)}  # with its format, or without
    marked = {
        place: {**options, SPARES_OTHERS: place not in free}
        if isinstance(options, dict)
        else options
        for place, options in feeds.items()
    }
    return {**settings, "FEEDS": marked}


def feed_words(message: str, opts: argparse.Namespace) -> str:
    """Say briefly which formats of feeds there are, where Scrapy prints a tuple."""
    from crawler.pages.items import ROW_FORMATS

    if not message.startswith("Unrecognized output format"):
        return message.rstrip(".")
    for feed in [*(opts.output or ()), *(opts.overwrite_output or ())]:
        ending = Path(feed).suffix.lstrip(".")
        if ending not in ROW_FORMATS and feed.rpartition(":")[2] not in ROW_FORMATS:
            hint = did_you_mean(ending, ROW_FORMATS) or f"; there are {', '.join(ROW_FORMATS)}"
            return f"{feed}: its ending names no format{hint}"
    return message
