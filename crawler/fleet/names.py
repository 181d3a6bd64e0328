"""How a fleet is called, in settings and in Redis."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from crawler.frontier.redis.errors import FleetError

BEGINNING = "crawl-once:"
"""Of every key of every fleet, but for braces."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def checked_name(name: str) -> str:
    """The name of a fleet, as it stands in keys and paths.

    Raises:
        FleetError: It is none.
    """
    if not _NAME.fullmatch(name):
        raise FleetError(
            f"FLEET_NAME must be letters, digits, '.', '_' and '-', 100 at most, got {name!r}"
        )
    return name


def name_of_folder(folder: str) -> str:
    """The name of a fleet whose crawl would go into a folder, were it alone."""
    return _UNFIT.sub("-", folder).strip("-._")[:100] or "fleet"


def prefix_of(name: str) -> str:
    """What every key of a fleet begins with, within the braces of its hash tag."""
    return f"{BEGINNING}{name}:"


def shown_url(url: str) -> str:
    """Where a Redis is, without user and password, as it may be printed.

    Raises:
        FleetError: It is no URL; the message has nothing of it.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or 6379
    except ValueError:  # its message may have a part of the password
        raise FleetError(
            "FLEET_REDIS_URL is no URL; redis://USER:PASSWORD@HOST:PORT/0 expected, with what is "
            "neither letter nor digit in a password written as %XX"
        ) from None
    if parts.scheme == "unix":
        return parts.path
    host = parts.hostname or "localhost"
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{port}"
