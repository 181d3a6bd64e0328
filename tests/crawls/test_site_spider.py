"""Where the spider ``site`` goes, in which order, and where it stops."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest
import zstandard

from crawler.demo import DemoServer
from crawler.pages.items import PAGE_FIELDS
from tests.crawls.command import crawl, scrapy
from tests.crawls.crawled import crawl_site, read_back
from tests.sites.hostile import HostileSite

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawls.crawled import Crawled

NOBODY = "http://127.0.0.1:9/"
WRITTEN = (
    "/plain/2?utm_source=feed&b=2&a=1",
    "/plain/2?b=2&a=1&fbclid=Iw0",
    "/plain/2?a=1&b=2",
    "/plain/4?p=x.git;a=summary;h=%7eHEAD",
    "/plain/5",
    "/many/6",
)


def crawl_demo(server: DemoServer, path: str, jobdir: Path, *arguments: str) -> Crawled:
    origin = server.url.rstrip("/")
    done = crawl(origin + path, jobdir, *arguments)
    return read_back(done, jobdir, origin, server.requests)


@pytest.fixture(scope="module")
def feed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("feed") / "pages.jsonl"


@pytest.fixture(scope="module")
def prefix(feed: Path) -> Crawled:
    """One folder of the demo site, into a feed."""
    with DemoServer() as server:
        return crawl_demo(server, "/ropes/bowline", feed.parent / "job", "-O", str(feed))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """The demo site from one of its pages, one request at a time, three links deep."""
    one_by_one = ("-s", "CONCURRENT_REQUESTS=1", "-s", "READING_WORKERS=1")
    bounds = ("-a", "scope=host", "-a", "max_depth=3", "-a", "sitemaps=no")
    with DemoServer() as server:
        jobdir = tmp_path_factory.mktemp("host") / "job"
        return crawl_demo(server, "/ropes/bowline", jobdir, *bounds, *one_by_one)


@pytest.fixture(scope="module")
def picked(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """Of the pages in ``WRITTEN`` those that ``allow`` and ``deny`` leave."""
    with HostileSite(linked=WRITTEN) as site:
        jobdir = tmp_path_factory.mktemp("urls") / "job"
        return crawl_site(site, jobdir, "-a", "allow=/plain/", "-a", "deny=/plain/[13579]$")


class TestScope:
    """Which pages belong to a crawl."""

    def test_prefix_is_the_folder_of_the_url(self, prefix: Crawled) -> None:
        asked = set(prefix.asked) - {"/robots.txt", "/sitemap.xml"}
        assert all(path.startswith("/ropes/") for path in asked)
        assert {"/ropes/", "/ropes/bowline", "/ropes/splice", "/ropes/whipping"} <= asked

    def test_host_has_other_folders(self, host: Crawled) -> None:
        assert {"/", "/lights/lens", "/boats/keel", "/fr/gardien"} <= host.kept

    @pytest.mark.parametrize("scope", ["host", "domain"])
    def test_another_port_belongs_to_the_domain_and_not_to_the_host(
        self, scope: str, tmp_path: Path
    ) -> None:
        with HostileSite(linked=("/plain/2",)) as there:
            with HostileSite(linked=("/plain/1", there.url)) as here:
                crawl_site(here, tmp_path, "-a", f"scope={scope}")
            assert set(here.paths()) == {"/", "/plain/1"}
            assert set(there.paths()) == ({"/", "/plain/2"} if scope == "domain" else set())

    def test_what_is_denied_or_not_allowed_is_not_asked_for(self, picked: Crawled) -> None:
        # Of three spellings of one page the others are requested, to try two rules.
        assert set(picked.asked) == {"/", *WRITTEN[:4]}

    def test_sitemap_is_read(self, prefix: Crawled) -> None:
        assert prefix.asked.count("/sitemap.xml") == 1

    def test_sitemap_is_not_read_where_that_is_chosen(self, host: Crawled) -> None:
        assert "/sitemap.xml" not in host.asked
        assert "/appendix" not in host.asked


class TestOrder:
    """In which order pages are fetched, and under which URL."""

    def test_no_page_is_deeper_than_was_asked_for(self, host: Crawled) -> None:
        assert set(host.depths.values()) == {0, 1, 2, 3}
        assert host.depths["/cupboard/"] == 2
        assert host.depths["/cupboard/copies"] == 3
        assert "/mirror/ropes/splice" not in host.asked

    def test_breadth_first(self, host: Crawled) -> None:
        in_order = [host.depths[path] for path in host.asked if path in host.depths]
        assert in_order == sorted(in_order)
        assert len(in_order) == len(host.rows) > 40

    def test_url_is_asked_for_as_written_and_known_by_its_canonical_form(
        self, picked: Crawled
    ) -> None:
        assert picked.rows[WRITTEN[0]]["canonical_url"].endswith("/plain/2?a=1&b=2")
        assert picked.rows[WRITTEN[3]]["canonical_url"].endswith("p=x.git;a=summary;h=~HEAD")
        assert len(picked.asked) == len(set(picked.asked))


class TestBounds:
    """So many pages and no more, each time."""

    def test_every_run_fetches_as_many_pages_as_it_may(self, tmp_path: Path) -> None:
        with DemoServer() as server:
            first = crawl_demo(server, "/", tmp_path, "-a", "max_pages=7")
            second = crawl_demo(server, "/", tmp_path, "-a", "max_pages=7")
            other = scrapy(
                "crawl", "site", "-a", f"url={server.url}ropes/", "-s", f"JOBDIR={tmp_path}"
            )
        assert first.report.fetched == 7
        assert second.report.fetched == 14
        assert set(first.rows) < set(second.rows)
        assert "the same command goes on" in first.done.stdout
        assert "going on" in second.done.stdout.splitlines()[0]
        pages = [path for path in server.requests if path not in {"/robots.txt", "/sitemap.xml"}]
        assert len(pages) == len(set(pages)) == len(second.rows)
        # What is unfinished is not mixed with another crawl.
        assert other.returncode == 2
        assert other.stdout == ""
        (line,) = other.stderr.splitlines()
        assert f"in the middle of another crawl (site -a url={server.url})" in line

    def test_depth_0_is_the_seed_alone(self, tmp_path: Path) -> None:
        with DemoServer() as server:
            found = crawl_demo(server, "/", tmp_path, "-a", "max_depth=0")
        assert set(found.asked) == {"/robots.txt", "/"}

    def test_crawl_delay_of_robots_txt_is_kept(
        self, patient_site: HostileSite, tmp_path: Path
    ) -> None:
        found = crawl_site(patient_site, tmp_path)
        assert found.report.kept == 5
        asked = [asked for asked in patient_site.asked if asked.path != "/robots.txt"]
        # A busy machine may notice one request late, so that the gap behind it looks short. Without
        # a delay all five are asked for in a tenth of a second, with one in four seconds.
        assert asked[-1].at - asked[0].at > 2


class TestSeeds:
    """Several seeds, dead seeds, and seeds that have moved."""

    def test_dead_seed_is_named_and_the_other_is_crawled(self, tmp_path: Path) -> None:
        with HostileSite(linked=("/plain/1",)) as one, HostileSite(linked=("/plain/2",)) as two:
            done = scrapy(
                "crawl", "site", "-a", f"url={one.url}, {NOBODY},{two.url}",
                "-s", "RETRY_ENABLED=False", "-s", f"CRAWL_DIRECTORY={tmp_path}",
            )  # fmt: skip
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1] == f"scrapy crawl: {NOBODY}: connection refused"
        assert "Traceback" not in done.stderr
        assert set(one.paths()) == {"/", "/plain/1"}
        assert set(two.paths()) == {"/", "/plain/2"}
        jobdir = tmp_path / f"127.0.0.1_{urlsplit(one.url).port}"
        assert done.stdout.splitlines()[0] == f"crawl directory: {jobdir} (new)"
        assert read_back(done, jobdir, "", []).rows[NOBODY]["verdict"] == "failed"

    def test_seed_that_moved_takes_the_scope_along(self, tmp_path: Path) -> None:
        with DemoServer() as server:
            first = crawl_demo(server, "/old/bowline", tmp_path, "-a", "max_pages=2")
            second = crawl_demo(server, "/old/bowline", tmp_path)
        assert first.report.fetched == 2
        assert len(second.rows) == 8
        assert all(path.startswith("/ropes/") for path in second.rows)
        assert second.depths["/ropes/bowline"] == 0


class TestOutput:
    """Where pages go."""

    def test_feed_holds_the_kept_pages_with_every_field(self, prefix: Crawled, feed: Path) -> None:
        items = [json.loads(line) for line in feed.read_text().splitlines()]
        assert len(items) == prefix.report.kept == 8
        by_url = {item["url"]: item for item in items}
        assert by_url == {prefix.rows[path]["url"]: prefix.rows[path] for path in prefix.kept}
        assert all(tuple(item) == PAGE_FIELDS for item in items)

    def test_standard_output_is_left_to_the_feed(self, tmp_path: Path) -> None:
        with HostileSite(linked=("/plain/1", "/missing-404")) as site:
            found = crawl_site(site, tmp_path, "-O", "-:jsonl", "-s", "PAGES_KEEP_HTML=True")
        items = [json.loads(line) for line in found.done.stdout.splitlines()]
        assert {item["url"] for item in items} == {site.url, site.at("/plain/1")}
        assert found.done.stderr.startswith("crawl directory: ")
        assert "2 fetched, 2 kept, 0 duplicates, 1 failed, 0 queued" in found.done.stderr
        html = stored_html(tmp_path)
        assert html[site.url].startswith(b"<!DOCTYPE html>")
        assert b'<a href="/plain/1">' in html[site.url]
        assert html[site.at("/missing-404")] == b""

    def test_links_of_duplicates_are_not_followed_where_that_is_chosen(
        self, tmp_path: Path
    ) -> None:
        with HostileSite(linked=("/twin/1", "/twin/2")) as site:
            found = crawl_site(site, tmp_path, "-s", "NEARDUP_FOLLOW_DUPLICATES=False")
        (duplicate,) = (row for row in found.rows.values() if row["duplicate_of"])
        assert duplicate["verdict"] == "text_duplicate"
        assert len({"/plain/931", "/plain/932"} & set(found.asked)) == 1
        assert all(html == b"" for html in stored_html(tmp_path).values())


def stored_html(jobdir: Path) -> dict[str, bytes]:
    with closing(sqlite3.connect(jobdir / "crawl.db")) as connection:
        rows = connection.execute("SELECT url, html FROM pages").fetchall()
    return {url: zstandard.decompress(html) if html else b"" for url, html in rows}
