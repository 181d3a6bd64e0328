"""A crawl that is over, and what is known of it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.maintenance.crawl_report import Report, make_report
from crawler.pages.export import PageFilter, export_pages
from crawler.storage.database import open_for_reading
from tests.crawls.command import crawl

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from tests.sites.hostile import HostileSite


@dataclass(frozen=True)
class Crawled:
    """What a crawl printed, what it asked for in order, and its rows by path."""

    done: subprocess.CompletedProcess[str]
    asked: list[str]
    rows: dict[str, dict[str, Any]]
    report: Report

    def is_kept(self, path: str) -> bool:
        return path in self.rows and self.rows[path]["text"] is not None

    @property
    def kept(self) -> set[str]:
        return set(filter(self.is_kept, self.rows))

    @property
    def depths(self) -> dict[str, int]:
        return {path: row["depth"] for path, row in self.rows.items()}


def exported(jobdir: Path, origin: str = "", which: str | None = None) -> dict[str, dict[str, Any]]:
    """What a crawl exports, by URL, or by path where the origin is given.

    Args:
        jobdir: The directory of the crawl.
        origin: What is left out at the beginning of each URL.
        which: A verdict, or the word for all that is kept; None: every page.
    """
    with closing(open_for_reading(jobdir)) as connection:
        rows = list(export_pages(connection, PageFilter(which)))
    return {row["url"].removeprefix(origin): row for row in rows}


def queried(jobdir: Path, sql: str, *values: object) -> list[Any]:
    """The rows that the database of a crawl has for a query."""
    with closing(open_for_reading(jobdir)) as connection:
        return list(connection.execute(sql, values))


def read_back(
    done: subprocess.CompletedProcess[str], jobdir: Path, origin: str, asked: list[str]
) -> Crawled:
    """Open the directory of a crawl; paths are those below the origin."""
    with closing(open_for_reading(jobdir)) as connection:
        return Crawled(done, asked, exported(jobdir, origin), make_report(connection))


def crawl_site(site: HostileSite, jobdir: Path, *arguments: str) -> Crawled:
    """Crawl from the index of a site and expect that it ran."""
    done = crawl(site.url, jobdir, *arguments)
    return read_back(done, jobdir, site.origin, site.paths())
