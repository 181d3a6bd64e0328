"""Fixed rules are tried on each host, and revoked where they would lose a page."""

from __future__ import annotations

import random
from collections import Counter
from contextlib import closing
from html import escape
from itertools import chain as chain_of
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urljoin, urlsplit

import pytest

from crawler.storage.database import open_for_reading
from crawler.url_rules.variants import MAX_PLACES
from tests.crawls.command import scrapy, start_scrapy
from tests.crawls.crawled import crawl_site
from tests.crawls.fleet import fleet_settings
from tests.crawls.mirrored import check, mirror
from tests.crawls.test_foreign import make_project, run
from tests.sites.changing import ChangingSite, page
from tests.sites.prose import prose
from tests.waiting import some_moment, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.crawls.crawled import Crawled
    from tests.sites.exchange import Exchange

pytestmark = pytest.mark.slow

PAGES = 10
SOURCES = ("one", "two", "three")


def session(number: int) -> str:
    return f"PHPSESSID={number:032x}"


def of_query(name: str, matters: Callable[[str], str]) -> Callable[[Exchange], None]:
    """A page with a text of its own for each part of its query that matters."""

    def answer(exchange: Exchange) -> None:
        part = matters(urlsplit(exchange.path).query)
        exchange.answer(page(prose(f"{name} {part}", 150)))

    return answer


def whole(query: str) -> str:
    return query


def without_tracking(query: str) -> str:
    kept = [part for part in query.split("&") if not part.startswith(("utm_", "PHPSESSID"))]
    return "&".join(sorted(kept))


def variants(number: int) -> list[str]:
    """Links to a page: in two orders, from three sources, in three sessions."""
    orders = [f"/order{number}?a=1&b=2", f"/order{number}?b=2&a=1"]
    sources = [f"/landing{number}?utm_source={source}" for source in SOURCES]
    sessions = [f"/cart{number}?{session(number * 10 + one)}" for one in range(3)]
    return [*orders, *sources, f"/landing{number}", *sessions]


def open_site(matters: Callable[[str], str], numbers: Sequence[int]) -> ChangingSite:
    site = ChangingSite()
    site.robots_txt = ""
    for number, name in product(numbers, ("order", "landing", "cart")):
        site.added[f"/{name}{number}"] = of_query(f"{name}{number}", matters)
    site.linked = tuple(link for number in numbers for link in variants(number))
    return site


def asked(crawled: Crawled, name: str) -> list[str]:
    return [path for path in crawled.asked if path.startswith(f"/{name}")]


def linked_pages(numbers: Sequence[int]) -> set[str]:
    return {link for number in numbers for link in variants(number)}


def keys(jobdir: Path) -> dict[str, bytes]:
    with closing(open_for_reading(jobdir)) as connection:
        rows = connection.execute("SELECT url, key FROM pages WHERE latest = 1").fetchall()
        return dict(rows)


def test_all_pages_are_kept_where_fixed_rules_are_wrong(tmp_path: Path) -> None:
    with open_site(whole, range(PAGES)) as site:
        crawled = crawl_site(site, tmp_path, "-s", "WARC_ENABLED=True")
        assert linked_pages(range(PAGES)) <= crawled.kept
        replayed = scrapy(
            *("crawl", "replay", "-a", f"warc={tmp_path / 'warc'}"),
            *("-s", f"JOBDIR={tmp_path / 'replayed'}", "-s", "LOG_LEVEL=ERROR"),
        )
        assert replayed.returncode == 0, replayed.stdout + replayed.stderr
        with closing(open_for_reading(tmp_path / "replayed")) as connection:
            texts = "SELECT count(DISTINCT text_digest) FROM pages WHERE latest = 1"
            (count,) = connection.execute(texts).fetchone()
        assert count == len(crawled.kept), "the archive has every page"
        assert len(crawled.asked) <= len(set(crawled.asked)) + MAX_PLACES  # a control a trial
        before = keys(tmp_path)
        again = crawl_site(site, tmp_path, "-a", "revisit=yes")
    assert again.asked.count("/") == 2
    assert keys(tmp_path) == before
    assert again.kept == crawled.kept
    verified = scrapy("verify", str(tmp_path))
    assert verified.returncode == 0, verified.stdout
    ended = scrapy("rules", str(tmp_path)).stdout.partition("rules that no longer hold:")[2]
    assert ": sort_arguments (docs/urls.md)\n     revoked: " in ended


def test_a_handful_of_requests_try_fixed_rules_that_are_right(tmp_path: Path) -> None:
    with open_site(without_tracking, range(3 * PAGES)) as site:
        crawled = crawl_site(site, tmp_path)
    for name in ("order", "landing", "cart"):
        assert len(crawled.kept & set(asked(crawled, name))) == 3 * PAGES
        assert len(asked(crawled, name)) <= 3 * PAGES + 5


