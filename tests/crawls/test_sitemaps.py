"""Sitemaps of every format on a served site, and how many of them a crawl fetches."""

from __future__ import annotations

import gzip
import random
from typing import TYPE_CHECKING

import pytest

from tests.crawls.crawled import crawl_site
from tests.sites.hostile import HostileSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.sites.exchange import Exchange


def file(text: str, content_type: str) -> Callable[[Exchange], None]:
    return lambda exchange: exchange.answer(text.encode(), content_type)


def rss(*urls: str) -> Callable[[Exchange], None]:
    items = "".join(f"<item><link>{url}</link></item>" for url in urls)
    return file(f"<rss version='2.0'><channel>{items}</channel></rss>", "application/rss+xml")


def atom(*urls: str) -> Callable[[Exchange], None]:
    entries = "".join(f"<entry><link href='{url}'/></entry>" for url in urls)
    feed = f"<feed xmlns='http://www.w3.org/2005/Atom'>{entries}</feed>"
    return file(feed, "application/atom+xml")


def text(*urls: str) -> Callable[[Exchange], None]:
    return file("\n".join(urls), "text/plain")


@pytest.mark.parametrize("write", [rss, atom, text])
def test_pages_of_every_format_are_crawled(
    write: Callable[..., Callable[[Exchange], None]], tmp_path: Path
) -> None:
    with HostileSite("Sitemap: /map\n", linked=("/plain/1",)) as site:
        outside = "http://127.0.0.9:9/plain/4"
        site.added = {"/map": write(site.at("/plain/2"), site.at("/plain/3"), outside)}
        found = crawl_site(site, tmp_path)
    assert found.kept == {"/", "/plain/1", "/plain/2", "/plain/3"}
    assert found.depths["/plain/3"] == 1


def test_so_many_are_fetched_however_often_the_crawl_is_stopped(tmp_path: Path) -> None:
    maps = [f"/map/{number}" for number in range(6)]
    robots = "".join(f"Sitemap: {path}\n" for path in maps)
    with HostileSite(robots, linked=tuple(f"/plain/{number}" for number in range(1, 8))) as site:
        site.added = {path: rss() for path in maps}
        bound = ("-s", "CRAWL_MAX_SITEMAPS=3")
        for _ in range(3):
            found = crawl_site(site, tmp_path, "-a", "max_pages=2", *bound)
        assert found.report.fetched == 6
        assert len([path for path in found.asked if path in maps]) == 3
        crawl_site(site, tmp_path, *bound)
        again = crawl_site(site, tmp_path, "-a", "revisit=yes", *bound)
        assert len([path for path in again.asked if path in maps]) == 6


LISTED = tuple(f"/plain/{number}" for number in range(1, 7))
LONG = random.Random(1).randbytes(2**17).hex()
"""What makes a file large, also a packed one."""


def sitemap(*urls: str, inside: str = "") -> bytes:
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    names = f'xmlns="{space}" xmlns:xhtml="http://www.w3.org/1999/xhtml"'
    entries = "".join(f"<url><loc>{url}</loc>{inside}</url>" for url in urls)
    return f"<urlset {names}>{entries}<!--{LONG}--></urlset>".encode()


def test_packed_sitemaps_are_read_whatever_they_are_called_and_declared(tmp_path: Path) -> None:
    """By their name, behind a redirect, in an index and as a text, packed once and twice."""
    names = "/a.xml.gz", "/old.xml", "/twice.xml.gz", "/index.xml.gz", "/list.txt.gz", "/page.html"
    with HostileSite() as site:
        site.robots_txt = "".join(f"Sitemap: {site.at(name)}\n" for name in names)
        site.linked = ("/page.html",)

        def packed(content: bytes, content_type: str) -> Callable[[Exchange], None]:
            return lambda exchange: exchange.answer(gzip.compress(content), content_type)

        index = f"<sitemapindex><sitemap><loc>{site.at('/part')}</loc></sitemap></sitemapindex>"
        other = f'<xhtml:link rel="alternate" hreflang="de" href="{site.at(LISTED[5])}"/>'
        site.added = {
            "/a.xml.gz": packed(sitemap(site.at(LISTED[0])), "application/x-gzip"),
            "/old.xml": lambda exchange: exchange.redirect("/new.xml.gz"),
            "/new.xml.gz": packed(sitemap(site.at(LISTED[1])), "APPLICATION/GZIP; charset=binary"),
            "/twice.xml.gz": packed(gzip.compress(sitemap(site.at(LISTED[2]))), "application/zip"),
            "/index.xml.gz": packed(index.encode(), "application/x-gzip"),
            "/part": packed(sitemap(site.at(LISTED[3]), inside=other), "application/x-gzip"),
            "/list.txt.gz": packed(f"{site.at(LISTED[4])}\n{LONG}".encode(), "text/csv"),
            "/page.html": page_of("a page that robots.txt takes for a sitemap"),
        }
        found = crawl_site(site, tmp_path)
    assert found.kept == {"/", "/page.html", *LISTED}


def test_what_only_we_guessed_is_no_page(tmp_path: Path) -> None:
    """An application answers each URL with its shell; one of them is linked too."""
    with HostileSite(linked=("/sitemap.xml", "/plain/1")) as site:
        shell = page_of("the shell of an application")
        packed = gzip.compress(sitemap(site.at("/plain/2")))
        site.added = {
            "/sitemap.xml": page_of("all pages of this site, for its readers"),
            "/sitemap_index.xml": shell,
            "/sitemap.xml.gz": lambda exchange: exchange.answer(packed, "application/gzip"),
        }
        found = crawl_site(site, tmp_path)
    assert found.kept == {"/", "/sitemap.xml", "/plain/1", "/plain/2"}
    assert "/sitemap_index.xml" not in found.rows
    assert not found.report.failed


def page_of(words: str) -> Callable[[Exchange], None]:
    return lambda exchange: exchange.answer(f"<main><p>{prose(words, 200)}</p></main>".encode())


@pytest.mark.slow
@pytest.mark.parametrize("is_packed", [False, True])
def test_one_of_49_mb_is_read_to_its_end_and_a_larger_one_is_told(
    tmp_path: Path, *, is_packed: bool
) -> None:
    """sitemaps.org allows 50 MiB; pages may have 32."""
    padding = "<!--" + "x" * (49 << 20) + "-->"
    with HostileSite("Sitemap: /map\nSitemap: /large\n", linked=("/plain/1",)) as site:
        for path, more, last in (("/map", "", "/plain/2"), ("/large", padding, "/plain/3")):
            listed = f"<url><loc>{site.at(last)}</loc></url>"
            body = f"<urlset>{padding}{more}{listed}</urlset>".encode()
            packed = gzip.compress(body, 1) if is_packed else body

            def serve(exchange: Exchange, packed: bytes = packed) -> None:
                exchange.answer(packed, "application/octet-stream" if is_packed else "text/xml")

            site.added[path] = serve
        found = crawl_site(site, tmp_path)
    assert found.kept == {"/", "/plain/1", "/plain/2"}
    assert "/large" in found.done.stderr
