"""Several seeds of which one is redirected: where the crawl goes, and that no page is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import crawl, pages, report, scrapy
from tests.sites.changing import page
from tests.sites.prose import prose
from tests.sites.refusing import Refusal, RefusingSite

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.refusing import Answer

AT_ONCE = ("-s", "DOWNLOAD_DELAY=0", "-s", "READING_WORKERS=1")


def linking(name: str, *links: str) -> bytes:
    return page(prose(name, 120), links)


def redirecting(ways: dict[str, str]) -> Answer:
    """Redirect some paths."""
    return lambda visit, site: (
        Refusal(302, {"Location": ways[visit.path]}) if visit.path in ways else None
    )


def kept(jobdir: Path) -> set[str]:
    return {found["url"] for found in pages(jobdir, "--verdict", "kept")}


@pytest.fixture
def there() -> RefusingSite:
    """Be the site of the second seed, ``/y/``; nothing links to ``/y/alone``."""
    served = {
        "/y/": linking("start", "/y/linked"),
        "/y/linked": linking("linked"),
        "/y/alone": linking("alone", "/y/behind"),
        "/y/behind": linking("behind"),
    }
    return RefusingSite(served, address="127.0.0.2")


class TestIntoTheScopeOfAnotherSeed:
    def test_the_page_is_kept_and_its_links_are_followed(
        self, tmp_path: Path, there: RefusingSite
    ) -> None:
        with there, RefusingSite({}, redirecting({"/x": f"{there.url}y/alone"})) as here:
            crawl(f"{here.url}x,{there.url}y/", tmp_path / "job", *AT_ONCE)
            assert kept(tmp_path / "job") == {there.url + path[1:] for path in there.pages}
        assert report(tmp_path / "job")["failed"] == 0

    def test_over_another_path_and_another_host(self, tmp_path: Path, there: RefusingSite) -> None:
        between = RefusingSite({}, redirecting({"/": f"{there.url}y/alone"}), address="127.0.0.3")
        ways = {"/x": "/hop", "/hop": between.url}
        with there, between, RefusingSite({}, redirecting(ways)) as here:
            crawl(f"{here.url}x,{there.url}y/", tmp_path / "job", *AT_ONCE)
            assert kept(tmp_path / "job") == {there.url + path[1:] for path in there.pages}

    @pytest.mark.parametrize("target", ["y/", "y/linked"])
    def test_a_page_that_is_known_is_asked_for_once(
        self, tmp_path: Path, there: RefusingSite, target: str
    ) -> None:
        with there, RefusingSite({}, redirecting({"/x": there.url + target})) as here:
            crawl(f"{here.url}x,{there.url}y/", tmp_path / "job", *AT_ONCE)
            assert kept(tmp_path / "job") == {f"{there.url}y/", f"{there.url}y/linked"}
            assert len(there.asked_for(f"/{target}")) == 1

    def test_on_the_same_host_no_seed_loses_its_folder(self, tmp_path: Path) -> None:
        """The first seed's folder is not given up for a page that was in scope anyway."""
        served = {
            "/y/": linking("start", "/x/page"),
            "/y/alone": linking("alone"),
            "/x/page": linking("page"),
        }
        with RefusingSite(served, redirecting({"/x/": "/y/alone"})) as site:
            crawl(f"{site.url}x/,{site.url}y/", tmp_path / "job", *AT_ONCE)
            assert kept(tmp_path / "job") == {site.url + path[1:] for path in served}

    def test_another_visit_takes_the_same_way(self, tmp_path: Path, there: RefusingSite) -> None:
        with there, RefusingSite({}, redirecting({"/x": f"{there.url}y/alone"})) as here:
            crawl(f"{here.url}x,{there.url}y/", tmp_path / "job", *AT_ONCE)
            crawl(f"{here.url}x,{there.url}y/", tmp_path / "job", *AT_ONCE, "-a", "revisit=yes")
            assert len(there.asked_for("/y/behind")) == 2
        found = report(tmp_path / "job")
        assert (found["failed"], found["queued"]) == (0, 0)


class TestElsewhere:
    def test_a_site_of_somebody_else_is_told_and_the_others_are_crawled(
        self, tmp_path: Path, there: RefusingSite
    ) -> None:
        stranger = RefusingSite({"/": linking("stranger")}, address="127.0.0.3")
        with there, stranger, RefusingSite({}, redirecting({"/x": stranger.url})) as here:
            jobdir = ("-s", f"JOBDIR={tmp_path / 'job'}")
            done = scrapy(
                "crawl", "site", "-a", f"url={here.url}x,{there.url}y/", *jobdir, *AT_ONCE
            )
            assert done.returncode == 1
            assert f"{here.url}x: redirected to {stranger.url}; give that URL" in done.stderr
            assert kept(tmp_path / "job") == {f"{there.url}y/", f"{there.url}y/linked"}