def test_what_a_sitemap_names_is_requested_though_a_fixed_rule_skipped_it(tmp_path: Path) -> None:
    """A page of its own, which both a fixed rule and a learned one take for another."""
    secret = "/shop/item?view=secret&id=7"
    chain = 40  # so far away is the page that proves the fixed rule wrong

    def item(exchange: Exchange) -> None:
        query = urlsplit(exchange.path).query
        name = "the secret" if query == urlsplit(secret).query else dict(parse_qsl(query))["id"]
        exchange.answer(page(prose(f"item {name}", 150)))

    with ChangingSite() as site:
        site.added["/shop/item"] = item
        site.added["/early/e"] = of_query("early", lambda _: "")
        site.added["/deep/t"] = of_query("deep", whole)
        for number in range(chain):
            last = ["/deep/t?a=1&b=2", "/deep/t?b=2&a=1"]
            links = [f"/chain{number + 1}"] if number < chain - 1 else last
            site.put(f"/chain{number}", f"chain {number}", links)
        items = [(f"/shop/item?id={n}", f"/shop/item?id={n}&view=x{n % 3}") for n in range(80)]
        site.linked = (*chain_of(*items), "/chain0")
        listed = [
            *("/early/e?a=1&b=2", "/early/e?b=2&a=1", "/shop/item?id=7&view=secret"),
            *("/shop/item?id=8&view=secret", "/shop/item?view=secret&id=8", secret),
        ]
        places = "".join(f"<url><loc>{site.origin}{escape(url)}</loc></url>" for url in listed)
        urls = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{places}</urlset>'
        site.added["/map.xml"] = lambda exchange: exchange.answer(urls.encode(), "application/xml")
        site.robots_txt = f"User-agent: *\nAllow: /\nSitemap: {site.origin}/map.xml\n"
        crawled = crawl_site(site, tmp_path)
    assert secret in crawled.kept


def wiki_links(number: int) -> list[str]:
    """Links of a wiki to a page: as people write them, and as its forms do."""
    return [f"/doku?id=a:{number}{rest}" for rest in ("", "&do=")] + [f"/doku?id=a%3A{number}&do="]


@pytest.mark.parametrize("is_wrong", [False, True])
def test_escapes_and_blank_arguments_of_a_query_are_tried(
    tmp_path: Path, *, is_wrong: bool
) -> None:
    def same(query: str) -> str:
        return unquote(query).removesuffix("&do=")

    links = [link for number in range(3 * PAGES) for link in wiki_links(number)]
    with ChangingSite(tuple(links)) as site:
        site.robots_txt = ""
        site.added["/doku"] = of_query("wiki", whole if is_wrong else same)
        crawled = crawl_site(site, tmp_path)
    if is_wrong:
        assert set(links) <= crawled.kept
    else:
        assert len(crawled.kept & set(links)) == 3 * PAGES
        assert len(asked(crawled, "doku")) <= 3 * PAGES + 2 * MAX_PLACES


def test_a_killed_crawl_keeps_all_pages(tmp_path: Path) -> None:
    chance = random.Random(23)
    with open_site(whole, range(PAGES)) as site:
        arguments = ["crawl", "site", "-a", f"url={site.url}", "-s", f"JOBDIR={tmp_path}"]
        for pages in (5, 20, 30):
            target = len(site.paths()) + pages
            process = start_scrapy(*arguments)
            wait_until(lambda: len(site.paths()) >= target or process.poll() is not None)  # noqa: B023
            some_moment(chance, 0.5)
            process.kill()
            process.communicate()
        crawled = crawl_site(site, tmp_path)
    assert linked_pages(range(PAGES)) <= crawled.kept


def test_a_fleet_requests_each_variant(redis_url: str, tmp_path: Path) -> None:
    settings = fleet_settings(redis_url, tmp_path).items()
    with open_site(whole, range(2)) as site:
        options = [text for name, value in settings for text in ("-s", f"{name}={value}")]
        crawled = crawl_site(site, tmp_path, *options)
    assert linked_pages(range(2)) <= crawled.kept


def test_a_foreign_spider_gets_each_variant(tmp_path: Path) -> None:
    make_project(tmp_path, "html", "text")
    with open_site(whole, range(2)) as site:
        items = run(tmp_path, site.url, "-s", f"JOBDIR={tmp_path / 'job'}")
        asked = Counter(site.paths())
    urls = {str(item["url"]).removeprefix(site.url.rstrip("/")) for item in items}
    assert linked_pages(range(2)) <= urls
    assert max(asked.values()) == 1


@pytest.mark.parametrize("text", ["--text", "--no-text"])
def test_a_mirror_has_a_file_for_each_page(text: str, tmp_path: Path) -> None:
    with open_site(whole, range(4)) as site:
        mirrored = mirror(site.url, tmp_path, text)
        start = mirrored.path_of(site.url)
        assert start is not None
        paths = {link: mirrored.path_of(site.at(link)) for link in linked_pages(range(4))}
    assert None not in paths.values()
    assert len(set(paths.values())) == len(paths)
    assert set(paths.values()) <= mirrored.targets(start)
    assert check(tmp_path).returncode == 0


def test_a_link_of_a_mirror_leads_to_the_page_that_a_skipped_url_stands_for(tmp_path: Path) -> None:
    orders = [f"/order{number}?{order}" for number in range(6) for order in ("a=1&b=2", "b=2&a=1")]
    skipped = [f"{order}&utm_source=x" for order in orders]

    def ordered(query: str) -> str:
        return "&".join(part for part in query.split("&") if not part.startswith("utm_"))

    with ChangingSite() as site:
        site.robots_txt = ""
        for number in range(6):
            site.added[f"/order{number}"] = of_query(f"order{number}", ordered)
        site.linked = (*orders, *skipped)
        mirrored = mirror(site.url, tmp_path)
        start = mirrored.path_of(site.url)
        assert len(site.paths()) < len(orders) + len(skipped), "some are skipped"
    assert start is not None
    targets = dict(zip(site.linked, mirrored.addresses(start), strict=True))
    texts = {link: mirrored.read(unquote(urljoin(start, to))) for link, to in targets.items()}
    assert [texts[link] for link in skipped] == [texts[link] for link in orders]
    assert len({texts[link] for link in orders}) == len(orders)
