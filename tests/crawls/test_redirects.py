"""Whom a redirect makes a crawl ask, and whom not."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from tests.crawls.crawled import crawl_site
from tests.sites.changing import ChangingSite
from tests.sites.exchange import Exchange

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
