"""Links that lead to no page are reported with the page that has them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from crawler.demo import DemoServer
from tests.crawls.command import crawl, report, scrapy
from tests.sites.graph import GraphSite

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def test_each_is_named_with_the_page_on_which_it_was_met(tmp_path: Path) -> None:
    links = {"/": ["/a", "/gone"], "/a": ["/", "/b?x=1&y=2"]}
    with GraphSite(links) as site:
        crawl(f"{site.origin}/", tmp_path)
        broken = {link["url"]: link for link in report(tmp_path)["broken"]}
        assert {url.removeprefix(site.origin): link["linked_from"].removeprefix(site.origin)
                for url, link in broken.items()} == {"/gone": "/", "/b?x=1&y=2": "/a"}  # fmt: skip
        assert {link["status"] for link in broken.values()} == {404}
        said = scrapy("report", str(tmp_path)).stdout
        assert f"  {site.origin}/gone (HTTP 404)\n      on {site.origin}/: /gone\n" in said


def test_as_many_as_are_not_shown_are_counted(tmp_path: Path) -> None:
    with GraphSite({"/": [f"/gone/{number}" for number in range(27)]}) as site:
        said = crawl(f"{site.origin}/", tmp_path).stdout
    assert said.count("      on http") == 5
    assert f"  all of them, with all pages that have them: crawl-once links {tmp_path}\n" in said


def test_of_a_mirror_they_are_named_too_and_no_page_is_an_orphan(tmp_path: Path) -> None:
    links = {"/": ["/a", "/gone"], "/a": ["/", "/b"], "/b": []}
    with GraphSite(links) as site:
        for _ in range(2):
            done = scrapy(
                "mirror", f"{site.origin}/", str(tmp_path / "m"), "-s", "DOWNLOAD_DELAY=0"
            )
            assert done.returncode in {0, 1}, done.stderr
            found = json.loads(scrapy("links", str(tmp_path / "m"), "--json").stdout)["faults"]
            (broken,) = found["broken_links"]["examples"]
            assert broken["url"] == f"{site.origin}/gone"
            assert [page["url"] for page in broken["pages"]] == [f"{site.origin}/"]
            assert found["orphans"]["count"] == 0


def test_a_later_visit_names_the_page_too(tmp_path: Path) -> None:
    with GraphSite({"/": ["/a", "/gone"], "/a": ["/"]}) as site:
        crawl(f"{site.origin}/", tmp_path)
        (first,) = report(tmp_path)["broken"]
        crawl(f"{site.origin}/", tmp_path, "-a", "revisit=yes")
        again = report(tmp_path)
    assert (again["visit"], again["broken"]) == (2, [{**first, "is_current": False}])


def test_a_seed_was_met_on_no_page(tmp_path: Path) -> None:
    with DemoServer() as site:
        done = scrapy("crawl", "site", "-a", f"url={site.url}nowhere", "-s", f"JOBDIR={tmp_path}")
        assert done.returncode == 1
    broken = report(tmp_path)["broken"]
    assert broken
    assert not [link for link in broken if link["url"].endswith("nowhere")]
    # Nobody looked whether it is there: robots.txt forbids it.
    assert not [link for link in broken if link["url"].endswith("/private/cellar")]


def test_a_chain_of_many_redirects_is_no_circle(tmp_path: Path) -> None:
    chain = {f"/{number}": [f">/{number + 1}"] for number in range(12)}
    with GraphSite({"/": ["/0", "/12"], **chain, "/12": ["/"]}) as site:
        crawl(f"{site.origin}/", tmp_path)
        found = json.loads(scrapy("links", str(tmp_path), "--json").stdout)["faults"]
    assert found["redirect_circles"]["count"] == 0
    (longest, *_) = found["redirect_chains"]["examples"]
    assert longest["url"] == f"{site.origin}/0"
    assert longest["detail"].endswith(f"{site.origin}/11 -> {site.origin}/12")
