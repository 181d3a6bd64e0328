"""Numbers and moments as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

NOTHING = "–"


def count(value: float | None) -> str:
    """Return a whole number with its thousands apart."""
    return NOTHING if value is None else f"{value:,.0f}"


def share(value: float | None) -> str:
    """Return a similarity with three places, or a dash where it is not known."""
    return NOTHING if value is None or value != value else f"{value:.3f}"  # noqa: PLR0124  (NaN)


def clock(at: float) -> str:
    """Return a moment of today as a time, any other with its date, in this machine's zone."""
    if at <= 0:
        return NOTHING
    moment = datetime.fromtimestamp(at, UTC).astimezone()
    is_today = moment.date() == datetime.now(UTC).astimezone().date()
    return moment.strftime("%H:%M:%S" if is_today else "%Y-%m-%d %H:%M:%S")


def spaced(name: str) -> str:
    """Return a verdict's name with spaces."""
    return name.replace("_", " ")
