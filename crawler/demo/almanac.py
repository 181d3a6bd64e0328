"""A calendar that goes on: one tide table a month, each with a link to the next."""

from __future__ import annotations

import calendar
import math
from datetime import UTC, datetime, timedelta

MONTHS = tuple(f"2024-{month:02}" for month in range(1, 7))

_EPOCH = datetime(2024, 1, 1, 3, 12, tzinfo=UTC)
_BETWEEN_HIGH_WATERS = timedelta(hours=12, minutes=25, seconds=14)
_SPRING_TO_SPRING_DAYS = 14.765  # half a synodic month


def month_path(month: str) -> str:
    return f"/tides?month={month}"


def following(month: str) -> str | None:
    """The month after, None for the last of the calendar."""
    place = MONTHS.index(month) + 1
    return MONTHS[place] if place < len(MONTHS) else None


def _height_metres(when: datetime) -> float:
    days = (when - _EPOCH) / timedelta(days=1)
    wind = math.sin(days * 1.7) * 0.17
    return 4.1 + 0.9 * math.cos(2 * math.pi * days / _SPRING_TO_SPRING_DAYS) + wind


def _high_waters(day: datetime) -> list[datetime]:
    count = math.ceil((day - _EPOCH) / _BETWEEN_HIGH_WATERS)
    tides = [_EPOCH + (count + step) * _BETWEEN_HIGH_WATERS for step in range(3)]
    return [tide for tide in tides if day <= tide < day + timedelta(days=1)]


def tide_table(month: str) -> str:
    """The markup of a month's table: the day, then each high water with its height."""
    year, number = (int(part) for part in month.split("-"))
    rows = []
    for day_of_month in range(1, calendar.monthrange(year, number)[1] + 1):
        day = datetime(year, number, day_of_month, tzinfo=UTC)
        tides = [f"{tide:%H:%M} {_height_metres(tide):.2f}" for tide in _high_waters(day)]
        cells = "".join(f"<td>{cell}</td>" for cell in [f"{day:%A} {day_of_month}", *tides])
        rows.append(f"<tr>{cells}</tr>")
    return "<table>\n" + "\n".join(rows) + "\n</table>"
