"""Other spellings in fleets, lists, sitemaps, mirrors, later visits, and after a kill."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.crawls.command import crawl, killed, scrapy, start_scrapy
from tests.crawls.crawled import queried, read_back
from tests.crawls.fleet import end, finish, fleet_settings
from tests.crawls.test_spellings import ONE_BY_ONE, only_where, open_site, session
from tests.waiting import wait_until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.changing import ChangingSite
    from tests.sites.exchange import Exchange

EXPIRED, NEEDED = session("a"), session("c")


def put_pages(site: ChangingSite) -> None:
    """``/p`` wants no session, ``/q`` a certain one."""
    site.added["/p"] = only_where("p", lambda query: not query)
    site.added["/q"] = only_where("q", NEEDED.__eq__)
    site.linked = (f"/p?{EXPIRED}", f"/q?{EXPIRED}", f"/q?{NEEDED}")


def test_workers_of_a_fleet_share_the_spellings(redis_url: str, tmp_path: Path) -> None:
    with open_site() as site:
        put_pages(site)
        workers = []
        for number in range(2):
            settings = fleet_settings(redis_url, tmp_path / f"{number}") | {
                "RETRY_ENABLED": "False"
            }
            options = [part for pair in settings.items() for part in ("-s", "=".join(pair))]
            workers.append(start_scrapy("crawl", "site", "-a", f"url={site.url}", *options))
        try:
            said = [finish(worker) for worker in workers]
        finally:
            for worker in workers:
                end(worker)
        asked = site.paths()
    done = scrapy("merge", str(tmp_path / "0"), str(tmp_path / "1"), str(tmp_path / "whole"))
    assert done.returncode == 0, done.stderr
    found = read_back(done, tmp_path / "whole", site.origin, asked)
    assert found.kept == {"/", "/p", f"/q?{NEEDED}"}, said
    assert sorted(asked) == sorted(
        ["/", f"/p?{EXPIRED}", "/p", f"/q?{EXPIRED}", "/q", f"/q?{NEEDED}"]
    )


def is_committed(folder: Path) -> bool:
    """Whether the start page is through, and the other spelling stored."""
    ((stored,),) = queried(
        folder,
        "SELECT (SELECT count(*) FROM requests WHERE state = 2 AND depth = 0)"
        " * (SELECT count(*) FROM spellings WHERE url LIKE ?)",
        f"%/q?{NEEDED}",
    )
    return bool(stored)


def test_spellings_outlive_a_kill(tmp_path: Path) -> None:
    with open_site() as site:
        put_pages(site)
        good, held = site.added["/q"], []

        def hold(exchange: Exchange) -> None:
            if "a" * 32 in exchange.path:
                held.append(exchange.path)
                site.closing.wait(120)
            exchange.hang_up()

        site.added["/q"] = hold
        command = ("crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={tmp_path}")
        with killed(*command, *ONE_BY_ONE):
            wait_until(lambda: bool(held) and is_committed(tmp_path))
        # Nothing links to the other spelling any more.
        site.linked, site.added["/q"] = (), good
        done = crawl(site.url, tmp_path, *ONE_BY_ONE)
        found = read_back(done, tmp_path, site.origin, site.paths())
        assert found.kept == {"/", "/p", f"/q?{NEEDED}"}
        # What was good once expires before the next visit.
        site.added["/q"] = only_where("q", lambda query: not query)
        done = crawl(site.url, tmp_path, "-a", "revisit=yes", *ONE_BY_ONE)
        again = read_back(done, tmp_path, site.origin, site.paths())
        assert "/q" in again.asked
        # The spelling proved to be a URL of its own: it fails, and the other one has its page.
        assert again.report.failed == 1
        assert again.rows["/q"]["verdict"] == "exact_duplicate"


def test_spellings_of_lists_sitemaps_and_mirrors(tmp_path: Path) -> None:
    with open_site() as site:
        put_pages(site)
        urls = [site.at(path) for path in site.linked]
        named = tmp_path / "list"
        named.write_text("\n".join(urls), encoding="utf-8")
        folder = tmp_path / "urls"
        done = scrapy("crawl", "urls", "-a", f"file={named}", "-s", f"JOBDIR={folder}", *ONE_BY_ONE)
        found = read_back(done, folder, site.origin, site.paths())
        assert found.kept == {"/p", f"/q?{NEEDED}"}

        mirror = tmp_path / "mirror"
        done = scrapy("mirror", site.url, str(mirror), *ONE_BY_ONE)
        found = read_back(done, mirror / ".mirror", site.origin, site.paths())
        assert {"/p", f"/q?{NEEDED}"} <= found.kept, done.stdout + done.stderr

        places = "".join(f"<url><loc>{url}</loc></url>" for url in urls)
        xml = f"<?xml version='1.0'?><urlset>{places}</urlset>".encode()
        site.added["/map.xml"] = lambda exchange: exchange.answer(xml, "application/xml")
        site.robots_txt, site.linked = f"Sitemap: {site.at('/map.xml')}\n", ()
        folder = tmp_path / "sitemap"
        done = crawl(site.url, folder, *ONE_BY_ONE)
        found = read_back(done, folder, site.origin, site.paths())
        assert {"/p", f"/q?{NEEDED}"} <= found.kept
