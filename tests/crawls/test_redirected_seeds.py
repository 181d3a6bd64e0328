"""Several seeds of which one is redirected: where the crawl goes, and that no page is lost."""

from __future__ import annotations

from itertools import pairwise
from threading import Event
from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import crawl, killed, pages, report, scrapy
from tests.sites.changing import page
from tests.sites.graph import PATIENCE_SECS, GraphSite
from tests.sites.prose import prose
from tests.sites.refusing import Refusal, RefusingSite
from tests.sites.serving import Response

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.refusing import Answer, Visit
    from tests.sites.serving import Request

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


class ListingSite(GraphSite):
    """Name a sitemap in robots.txt, which lists one page that no link leads to."""

    asked_for_list = 0

    def respond(self, request: Request) -> Response:
        if request.target == "/robots.txt":
            return Response(f"Sitemap: {self.origin}/list.txt".encode(), 200, "text/plain")
        if request.target == "/list.txt":
            self.asked_for_list += 1
            return Response(f"{self.origin}/c/alone".encode(), 200, "text/plain")
        return super().respond(request)


class TestAfterPagesWereRead:
    """The first seed's pages are read when the second one, ``/b/``, answers that it moved."""

    READ = ("/a/read", "/a/on", "/a/further")

    def links(self, *found: str) -> dict[str, list[str]]:
        chain = {path: [to] for path, to in pairwise(self.READ)} | {self.READ[-1]: []}
        there = {"/b/": [">/c/"], "/c/": [], "/c/alone": ["/c/behind"], "/c/behind": []}
        return {"/a/": [*found, self.READ[0]], **chain, **there}

    def test_a_link_that_was_out_of_scope_is_followed(self, tmp_path: Path) -> None:
        with GraphSite(self.links("/c/alone"), {"/b/": self.READ[-1]}) as site:
            crawl(f"{site.origin}/a/,{site.origin}/b/", tmp_path / "job", *AT_ONCE)
            assert site.counts == dict.fromkeys(site.links, 1)

    def test_what_a_sitemap_lists_is_asked_for(self, tmp_path: Path) -> None:
        with ListingSite(self.links(), {"/b/": self.READ[-1]}) as site:
            crawl(f"{site.origin}/a/,{site.origin}/b/", tmp_path / "job", *AT_ONCE)
            assert site.counts == dict.fromkeys(site.links, 1)
            assert site.asked_for_list == 2

    def test_without_a_directory_it_is_the_same(self, tmp_path: Path) -> None:
        with GraphSite(self.links("/c/alone"), {"/b/": self.READ[-1]}) as site:
            seeds = f"url={site.origin}/a/,{site.origin}/b/"
            done = scrapy("crawl", "site", "-a", seeds, "-s", "JOBDIR=", *AT_ONCE)
            assert done.returncode == 0, done.stderr
            assert site.counts == dict.fromkeys(site.links, 1)

    def test_a_crawl_that_ends_when_the_scope_moves_follows_it_later(self, tmp_path: Path) -> None:
        with GraphSite(self.links("/c/alone"), {"/b/": self.READ[-1]}) as site:
            seeds = f"{site.origin}/a/,{site.origin}/b/"
            crawl(seeds, tmp_path / "job", *AT_ONCE, "-a", "max_pages=5")
            assert "/c/" in site.asked
            assert "/c/alone" not in site.asked
            crawl(seeds, tmp_path / "job", *AT_ONCE)
            assert site.counts == dict.fromkeys(site.links, 1)

    @pytest.mark.parametrize("moment", ["/c/", "/c/alone"])
    def test_a_kill_loses_no_link(self, tmp_path: Path, moment: str) -> None:
        waits = {"/b/": self.READ[-1], moment: "never"}
        with GraphSite(self.links("/c/alone"), waits) as site:
            seeds, jobdir = f"{site.origin}/a/,{site.origin}/b/", tmp_path / "job"
            where = ("-a", f"url={seeds}", "-s", f"JOBDIR={jobdir}")
            with killed("crawl", "site", *where, *AT_ONCE):
                site.wait_for(moment)
            site.release(moment)
            crawl(seeds, jobdir, *AT_ONCE)
            assert {f"{site.origin}/c/alone", f"{site.origin}/c/behind"} <= kept(jobdir)

    def test_a_redirect_that_was_out_of_scope_is_taken(self, tmp_path: Path) -> None:
        links = self.links("/a/moved", "/a/hop")
        links |= {"/a/moved": [">/c/alone"], "/a/hop": [">/hop"], "/hop": [">/c/alone"]}
        with GraphSite(links, {"/b/": self.READ[-1]}) as site:
            crawl(f"{site.origin}/a/,{site.origin}/b/", tmp_path / "job", *AT_ONCE)
            assert {f"{site.origin}/c/alone", f"{site.origin}/c/behind"} <= kept(tmp_path / "job")
        assert report(tmp_path / "job")["failed"] == 0
        assert scrapy("verify", str(tmp_path / "job")).returncode == 0

    def test_a_redirect_to_another_host_is_taken(self, tmp_path: Path) -> None:
        """Nothing was asked there before, and the place it leads to counts as queued."""
        served = {"/": linking("start"), "/alone": linking("alone")}
        is_read = Event()
        with RefusingSite(served, address="127.0.0.2") as there:
            ways = {"/moved": f"{there.url}alone"}

            def here_answer(visit: Visit, site: RefusingSite) -> Refusal | None:
                if visit.path == "/further":
                    is_read.set()
                return redirecting(ways)(visit, site)

            def seed_answer(visit: Visit, site: RefusingSite) -> Refusal | None:
                if visit.path == "/":
                    is_read.wait(PATIENCE_SECS)
                return redirecting({"/": there.url})(visit, site)

            pages_here = {
                "/": linking("here", "/moved", "/read"),
                "/read": linking("read", "/further"),
                "/further": linking("further"),
            }
            seed = RefusingSite({}, seed_answer, address="127.0.0.2")
            with seed, RefusingSite(pages_here, here_answer) as here:
                crawl(f"{here.url},{seed.url}", tmp_path / "job", *AT_ONCE)
                assert f"{there.url}alone" in kept(tmp_path / "job")
                assert len(there.asked_for("/alone")) == 1
        assert report(tmp_path / "job")["failed"] == 0
