"""Name a fleet in settings and in Redis."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from crawler.frontier.redis.errors import FleetError

BEGINNING = "crawl-once:"
"""Prefix of every key of every fleet, after the opening brace if there is one."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")

_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")


def checked_name(name: str) -> str:
    """Return the name of a fleet if it fits into keys and paths.

    Raises:
        FleetError: It does not.
    """
    if not _NAME.fullmatch(name):
        raise FleetError(
            f"FLEET_NAME must be letters, digits, '.', '_' and '-', 100 at most, got {name!r}"
        )
    return name


def name_of_folder(folder: str) -> str:
    """Return the name of a fleet for the folder into which its crawl would go, were it alone."""
    return _UNFIT.sub("-", folder).strip("-._")[:100] or "fleet"


def prefix_of(name: str) -> str:
    """Return the prefix of every key of a fleet, within the braces of its hash tag."""
    return f"{BEGINNING}{name}:"


def shown_url(url: str) -> str:
    """Return the location of a Redis without user and password, so that it may be printed.

    Raises:
        FleetError: It is no URL; the message contains no part of it.
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
