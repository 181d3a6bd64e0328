"""Options that choose pages: ``--under``, ``--host``, ``--since``, ``--status``, ``--type``."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from crawler.console.command_line import CommandError
from crawler.pages.export import PageSelection, host_ranges, url_ranges
from crawler.reading.content.content_xml import DOCUMENT, PAGE_TYPES
from crawler.suggestions import did_you_mean
from crawler.urls.parts import MalformedUrl
from crawler.urls.seeds import check_seed

if TYPE_CHECKING:
    import argparse
    from collections.abc import Collection

TYPES = (*PAGE_TYPES, DOCUMENT)

_OPTIONS = {
    "under": ("URL", "only the page at this URL and those below it"),
    "host": ("H", "only pages of this host, at any port, or of HOST:PORT"),
    "since": ("WHEN", "only pages fetched since: 2026-11-27, 2026-11-27T08:30 (UTC), 36h, 7d"),
    "status": ("S", "only pages with one of these HTTP statuses: 200, 404,410, 4xx"),
    "type": ("TYPE", f"only pages of this type: {', '.join(TYPES)}"),
}
_SECS = {"m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_DURATION = re.compile(r"([0-9]{1,6})([a-z]+)")
_STATUS = re.compile(r"([1-5][0-9][0-9])|([1-5])xx")


def add_page_options(parser: argparse.ArgumentParser, *, without: Collection[str] = ()) -> None:
    """Add the options that choose pages, but for those that mean something else in a command."""
    group = parser.add_argument_group("which pages")
    for name, (metavar, meaning) in _OPTIONS.items():
        if name not in without:
            group.add_argument(f"--{name}", dest=f"pages_{name}", metavar=metavar, help=meaning)


def page_selection(opts: argparse.Namespace) -> PageSelection:
    """Return the pages that the options choose.

    Raises:
        CommandError: A value is bad; the message says what is taken.
    """
    under, host, since, status, page_type = (
        getattr(opts, f"pages_{name}", None) for name in _OPTIONS
    )
    if page_type is not None and page_type not in TYPES:
        hint = did_you_mean(page_type, TYPES) or f"; there are {', '.join(TYPES)}"
        raise CommandError(f"--type {page_type}: no such type of page{hint}")
    return PageSelection(
        "" if under is None else _url(under),
        "" if host is None else _host(host),
        None if since is None else moment(since, time.time()),
        () if status is None else statuses(status),
        page_type,
    )


def selection_words(opts: argparse.Namespace) -> str:
    """Return the options that choose pages as they were given; empty: none."""
    given = {name: getattr(opts, f"pages_{name}", None) for name in _OPTIONS}
    return " ".join(f"--{name} {value}" for name, value in given.items() if value is not None)


def moment(written: str, now: float) -> float:
    """Return the seconds since 1970 of a date, a time, or a duration before now.

    Raises:
        CommandError: It is none of them.
    """
    duration = _DURATION.fullmatch(written)
    if duration and duration[2] in _SECS:
        return now - int(duration[1]) * _SECS[duration[2]]
    try:
        found = datetime.fromisoformat(written)
    except ValueError:
        taken = "a date (2026-11-27), a time (2026-11-27T08:30) or a duration (30m, 36h, 7d, 2w)"
        raise CommandError(f"--since takes {taken}, got {written!r}") from None
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()


def statuses(written: str) -> tuple[tuple[int, int], ...]:
    """Return the ranges of a text like ``200``, ``404,410`` or ``4xx``.

    Raises:
        CommandError: It has another form.
    """
    found = [_STATUS.fullmatch(part.strip().lower()) for part in written.split(",")]
    if not all(found):
        raise CommandError(f"--status takes 200, 404,410, 4xx and the like, got {written!r}")
    return tuple(
        (int(match[1]), int(match[1]))
        if match[1]
        else (int(match[2]) * 100, int(match[2]) * 100 + 99)
        for match in found
        if match
    )


def _url(written: str) -> str:
    try:
        url = check_seed(written)
        url_ranges(url)
    except MalformedUrl as error:
        raise CommandError(f"--under: {error}") from None
    return url


def _host(written: str) -> str:
    if "/" in written:
        raise CommandError(
            f"--host takes a host such as docs.python.org, got {written!r}; --under takes a URL"
        )
    try:
        host_ranges(written)
    except MalformedUrl as error:
        raise CommandError(f"--host {written}: {error}") from None
    return written
