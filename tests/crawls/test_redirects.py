"""Whom a redirect makes a crawl ask, and whom not."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tests.crawls.crawled import crawl_site
from tests.sites.changing import ChangingSite, page
from tests.sites.exchange import Exchange
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path


def test_redirects_out_of_the_scope_are_refused_before_they_are_asked(tmp_path: Path) -> None:
    with ChangingSite() as site:
        there = site.origin.replace("127.0.0.1", "127.0.0.2")
        ways = {
            "/out": f"{there}/stranger",
            "/logout": "/end",
            "/through": f"{there}/check?back={site.at('/p')}",
            "/check": site.at("/p"),
            "/odd": site.at("/q").replace("//", "//@"),
        }
        for path, target in ways.items():
            site.added[path] = partial(Exchange.redirect, location=target)
        for name in ("p", "q", "stranger", "end"):
            site.put(f"/{name}", name)
        site.linked = ("/out", "/logout", "/through", "/odd")
        crawled = crawl_site(site, tmp_path, "-a", "deny=/end")
        hosts = {(one.headers["host"].partition(":")[0], one.path) for one in site.asked}
    assert {"/p", "/q"} <= crawled.kept
    assert not {path for _, path in hosts} & {"/stranger", "/end"}
    assert ("127.0.0.2", "/check?back=" + site.at("/p")) in hosts
    reasons = {path: crawled.rows[path]["reason"] for path in ("/out", "/logout")}
    assert set(reasons.values()) == {"redirected out of the scope"}


def test_the_page_of_a_redirect_that_leads_nowhere_is_kept(tmp_path: Path) -> None:
    with ChangingSite() as site:
        site.put("/behind", "behind")
        ways = ("/choices", "/moved", "/other", "/empty")
        for way, status in zip(ways, (300, 301, 308, 302), strict=True):
            body = page(prose(way, 200), ["/behind"])
            headers = {"Location": ""} if way == "/empty" else None
            site.added[way] = partial(Exchange.answer, body=body, status=status, headers=headers)
        site.linked = ways
        crawled = crawl_site(site, tmp_path)
    assert {*ways, "/behind"} <= crawled.kept
