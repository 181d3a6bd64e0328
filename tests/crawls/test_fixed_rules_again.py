"""What proved to be a page of its own is found again by links, and by what is no link."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

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


def test_pages_of_their_own_are_found_again_by_another_crawl(tmp_path: Path) -> None:
    with ChangingSite() as site:
        site.robots_txt = ""
        site.added["/order"] = of_query("order", whole)
        site.added["/landing"] = of_query("landing", whole)
        site.added["/headed"] = answer_with_header
        site.linked = (*ORDERS, "/headed")
        assert crawl_site(site, tmp_path).kept >= {*ORDERS, *SOURCES}
        asked = len(site.paths())
        site.linked = (*reversed(ORDERS), "/headed")
        crawl_site(site, tmp_path, "-a", "deny=nothing-of-it")
        again = site.paths()[asked:]
    assert set(again) >= {*ORDERS, *SOURCES}
    assert len(again) == len(set(again)), again
