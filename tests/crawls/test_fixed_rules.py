"""Fixed rules are tried on each host, and revoked where they would lose a page."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.crawls.crawled import crawl_site
from tests.sites.changing import ChangingSite, page
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tests.crawls.crawled import Crawled
    from tests.sites.exchange import Exchange

pytestmark = pytest.mark.slow

PAGES = 30
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


def test_all_pages_are_kept_where_fixed_rules_are_wrong(tmp_path: Path) -> None:
    with open_site(whole, range(PAGES)) as site:
        crawled = crawl_site(site, tmp_path / "job")
    wanted = {link for number in range(PAGES) for link in variants(number)}
    assert wanted <= crawled.kept
    assert len(crawled.asked) == len(set(crawled.asked))


def test_a_handful_of_requests_try_fixed_rules_that_are_right(tmp_path: Path) -> None:
    with open_site(without_tracking, range(PAGES)) as site:
        crawled = crawl_site(site, tmp_path / "job")
    for name in ("order", "landing", "cart"):
        assert len(crawled.kept & set(asked(crawled, name))) == PAGES
        assert len(asked(crawled, name)) <= PAGES + 8
