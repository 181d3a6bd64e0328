"""Links to places within pages that are not there are told where the crawl was asked to look."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from lxml import html

from tests.crawler.commands.in_process import run
from tests.crawls.command import crawl, scrapy
from tests.crawls.crawled import queried
from tests.sites.graph import GraphSite
from tests.sites.places import LOST, SiteOfPlaces

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

CHECKED = ("-a", "check_fragments=yes", "-a", "render=no", "-s", "RETRY_TIMES=0")


@pytest.fixture(scope="module")
def site() -> Iterator[SiteOfPlaces]:
    with SiteOfPlaces() as served:
        yield served


@pytest.fixture(scope="module")
def jobdir(site: SiteOfPlaces, tmp_path_factory: pytest.TempPathFactory) -> Path:
    jobdir = tmp_path_factory.mktemp("places")
    crawl(f"{site.origin}/", jobdir, *CHECKED)
    return jobdir


def lost(jobdir: Path, site: SiteOfPlaces) -> dict[str, list[str]]:
    """Return the pages that link to each place that is not there, by the link."""
    examples = json.loads(run("links", str(jobdir), "--json").stdout)["faults"]["fragments"]
    return {
        found["url"].removeprefix(site.origin): [page["url"] for page in found["pages"]]
        for found in examples["examples"]
    }


def test_places_that_are_not_there_are_named_with_the_page(
    site: SiteOfPlaces, jobdir: Path
) -> None:
    assert lost(jobdir, site) == {link: [f"{site.origin}/"] for link in LOST}
    said = run("links", str(jobdir)).stdout
    assert f"{site.origin}/manual#removed\n        linked on {site.origin}/\n" in said


def test_html_and_csv_have_them_too(site: SiteOfPlaces, jobdir: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert run("report", str(jobdir), "--html", str(page)).returncode == 0
    section = html.parse(page).getroot().get_element_by_id("fragments").text_content()
    assert all(f"{site.origin}{link}" in section for link in LOST)
    table = tmp_path / "links.csv"
    assert run("links", str(jobdir), "-o", str(table)).returncode == 0
    with table.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if "#" in row["target"]]
    assert {row["target"].removeprefix(site.origin) for row in rows} == LOST
    assert {(row["source"], row["broken"]) for row in rows} == {
        (f"{site.origin}/", "no place of that name")
    }


def test_they_set_the_exit_status(jobdir: Path) -> None:
    assert run("links", str(jobdir), "--fail-on", "fragments").returncode == 1


def test_a_crawl_that_was_not_asked_says_how_to_ask(site: SiteOfPlaces, tmp_path: Path) -> None:
    crawl(f"{site.origin}/", tmp_path, "-a", "render=no", "-s", "RETRY_TIMES=0")
    said = run("links", str(tmp_path)).stdout
    assert "crawl and mirror with --check-fragments" in said
    assert run("links", str(tmp_path), "--fail-on", "fragments").returncode == 1, "not known"
    assert run("links", str(tmp_path), "--fail-on", "missing_titles").returncode == 0
    ((stored,),) = queried(tmp_path, "SELECT count(places) FROM links")
    assert stored == 0
    crawl(f"{site.origin}/", tmp_path, *CHECKED, "-a", "revisit=yes")
    assert {*lost(tmp_path, site)} == LOST, "what is unchanged is sent again, once"


def test_what_a_page_says_later_takes_its_place(tmp_path: Path) -> None:
    with SiteOfPlaces() as site:
        crawl(f"{site.origin}/", tmp_path, *CHECKED)
        crawl(f"{site.origin}/", tmp_path, *CHECKED, "-a", "revisit=yes")
        assert {*lost(tmp_path, site)} == LOST, "nothing was sent"
        site.manual = site.manual.replace('"install"', '"removed"')
        crawl(f"{site.origin}/", tmp_path, *CHECKED, "-a", "revisit=yes")
        found = {*lost(tmp_path, site)}
    install = {"/manual#install", "/old#install"}
    assert found == LOST - {"/manual#removed", "/old#removed"} | install


def test_a_mirror_knows_them_and_a_merged_crawl_keeps_them(
    site: SiteOfPlaces, jobdir: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    done = scrapy("mirror", "--check-fragments", "--render", "no", f"{site.origin}/", str(copy))
    assert done.returncode in {0, 1}, done.stderr
    assert {*lost(copy, site)} == LOST
    with GraphSite({"/": ["/a"], "/a": []}) as other:
        crawl(f"{other.origin}/", tmp_path / "other")
    merged = tmp_path / "merged"
    one = run("merge", str(jobdir), str(tmp_path / "other"), str(merged))
    assert one.returncode == 0, one.stderr
    assert {*lost(merged, site)} == LOST
    assert run("verify", str(merged)).returncode == 0


def test_damage_is_found_and_dropped(site: SiteOfPlaces, jobdir: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged"
    shutil.copytree(jobdir, damaged)
    with closing(sqlite3.connect(damaged / "crawl.db")) as connection:
        connection.execute("UPDATE links SET places = x'00' WHERE places IS NOT NULL")
        connection.commit()
    assert run("verify", str(damaged)).returncode == 1
    run("verify", "--repair", str(damaged))
    assert run("verify", str(damaged)).returncode == 0
    assert run("links", str(damaged), "--fail-on", "fragments").returncode == 1, "not known"
