"""Sites whose cookies make no difference but for the visitor's own path, and sites that need them.

A crawl asks for each page and for its second URL once; what it asks for beyond shows what the trial
of cookies costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.pages.needless_cookies import PROOFS
from tests.crawls.command import crawl, pages, report
from tests.sites import sessions
from tests.sites.sessions import PartlyGatedSite, Shop, TracingWiki

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.sites.sessions import SessionSite

pytestmark = pytest.mark.slow

PAGES = 90
MOST_MORE = 120
"""Further requests for a site of any size: pages that came with cookies at first, and checks."""
MANY = ("-s", "CONCURRENT_REQUESTS_PER_DOMAIN=8", "-s", "DOWNLOAD_DELAY=0")
ALL_URLS = (*MANY, "-s", "CRAWL_LEARN_URL_RULES=0")


def kept(folder: Path, site: SessionSite) -> Sequence[str]:
    """The paths of the pages that are kept, one for each capture."""
    rows = pages(folder, "--verdict", "kept")
    return sorted(row["url"].removeprefix(site.origin).partition("?")[0] or "/" for row in rows)


def is_omitted(folder: Path) -> bool:
    return bool(report(folder)["without_cookies"])


@pytest.mark.parametrize("kind", [TracingWiki, Shop])
@pytest.mark.parametrize("words", [30, 150])
def test_a_page_with_the_visitors_path_is_kept_once(
    kind: type[SessionSite], words: int, tmp_path: Path
) -> None:
    with kind(PAGES, is_copied=True, words=words) as site:
        done = crawl(f"{site.origin}/", tmp_path, *ALL_URLS)
        assert kept(tmp_path, site) == sorted(site.paths)
        assert "cookies: none are sent to 127.0.0.1" in done.stdout
        urls = 2 * PAGES - 1
        assert site.asked.total() <= urls + MOST_MORE
        site.asked.clear()
        site.unsent.clear()
        crawl(f"{site.origin}/", tmp_path, *ALL_URLS, "-a", "revisit=yes")
        assert kept(tmp_path, site) == sorted(site.paths)
        assert site.unsent.total() == urls, "the second visit sends none from the first page on"
        assert site.asked.total() <= 1.2 * urls
        outcomes = report(tmp_path)["changes"]["outcomes"]
        assert outcomes["unchanged"] == sum(outcomes.values())


def test_redirects_lead_once_to_a_page_that_many_of_them_lead_to(tmp_path: Path) -> None:
    with sessions.MovedWiki(PAGES) as site:
        crawl(f"{site.origin}/", tmp_path, *ALL_URLS)
        assert is_omitted(tmp_path)
        assert kept(tmp_path, site) == sorted(site.paths)
        asked_with = [path for path, number in site.asked.items() if "/old" in path and number > 1]
        assert len(asked_with) > PAGES / 2, "they may be those of a gate"
        # In the end one redirect is asked for again, without the cookie and with it.
        assert site.asked["/p1"] < PROOFS + 2


def test_a_crawl_that_goes_on_sends_no_cookies_either(tmp_path: Path) -> None:
    with TracingWiki(PAGES, is_copied=True) as site:
        for limit in ("100", "140"):
            crawl(f"{site.origin}/", tmp_path, *ALL_URLS, "-a", f"max_pages={limit}")
        assert is_omitted(tmp_path)
        sent = site.asked.total() - site.unsent.total()
        crawl(f"{site.origin}/", tmp_path, *ALL_URLS)
        assert site.asked.total() - site.unsent.total() < sent + 20, "a few are checked"
        assert kept(tmp_path, site) == sorted(site.paths)


@pytest.mark.parametrize(
    "setting", ["CRAWL_OMIT_COOKIES=0", "CRAWL_OMIT_COOKIES=1", "COOKIES_ENABLED=0"]
)
def test_a_small_site_costs_nothing(setting: str, tmp_path: Path) -> None:
    with TracingWiki(30) as site:
        crawl(f"{site.origin}/", tmp_path, *MANY, "-s", setting)
        assert site.asked.total() == 30
        assert not is_omitted(tmp_path)


def test_cookies_of_the_user_are_always_sent(tmp_path: Path) -> None:
    file = tmp_path / "given.txt"
    file.write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\t99\n")
    with TracingWiki(60) as site:
        crawl(f"{site.origin}/", tmp_path / "crawl", *MANY, "-a", f"cookies={file}")
        assert site.asked.total() == 60
        assert not site.unsent.total()


@pytest.mark.parametrize("kind", [sessions.CountingShop, sessions.ForwardingForum])
def test_cookies_that_make_a_difference_are_sent(kind: type[SessionSite], tmp_path: Path) -> None:
    with kind(PAGES) as site:
        crawl(f"{site.origin}/", tmp_path, *MANY)
        assert kept(tmp_path, site) == sorted(site.paths)
        assert site.asked.total() <= PAGES + 2 * PROOFS
        assert not is_omitted(tmp_path)


def test_a_session_that_has_read_enough_is_given_up(tmp_path: Path) -> None:
    with sessions.PaidPaper(250, words=80) as site:
        crawl(f"{site.origin}/", tmp_path, *MANY)
        texts = [row["text"] for row in pages(tmp_path, "--verdict", "kept")]
        assert is_omitted(tmp_path)
    assert len(texts) == 250
    assert not [text for text in texts if "Subscribe" in text]


@pytest.mark.parametrize("gate", ["choice", "403", "404", "500", "same", "teaser"])
@pytest.mark.parametrize("every", [1, 20])
def test_pages_that_need_a_cookie_are_all_kept(gate: str, every: int, tmp_path: Path) -> None:
    with PartlyGatedSite(gate, 150, every) as site:
        crawl(f"{site.origin}/", tmp_path, *MANY, "-s", "RETRY_TIMES=0")
        kept_rows = pages(tmp_path, "--verdict", "kept")
        titles = {row["url"].removeprefix(site.origin): row["title"] for row in kept_rows}
        assert {path: site.title(path) for path in site.paths}.items() <= titles.items()
        assert not is_omitted(tmp_path)
        is_soon = site.unsent.total() <= 3 * PROOFS
        met = any(path.startswith("/de/") for path, times in site.unsent.items() if times)
        assert is_soon or every > 1, "no proof can do without"
        assert met or not is_soon, "cookies are sent again only where a page wants one"
        assert site.asked.total() <= (150 + 2 * PROOFS if every == 1 else 2.2 * 150)
