"""Numbers and moments as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

NOTHING = "–"


def count(value: float | None) -> str:
    """A whole number with its thousands apart."""
    return NOTHING if value is None else f"{value:,.0f}"


def share(value: float | None) -> str:
    """A similarity with three places; none where it is not known."""
    return NOTHING if value is None or value != value else f"{value:.3f}"  # noqa: PLR0124  (NaN)


def clock(at: float) -> str:
    """A moment of today as a time, any other with its date, in the zone of this machine."""
    if at <= 0:
        return NOTHING
    moment = datetime.fromtimestamp(at, UTC).astimezone()
    is_today = moment.date() == datetime.now(UTC).astimezone().date()
    return moment.strftime("%H:%M:%S" if is_today else "%Y-%m-%d %H:%M:%S")


def spaced(name: str) -> str:
    """A verdict's name with spaces."""
    return name.replace("_", " ")
