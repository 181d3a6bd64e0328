"""Make the planted pages from the table of planted things."""

from __future__ import annotations

import calendar
import math
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from crawler.demo.layout import (
    Anchor,
    DemoPage,
    PageFrame,
    document,
    page,
    print_version,
    read_text,
    redirect,
)
from crawler.demo.planted import language_of, of_kind

if TYPE_CHECKING:
    from collections.abc import Mapping

MONTHS = tuple(f"2024-{month:02}" for month in range(1, 7))

_EPOCH = datetime(2024, 1, 1, 3, 12, tzinfo=UTC)
_BETWEEN_HIGH_WATERS = timedelta(hours=12, minutes=25, seconds=14)
_SPRING_TO_SPRING_DAYS = 14.765  # half a synodic month

# The passage of a text that each of its later editions alters.
EDITIONS = {
    "/notices/autumn": ("odd", "notice", "14 March", "12 November"),
    "/notices/summer": ("odd", "notice", "14 March", "11 June"),
    "/drafts/harbourmaster": ("harbour", "harbourmaster", "forty feet", "sixty feet"),
    "/drafts/walk": ("odd", "walk", "the eleven steps", "the steps"),
}

NEST_DEPTH = 10_000

# Enough of a PDF for readers that look at the first bytes.
_PLAN = (
    b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<<>>\n%%EOF\n"
)


def month_path(month: str) -> str:
    return f"/tides?month={month}"


def following(month: str) -> str | None:
    """Return the next month; None for the last of the calendar."""
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
    """Return the markup of a month's table: the day, then each high water with its height."""
    year, number = (int(part) for part in month.split("-"))
    rows = []
    for day_of_month in range(1, calendar.monthrange(year, number)[1] + 1):
        day = datetime(year, number, day_of_month, tzinfo=UTC)
        tides = [f"{tide:%H:%M} {_height_metres(tide):.2f}" for tide in _high_waters(day)]
        cells = "".join(f"<td>{cell}</td>" for cell in [f"{day:%A} {day_of_month}", *tides])
        rows.append(f"<tr>{cells}</tr>")
    return "<table>\n" + "\n".join(rows) + "\n</table>"


def _copies(pages: Mapping[str, DemoPage]) -> dict[str, DemoPage]:
    return {planted.path: pages[planted.of] for planted in of_kind("exact_duplicate")}


def _print_versions() -> dict[str, DemoPage]:
    made = {}
    for planted in of_kind("text_duplicate"):
        _, folder, name = planted.of.split("/")
        frame = PageFrame(language=language_of(folder), canonical=planted.of)
        made[planted.path] = document(print_version(read_text(folder, name), frame))
    return made


def _editions() -> dict[str, DemoPage]:
    return {
        path: document(page(read_text(folder, name).edited(old, new), PageFrame(canonical=path)))
        for path, (folder, name, old, new) in EDITIONS.items()
    }


def _calendar() -> dict[str, DemoPage]:
    made = {}
    for month in MONTHS:
        after = following(month)
        links = (Anchor(month_path(after), "The month after"),) if after else ()
        frame = PageFrame(links=links, tail=tide_table(month))
        made[month_path(month)] = document(page(read_text("odd", "almanac"), frame))
    return made


def _damaged() -> dict[str, DemoPage]:
    nest = "<div>" * NEST_DEPTH + "a dried pea" + "</div>" * NEST_DEPTH
    mislabelled = page(read_text("odd", "phare-latin"), PageFrame(language="fr"))
    return {
        "/nest": document(page(read_text("odd", "nested"), PageFrame(tail=nest))),
        # Every byte of it is UTF-8; only the label outside says otherwise.
        "/fr/phare-mal-etiquete": document(mislabelled, "text/html; charset=us-ascii"),
        "/envelope": document(b""),
        "/files/harbour-plan": document(_PLAN, "application/pdf"),
    }


def _guarded() -> dict[str, DemoPage]:
    keep_out = PageFrame(head='<meta name="robots" content="noindex">')
    return {
        "/staff/minutes": document(page(read_text("odd", "noindex"), keep_out)),
        "/staff/rota": document(page(read_text("odd", "rota"), PageFrame())),
        "/private/cellar": document(page(read_text("odd", "cellar"), PageFrame())),
        "/appendix": document(page(read_text("odd", "appendix"), PageFrame())),
    }


def _redirects() -> dict[str, DemoPage]:
    moved = {planted.path: redirect(planted.of) for planted in of_kind("redirect")}
    loop = [planted.path for planted in of_kind("redirect_loop")]
    onward = zip(loop, [*loop[1:], loop[0]], strict=True)
    return moved | {path: redirect(target) for path, target in onward}


def oddities(pages: Mapping[str, DemoPage]) -> dict[str, DemoPage]:
    """Return all planted things that have a page, by path; ``pages`` are the plain ones."""
    made = _copies(pages) | _print_versions() | _editions()
    return made | _calendar() | _damaged() | _guarded() | _redirects()
