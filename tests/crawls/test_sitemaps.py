"""Sitemaps of every format on a served site, and how many of them a crawl fetches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawls.crawled import crawl_site
from tests.sites.hostile import HostileSite

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
