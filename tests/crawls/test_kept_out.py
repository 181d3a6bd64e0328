"""What keeps pages and links out of a crawl is told, with its count and the setting."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.crawls.command import crawl, report, scrapy
from tests.sites.changing import ChangingSite, page

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.exchange import Exchange

NOFOLLOW = '<meta name="robots" content="nofollow">'


def links(count: int, prefix: str, attributes: str = "") -> str:
    return "".join(f'<a {attributes} href="{prefix}{number}">on</a>' for number in range(count))


SEEDS: dict[str, tuple[str, dict[str, str]]] = {
    "/meta": (links(3, "/meta/") + NOFOLLOW, {}),
    "/header": (links(4, "/header/"), {"X-Robots-Tag": "nofollow"}),
    "/marked": (links(5, "/marked/", "rel='external nofollow'"), {}),
    "/routes": (links(6, "#/route/"), {}),
    "/bang": (links(2, "/bang#!/route/"), {}),
    "/outside": (links(9, "http://127.0.0.2:9/"), {}),
    "/none": (links(1, "/none/"), {"X-Robots-Tag": "none"}),
}


def test_each_cause_is_told_with_its_count_and_its_setting(tmp_path: Path) -> None:
    with ChangingSite() as site:
        for path, (body, headers) in SEEDS.items():
            whole = page(f"what stands at {path} " * 30).replace(b"</body>", body.encode())

            def answer(
                exchange: Exchange, whole: bytes = whole, headers: dict[str, str] = headers
            ) -> None:
                exchange.answer(whole, headers=headers)

            site.added[path] = answer
        site.added["/robots.txt"] = lambda exchange: exchange.answer(
            b"User-agent: *\nDisallow: /private", "text/plain"
        )
        seeds = ",".join(map(site.at, [*SEEDS, "/private"]))
        done = scrapy(
            *("crawl", "site", "-a", f"url={seeds}", "-a", "render=no", "-a", "sitemaps=no"),
            *("-s", f"JOBDIR={tmp_path}"),
        )
    assert report(tmp_path)["refused_links"] == {
        "on pages that say nofollow": 8,
        "marked nofollow": 5,
        "to routes behind a #": 8,
        "out of scope": 9,
    }
    told = " ".join(done.stdout.split())
    for line in (
        "8 on pages that say nofollow (-s CRAWL_OBEY_ROBOTS_META=False follows them)",
        "5 marked nofollow (-s CRAWL_OBEY_NOFOLLOW=False follows them)",
        "8 to routes behind a # (which are one page to a crawl",
        "9 out of scope (--scope host or domain takes more)",
        "1 page said noindex, in robots meta or X-Robots-Tag: -s CRAWL_OBEY_ROBOTS_META=False",
        "1 URL not asked for, since robots.txt forbids it: -s ROBOTSTXT_OBEY=False",
    ):
        assert line in told


def test_a_crawl_without_such_causes_tells_none(tmp_path: Path) -> None:
    with ChangingSite() as site:
        site.added["/"] = lambda exchange: exchange.answer(page("a page of its own " * 30))
        done = crawl(site.url, tmp_path)
    assert "not followed" not in done.stdout
    assert "robots.txt forbids" not in done.stdout
