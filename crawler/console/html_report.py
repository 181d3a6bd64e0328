"""Make the report of a crawl as one HTML file, to read in a browser and to print."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from rich.filesize import decimal

from crawler.console.html_templates import template_environment
from crawler.maintenance.crawl_report import make_report
from crawler.maintenance.selection_report import report_selection
from crawler.maintenance.site_faults import find_faults
from crawler.pages.export import stored_urls
from crawler.pages.page_selection import ALL
from crawler.pages.verdicts import OUTCOMES, VERDICTS

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

MOST_EXAMPLES = 100
"""Describe at most this many examples of a fault."""


def html_report(
    connection: sqlite3.Connection, folder: str, show: Callable[[float, str], None]
) -> str:
    """Return the report of a crawl as an HTML page that needs no other file and no script.

    Args:
        connection: Connection from ``open_for_reading``.
        folder: The crawl directory, as it is named.
        show: Called with the share that is done and the current step.

    Raises:
        JobError: The keys of its URLs were made by another version.

    Complexity: O(links * log pages), as of ``find_faults``.
    """
    counts = report_selection(connection, ALL)
    first = next(stored_urls(connection), "")
    environment = template_environment()
    environment.filters |= {"number": _number, "percent": _percent, "link": _link}
    return environment.get_template("report.html").render(
        site=urlsplit(first).netloc if first else folder,
        folder=folder,
        first_day=_day(counts.first_at),
        last_day=_day(counts.last_at),
        size=decimal(counts.body_bytes),
        counts=counts,
        report=make_report(connection),
        found=find_faults(connection, MOST_EXAMPLES, show),
        verdicts=VERDICTS,
        outcomes=OUTCOMES,
    )


def _number(value: int) -> str:
    return f"{value:,}"


def _percent(part: int, whole: int) -> str:
    """Return a share that is 0 % or 100 % only if it is nothing or all."""
    share = part / whole if whole else 0.0
    if 0 < share < 0.01:
        return "< 1 %"
    return "> 99 %" if 0.99 < share < 1 else f"{share:.0%}".replace("%", " %")


def _link(url: str) -> str:
    """Return a URL that a browser may follow from a report, ``#`` for any other."""
    return url if url.startswith(("http://", "https://")) else "#"


def _day(moment: float | None) -> str:
    return "never" if moment is None else f"{datetime.fromtimestamp(moment, UTC):%-d %B %Y}"
