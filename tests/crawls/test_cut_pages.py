"""Crawls of pages of which only a part comes: each is kept, and so is each page like it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawls.crawled import crawl_site
from tests.sites.exchange import HTML
from tests.sites.hostile import HostileSite
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.exchange import Exchange

pytestmark = pytest.mark.slow

QUICK = ("-s", "CRAWL_PAUSE_SECS=0.05")
SHARED, REST = prose("shared", 300), prose("rest", 200)


def page(link: str, text: str) -> bytes:
    return f'<title>Shared</title><body><a href="{link}">on</a><p>{text}</p></body>'.encode()


def send_part(exchange: Exchange) -> None:
    content = page("/whole", SHARED + REST)
    exchange.head(200, {"Content-Type": HTML, "Content-Length": str(len(content))})
    exchange.wfile.write(content[: content.index(REST.encode())])
    exchange.wfile.flush()
    exchange.hang_up()


@pytest.mark.parametrize("first", ["/part", "/whole"])
def test_part_and_page_that_say_the_same_so_far_are_both_kept(tmp_path: Path, first: str) -> None:
    with HostileSite(linked=(first,)) as site:
        site.added["/part"] = send_part
        site.added["/whole"] = lambda exchange: exchange.answer(page("/part", SHARED))
        crawled = crawl_site(site, tmp_path, *QUICK)
    assert {"/part", "/whole"} <= crawled.kept
    assert crawled.rows["/part"]["reason"] == "truncated: the server sent less than it said"
    assert REST not in crawled.rows["/part"]["text"]
