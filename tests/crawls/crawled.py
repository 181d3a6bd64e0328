"""A crawl that is over, and what is known of it."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.maintenance.crawl_report import Report, make_report
from crawler.pages.export import export_pages
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


def read_back(
    done: subprocess.CompletedProcess[str], jobdir: Path, origin: str, asked: list[str]
) -> Crawled:
    """Open the directory of a crawl; paths are those below the origin."""
    with closing(open_for_reading(jobdir)) as connection:
        rows = {row["url"].removeprefix(origin): row for row in export_pages(connection)}
        return Crawled(done, asked, rows, make_report(connection))


def crawl_site(site: HostileSite, jobdir: Path, *arguments: str) -> Crawled:
    """Crawl from the index of a site and expect that it ran."""
    done = crawl(site.url, jobdir, *arguments)
    return read_back(done, jobdir, site.origin, site.paths())
