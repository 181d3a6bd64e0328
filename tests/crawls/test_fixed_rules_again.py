"""What proved to be a page of its own is found again by links, and by what is no link."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.storage.database import open_for_reading
from crawler.url_rules.variants import tried_rules
from tests.crawls.crawled import crawl_site
from tests.crawls.test_fixed_rules import of_query, whole
from tests.sites.changing import ChangingSite, page
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.exchange import Exchange

pytestmark = pytest.mark.slow

ORDERS = ["/order?a=1&b=2", "/order?b=2&a=1"]
SOURCES = ["/landing?utm_source=one", "/landing?utm_source=two"]


def answer_with_header(exchange: Exchange) -> None:
    links = ", ".join(f'<{url}>; rel="next"' for url in SOURCES)
    exchange.answer(page(prose("headed", 150)), headers={"Link": links})


def redirect_by_query(exchange: Exchange) -> None:
    path, _, query = exchange.path.partition("?")
    name = "first" if query.startswith("a") else "second"
    exchange.redirect(f"/{name}{path[-1]}")


def redirect_anywhere(exchange: Exchange) -> None:
    exchange.redirect(f"/same{exchange.path.partition('?')[0][-1]}")


def test_pages_of_their_own_are_found_again_by_another_crawl(tmp_path: Path) -> None:
    with ChangingSite() as site:
        site.robots_txt = ""
        site.added["/order"] = of_query("order", whole)
        site.added["/landing"] = of_query("landing", whole)
        site.added["/headed"] = answer_with_header
        site.added["/last"] = of_query("last", whole)
        last = ["/last?utm_source=one", "/last"]  # the canonical URL is linked after another one
        site.linked = (*ORDERS, "/headed", *last)
        assert crawl_site(site, tmp_path).kept >= {*ORDERS, *SOURCES, *last}
        asked = len(site.paths())
        site.linked = (*reversed(ORDERS), "/headed")
        crawl_site(site, tmp_path, "-a", "deny=nothing-of-it")
        again = site.paths()[asked:]
    assert set(again) >= {*ORDERS, *SOURCES}
    assert len(again) == len(set(again)), again


def test_pages_to_which_variants_are_redirected_are_compared(tmp_path: Path) -> None:
    orders = ("a=1&b=2", "b=2&a=1")
    links = {way: [f"/{way}{n}?{o}" for n in range(4) for o in orders] for way in ("no", "go/")}
    with ChangingSite() as site:
        site.robots_txt = ""
        for number in range(4):
            site.added[f"/no{number}"] = redirect_anywhere
            site.added[f"/go/{number}"] = redirect_by_query
            for target in ("first", "second", "same"):
                site.added[f"/{target}{number}"] = of_query(f"{target}{number}", whole)
        site.linked = (*links["no"], *links["go/"])
        crawled = crawl_site(site, tmp_path)
    assert set(crawled.asked) >= set(links["go/"])  # their ends differ
    with closing(open_for_reading(tmp_path)) as connection:
        ((_, _, rule),) = tried_rules(connection.execute)
    assert rule.reason is not None
    assert "/second" in rule.reason
    assert rule.positives >= 1
