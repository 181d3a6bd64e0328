"""Every link of a site that leads nowhere is told, and none that leads somewhere."""

from __future__ import annotations

import csv
import json
import shutil
from typing import TYPE_CHECKING, NamedTuple

import pytest
from lxml import html

from tests.crawler.commands.in_process import run
from tests.crawls.command import crawl, scrapy
from tests.sites.elsewhere import Elsewhere
from tests.sites.owned import (
    DEAD,
    LINKED,
    MALFORMED,
    OF_OTHER,
    PLACES,
    RESOURCES,
    WRITTEN,
    OwnedSite,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

CHECK = ("--check-external", "99", "-s", "DOWNLOAD_DELAY=0")


class Sites(NamedTuple):
    """The site, and another one to which it links."""

    own: OwnedSite
    other: Elsewhere

    def found(self, jobdir: Path, name: str) -> set[str]:
        """Return what a crawl shows of a fault: paths of the site, whole URLs of others."""
        found = json.loads(run("links", str(jobdir), "--json").stdout)["faults"][name]
        assert found["count"] == len(found["examples"])
        return {one["url"].removeprefix(self.own.origin) for one in found["examples"]}

    @property
    def dead(self) -> set[str]:
        """The URLs of other sites that are dead."""
        return {f"{self.other.origin}{path}" for path in DEAD} | {"http://127.0.0.3:9/"}


@pytest.fixture(scope="module")
def sites() -> Iterator[Sites]:
    with Elsewhere(answers=OF_OTHER) as other, OwnedSite(other.origin) as own:
        yield Sites(own, other)


@pytest.fixture(scope="module")
def jobdir(sites: Sites, tmp_path_factory: pytest.TempPathFactory) -> Path:
    jobdir = tmp_path_factory.mktemp("owned")
    checked = ("-a", "check_fragments=yes", "-a", "render=no", "-s", "RETRY_TIMES=0")
    crawl(f"{sites.own.origin}/", jobdir, *checked)
    assert scrapy("links", str(jobdir), *CHECK).returncode == 0
    return jobdir


def test_a_crawl_tells_all_links_to_pages(sites: Sites, jobdir: Path) -> None:
    assert sites.found(jobdir, "broken_links") == LINKED | WRITTEN | MALFORMED
    assert sites.found(jobdir, "fragments") == PLACES
    assert sites.found(jobdir, "external_links") == sites.dead
    assert sites.found(jobdir, "orphans") == {"/in-sitemap-alone"}
    assert sites.found(jobdir, "canonicals") == {"/a"}
    assert sites.found(jobdir, "duplicates") == set()


def test_a_table_and_a_page_tell_what_is_no_url(jobdir: Path, tmp_path: Path) -> None:
    table, page = tmp_path / "links.csv", tmp_path / "report.html"
    assert run("links", str(jobdir), "-o", str(table)).returncode == 0
    with table.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["broken"] == "no URL"]
    assert {row["target"] for row in rows} == MALFORMED
    assert {(row["source"].rpartition("/")[2], row["kind"], row["text"]) for row in rows} == {
        ("elsewhere", "", "x")
    }
    assert run("report", str(jobdir), "--html", str(page)).returncode == 0
    section = html.parse(page).getroot().get_element_by_id("broken_links")
    assert all(written in section.text_content() for written in MALFORMED)
    assert not section.xpath(".//a/@href[not(starts-with(., 'http'))]")


def test_a_second_visit_of_an_unchanged_site_tells_the_same(
    sites: Sites, jobdir: Path, tmp_path: Path
) -> None:
    shutil.copytree(jobdir, tmp_path / "again")
    crawl(f"{sites.own.origin}/", tmp_path / "again", "-a", "revisit=yes", "-a", "render=no")
    of_sitemap = {"/in-sitemap", "/in-sitemap-2"}  # which may not name them any more
    found = sites.found(tmp_path / "again", "broken_links")
    assert found == (LINKED | WRITTEN | MALFORMED) - of_sitemap


def test_a_mirror_tells_pictures_styles_and_scripts_too(sites: Sites, tmp_path: Path) -> None:
    folder = tmp_path / "mirror"
    chosen = ("--requisites", "all", "--check-fragments", "--render", "no")
    kinds = "--links=+canonical,+version,+form,+citation"
    done = scrapy("mirror", *chosen, kinds, f"{sites.own.origin}/", str(folder))
    assert done.returncode in {0, 1}, done.stderr
    assert scrapy("links", str(folder), *CHECK).returncode == 0
    of_other = {f"{sites.other.origin}/lost.png", f"{sites.other.origin}/frame"}
    broken = sites.found(folder, "broken_links")
    assert broken == LINKED | WRITTEN | RESOURCES | MALFORMED | of_other
    assert sites.found(folder, "fragments") == PLACES
    assert sites.found(folder, "external_links") == sites.dead - of_other, "each is told once"
    assert sites.found(folder, "orphans") == {"/in-sitemap-alone"}, "no picture is one"
    assert sites.found(folder, "duplicates") == set(), "pictures are no pages"
