"""Read intervals, and say times in words."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from neardup.plurals import many

_INTERVAL = re.compile(r"(?:(\d{1,4})w)?(?:(\d{1,5})d)?(?:(\d{1,6})h)?(?:(\d{1,7})m)?")
_UNIT_SECS = (604_800, 86_400, 3_600, 60)

MIN_SECS = 60.0
"""The smallest interval between two visits."""

MAX_SECS = 3_660 * 86_400.0
"""The largest one: ten years."""

DAYS_NAMED = 7
"""A day of the week names a visit that is due within so many days."""


def interval_secs(written: str) -> float:
    """Return the seconds of an interval such as ``30m``, ``6h``, ``1d``, ``2w`` or ``1d12h``.

    Raises:
        ValueError: It is none, or shorter than a minute, or longer than ten years.
    """
    found = _INTERVAL.fullmatch(written.strip().lower().replace(" ", ""))
    parts = found.groups("0") if found else ("0",) * 4
    secs = float(sum(int(part) * unit for part, unit in zip(parts, _UNIT_SECS, strict=True)))
    if not MIN_SECS <= secs <= MAX_SECS:
        raise ValueError(
            "an interval of a minute to ten years is wanted, such as 30m, 6h, 1d or 2w, "
            f"got {written!r}"
        )
    return secs


def age_words(secs: float) -> str:
    """Return how long ago something was, in its largest unit: ``3 hours ago``."""
    for unit, size in (("day", 86_400.0), ("hour", 3_600.0), ("minute", 60.0)):
        if secs >= size:
            return f"{many(int(secs / size), unit)} ago"
    return "just now"


def moment_words(at: float, now: float) -> str:
    """Return a moment in local time: ``today at 14:05``, ``tomorrow at 02:10``, ``on Mon 3 Aug``.

    Args:
        at: The moment, in seconds since 1970.
        now: The time, in seconds since 1970.
    """
    then = datetime.fromtimestamp(at, UTC).astimezone()
    today = datetime.fromtimestamp(now, UTC).astimezone().date()
    clock = then.strftime("%H:%M")
    days = (then.date() - today) / timedelta(days=1)
    if at <= now:
        return "now"
    if days == 0:
        return f"today at {clock}"
    if days == 1:
        return f"tomorrow at {clock}"
    day = then.strftime("%a ") if days < DAYS_NAMED else ""
    year = then.strftime(" %Y") if then.year != today.year else ""
    return f"on {day}{then.day} {then.strftime('%b')}{year} at {clock}"
