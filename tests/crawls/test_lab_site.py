"""The tab Site in a browser: what a site's owner asks, of one small crawl."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from crawler.lab.site_links import KindLinks, read_site
from tests.crawls.command import crawl, scrapy
from tests.crawls.lab import Page, lab
from tests.sites.many import ManyPages
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.browsing.walk import Browsers

ARTICLES = 24
ELSEWHERE = "http://elsewhere.example/"


def page(title: str, text: str, links: str = "") -> bytes:
    return (
        f"<!DOCTYPE html><html lang=en><title>{title}</title><body><main><article><p>{text}</p>"
        f"</article></main><nav>{links}</nav></body></html>"
    ).encode()


def served() -> dict[str, bytes]:
    """Articles under two URLs each, whose ``sid`` means nothing, and links that lead nowhere."""
    articles = {
        f"/read?id={number}&sid={session}{number:04}": page(
            f"Article {number}", prose(f"article {number}", 120), '<a href="/gone">gone</a>'
        )
        for session in (1, 2)
        for number in range(ARTICLES)
    }
    hidden = f'<a rel=nofollow href="{ELSEWHERE}">elsewhere</a>'
    links = "".join(f'<a href="{path.replace("&", "&amp;")}">x</a>' for path in articles)
    return {"/": page("Index", prose("index", 80), links + hidden), **articles}


@pytest.fixture(scope="module")
def jobdir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "job"
    with ManyPages(served()) as site:
        crawl(site.url, folder)
    return folder


@pytest.fixture(scope="module")
def window(browsers: Browsers, jobdir: Path) -> Iterator[Page]:
    with lab(str(jobdir)) as running:
        shown = Page(browsers.online, running.address)
        shown.tab("Site")
        shown.wait(lambda: "pages with a text" in shown.one(".counted-pages").text)
        yield shown


def test_links_are_counted_by_kind(jobdir: Path) -> None:
    site = read_site(jobdir)
    fetched = site.pages - 1
    assert site.counted == site.pages > ARTICLES
    (anchors,) = site.links
    assert anchors == KindLinks(
        "anchor",
        links=2 * ARTICLES + 1 + fetched,
        internal=2 * ARTICLES + fetched,
        external=1,
        nofollow=1,
        broken=fetched,
    )
    (broken,) = site.broken
    assert broken.url.endswith("/gone")


def test_links_templates_and_broken_pages_are_shown(window: Page, jobdir: Path) -> None:
    (anchors,) = read_site(jobdir).links
    cells = [row.text.split() for row in window.all(".links tbody tr")]
    assert cells == [["anchor", *(str(number) for number in anchors[1:])]]
    (template,) = [row.text.split() for row in window.all(".templates tbody tr")]
    assert template[0].endswith("/read?id=&sid=")
    fetched, dropped, originals = map(int, template[1:])
    assert fetched - dropped == ARTICLES
    assert dropped == originals > 0
    (row,) = window.all(".broken-row")
    assert "/gone" in row.text
    assert "HTTP 404" in row.text
    assert "/read?id=" in row.text
    window.one(".broken-row").find_element("xpath", "../..").find_element(
        "css selector", ".search input"
    ).send_keys("nowhere")
    window.wait(lambda: not window.all(".broken-row"))


def test_a_rule_is_shown_with_its_evidence_and_forgotten_after_a_question(
    window: Page, jobdir: Path
) -> None:
    (rule,) = json.loads(scrapy("rules", str(jobdir), "--json").stdout)["rules"]
    shown = f"[data-rule='{rule['id']}']"
    assert rule["what"] in window.one(shown).text
    assert "texts under two URLs each, none that differed" in window.one(shown).text
    window.click(f"{shown} .forget")
    window.wait(lambda: "does not learn this rule again" in window.text())
    window.press("Cancel")
    window.wait(lambda: not window.all(".q-dialog .q-card"))
    assert "forgotten" not in window.one(shown).text
    window.click(f"{shown} .forget")
    window.click(".q-dialog .confirm")
    window.wait(lambda: "forgotten by the user" in window.one(shown).text)
    assert not window.all(f"{shown} .forget")
    (after,) = json.loads(scrapy("rules", str(jobdir), "--json").stdout)["rules"]
    assert after["state"] == "forgotten"
