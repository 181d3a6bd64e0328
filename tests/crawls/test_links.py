"""Links of every kind lead to their pages, in crawls and in mirrors."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crawler.reading.link_kinds import KINDS, Follow
from tests.crawls.command import scrapy
from tests.crawls.crawled import crawl_site
from tests.sites.changing import ChangingSite
from tests.sites.hostile import HostileSite
from tests.sites.linking import DESCRIBED, OF_ERRORS, PLACES, LinkingSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    from tests.sites.exchange import Exchange
    from tests.sites.hostile import Trick

USUAL = {kind.name for kind in KINDS if kind.in_crawls is not Follow.NO}
DOCUMENT = Path(__file__).parents[2] / "docs" / "links.md"


def found(paths: list[str]) -> set[str]:
    return {path for path in paths if path.startswith("/found/") and "," not in path}


def of(kinds: set[str]) -> set[str]:
    return {f"/found/{place.name}" for place in PLACES if place.kind in kinds}


def test_a_crawl_follows_the_usual_kinds(tmp_path: Path) -> None:
    with LinkingSite() as site:
        crawled = crawl_site(site, tmp_path)
    expected = of(USUAL) | DESCRIBED | OF_ERRORS
    assert found(crawled.asked) == expected
    assert {path for path in crawled.kept if path.startswith("/found/")} == expected


@pytest.mark.slow
def test_all_kinds_lead_to_all_pages(tmp_path: Path) -> None:
    with LinkingSite() as site:
        crawled = crawl_site(site, tmp_path, "-a", "links=all")
    assert (
        found(crawled.asked) == {f"/found/{place.name}" for place in PLACES} | DESCRIBED | OF_ERRORS
    )
    assert "/.well-known/security.txt" in crawled.asked


@pytest.mark.slow
def test_kinds_can_be_left_out(tmp_path: Path) -> None:
    with LinkingSite() as site:
        crawled = crawl_site(site, tmp_path, "-a", "links=none,+frame")
    assert found(crawled.asked) == of({"anchor", "frame"})


@pytest.mark.slow
def test_a_mirror_follows_them_too(tmp_path: Path) -> None:
    with LinkingSite() as site:
        done = scrapy("mirror", site.url, str(tmp_path / "site"))
        asked = site.paths()
    assert done.returncode in (0, 1), done.stderr
    kinds = {kind.name for kind in KINDS if kind.in_mirrors is not Follow.NO} | {"resource"}
    assert found(asked) >= of(kinds) - {"/found/form"}


def test_the_table_of_kinds_is_documented() -> None:
    row = re.compile(r"^\| `([\w-]+)` \| (.+) \| (\w+) \| (\w+) \|$", re.MULTILINE)
    rows = row.findall(DOCUMENT.read_text(encoding="utf-8"))
    assert rows == [(kind.name, kind.places, kind.in_crawls, kind.in_mirrors) for kind in KINDS]


FEED_LINK = '<link rel="alternate" type="application/rss+xml" href="/feed">'


def answer(text: str, head: str = "", body: str = "") -> Trick:
    page = f"<html><head>{head}</head><body>{body}<p>{prose(text, 200)}</p></body></html>"
    return lambda exchange: exchange.answer(page.encode())


def test_a_guessed_sitemap_that_is_a_page_takes_no_page_away(tmp_path: Path) -> None:
    with HostileSite(linked=("/on", "/sitemap.xml")) as site:
        site.added = {
            "/sitemap_index.xml": lambda exchange: exchange.redirect("/on"),
            "/sitemap.xml": answer("a page of that name"),
            "/on": answer("where the sitemap leads"),
        }
        crawled = crawl_site(site, tmp_path, "-a", "links=+sitemap")
    assert crawled.kept == {"/", "/on", "/sitemap.xml"}


def test_a_guess_that_is_missing_hides_no_other_spelling(tmp_path: Path) -> None:
    def play(exchange: Exchange) -> None:
        shown = answer("spelled like this") if exchange.path.endswith("?b=2&a=1") else missing
        shown(exchange)

    def missing(exchange: Exchange) -> None:
        exchange.answer(b"missing", status=404)

    guesses = "<script>go('/x?a=1&b=2'); go('/guessed')</script>"
    with HostileSite(linked=("/start",)) as site:
        site.added = {
            "/start": answer("start", body=guesses),
            "/guessed": answer("guessed", body='<a href="/x?b=2&amp;a=1">x</a>'),
            "/x": play,
        }
        crawled = crawl_site(site, tmp_path, "-a", "links=+script")
    assert crawled.asked.index("/x?b=2&a=1") > crawled.asked.index("/x?a=1&b=2")
    assert {path.partition("?")[0] for path in crawled.kept} == {"/", "/start", "/guessed", "/x"}


@pytest.mark.parametrize("media_type", ["application/atom+xml", "application/xml", "text/xml"])
def test_a_feed_is_followed_to_its_last_part(media_type: str, tmp_path: Path) -> None:
    def part(number: int) -> Trick:
        onward = f'<link rel="next" href="/feed/{number + 1}"/>' if number < 3 else ""
        entry = f'<entry><link href="/entry/{number}"/></entry>'
        title = f"<title>All that is new, part {number}</title>"
        text = f'<feed xmlns="http://www.w3.org/2005/Atom">{title}{onward}{entry}</feed>'
        return lambda exchange: exchange.answer(text.encode(), media_type)

    head = f'<link rel="alternate" type="{media_type}" href="/feed/1">'
    entries = {f"/entry/{number}": answer(f"entry {number}") for number in (1, 2, 3)}
    with HostileSite(linked=("/start",)) as site:
        site.added = {"/start": answer("start", head=head), **entries}
        site.added |= {f"/feed/{number}": part(number) for number in (1, 2, 3)}
        crawled = crawl_site(site, tmp_path)
    assert crawled.kept >= entries.keys()


def test_a_crawl_that_stops_before_its_guesses_is_whole(tmp_path: Path) -> None:
    with HostileSite(linked=("/start",)) as site:
        site.added = {"/start": answer("start", head=FEED_LINK), "/feed": feed("/entry")}
        crawl_site(site, tmp_path, "-a", "max_pages=2")
        done = scrapy("verify", str(tmp_path))
        assert done.returncode == 0, done.stdout + done.stderr
        site.added["/entry"] = answer("the entry of a feed")
        crawled = crawl_site(site, tmp_path)
    assert "/entry" in crawled.kept
    assert scrapy("verify", str(tmp_path)).returncode == 0


def test_guessed_sitemaps_leave_room_for_those_that_are_named(tmp_path: Path) -> None:
    with HostileSite(linked=("/on",)) as other, HostileSite(linked=("/start",)) as site:
        other.added = {"/on": answer("on")}
        site.robots_txt = f"Sitemap: {site.at('/map.xml')}"
        site.added = {
            "/start": answer("start"),
            "/map.xml": lambda exchange: exchange.answer(
                f"<urlset><url><loc>{site.at('/listed')}</loc></url></urlset>".encode()
            ),
            "/listed": answer("listed"),
        }
        crawled = crawl_site(
            site, tmp_path, "-a", f"url={other.url},{site.url}", "-s", "CRAWL_MAX_SITEMAPS=1"
        )
    assert "/listed" in crawled.kept


def feed(*paths: str) -> Trick:
    entries = "".join(f"<item><link>{path}</link></item>" for path in paths)
    return lambda exchange: exchange.answer(f"<rss><channel>{entries}</channel></rss>".encode())


def test_a_refresh_that_leads_nowhere_hides_no_other(tmp_path: Path) -> None:
    refreshes = ("never", "300", "5; url=/next")
    head = "".join(f'<meta http-equiv="refresh" content="{one}">' for one in refreshes)
    with ChangingSite(linked=("/page",)) as site:
        site.put("/page", "page", head=head)
        site.put("/next", "next")
        crawled = crawl_site(site, tmp_path)
    assert "/next" in crawled.kept
