"""The judged and the shown text of pages, in a browser and on a terminal."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.crawls.command import crawl, scrapy
from tests.crawls.lab import Page, lab
from tests.sites.many import ManyPages
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.browsing.walk import Browsers

PARAGRAPHS = [prose(f"paragraph {number}", 60) for number in range(4)]
JUDGED, SHOWN = "Judged text", "Shown text"


class Served(NamedTuple):
    """A crawl, its site, and where its lab is."""

    jobdir: Path
    site: str
    address: str

    def urls(self) -> tuple[str, str]:
        return f"{self.site}one", f"{self.site}two"

    def shown_as(self) -> tuple[str, str]:
        """Type and source of the first page, as the crawl stored them."""
        sql = "SELECT page_type, content_source FROM pages WHERE url LIKE '%/one'"
        with closing(sqlite3.connect(self.jobdir / "crawl.db")) as connection:
            page_type, source = connection.execute(sql).fetchone()
        return page_type, source


def html(paragraphs: list[str], stock: str) -> bytes:
    said = "".join(f"<p>{one}</p>" for one in paragraphs)
    return (
        "<!DOCTYPE html><html lang=en><title>The mill</title><body>"
        '<nav><a href="/one">one</a> <a href="/two">two</a></nav>'
        f"<article><h1>The mill</h1>{said}</article>"
        f'<aside class="sidebar stock"><p>{stock}</p></aside></body></html>'
    ).encode()


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Two pages that differ in a word of the article, and in what stands beside it."""
    jobdir = tmp_path_factory.mktemp("lab") / "job"
    other = [PARAGRAPHS[0], f"Otherwise {PARAGRAPHS[1]}", *PARAGRAPHS[2:]]
    pages = {
        "/": html([prose("start", 200)], "Closed."),
        "/one": html(PARAGRAPHS, "In stock: seventeen sacks."),
        "/two": html(other, "In stock: nineteen sacks."),
    }
    with ManyPages(pages) as site:
        crawl(site.url, jobdir)
        address = site.url
    with lab(str(jobdir)) as running:
        yield Served(jobdir, address, running.address)


@pytest.fixture
def page(browsers: Browsers, served: Served) -> Page:
    return Page(browsers.online, served.address)


def changed(page: Page, within: str) -> list[str]:
    return [one.text for one in page.all(f"{within} .piece.removed, {within} .piece.added")]


def test_a_page_shows_either_text_with_its_type_and_its_source(page: Page, served: Served) -> None:
    page.wait(lambda: len(page.all(".pages tbody tr")) == 3)
    next(row for row in page.all(".pages tbody tr") if "/one" in row.text).click()
    page.wait(lambda: "seventeen sacks" in page.one(".page-text .text").text)
    page_type, source = served.shown_as()
    words = page.one(".q-dialog [data-content]").text
    assert words.startswith(f"{page_type}, shown from ")
    assert source in words
    page.press(SHOWN)
    page.wait(lambda: "seventeen sacks" not in page.one(".page-text .text").text)
    assert PARAGRAPHS[3] in page.one(".page-text .text").text
    assert "no verdict rests on it" in page.one(".q-dialog").text
    page.press(JUDGED)
    page.wait(lambda: "seventeen sacks" in page.one(".page-text .text").text)


def test_pages_of_a_file_are_shown_as_they_are_read(browsers: Browsers, tmp_path: Path) -> None:
    page = {"url": "http://a.example/page", "html": html(PARAGRAPHS, "In stock: ten.").decode()}
    text = {"url": "http://a.example/text", "text": f"{PARAGRAPHS[0]} <b>bold</b>"}
    file = tmp_path / "pages.jsonl"
    file.write_text(f"{json.dumps(page)}\n{json.dumps(text)}\n")
    with lab(str(file)) as running:
        window = Page(browsers.online, running.address)
        window.wait(lambda: len(window.all(".pages tbody tr")) == 2)
        window.all(".pages tbody tr")[0].click()
        window.wait(lambda: "<b>bold</b>" in window.one(".page-text .text").text)
        assert window.one("[data-content]").text.endswith("shown from the lines of its text")
        window.press("Close")
        window.wait(lambda: not window.all(".q-dialog"))
        window.all(".pages tbody tr")[1].click()
        window.wait(lambda: "In stock" in window.one(".page-text .text").text)
        window.press(SHOWN)
        window.wait(lambda: "In stock" not in window.one(".page-text .text").text)


def test_a_pair_is_compared_by_either_text(page: Page) -> None:
    page.tab("Pairs")
    page.wait(lambda: changed(page, ".pair-view"))
    assert {"seventeen", "nineteen", "Otherwise"} <= set(changed(page, ".pair-view"))
    assert len(page.all(".heads [data-content]")) == 2
    page.press(SHOWN)
    page.wait(lambda: changed(page, ".pair-view") == ["Otherwise"])
    assert "The shown texts differ in 1 place." in page.one(".pair-view").text
    page.press(JUDGED)
    page.wait(lambda: "seventeen" in changed(page, ".pair-view"))


def test_urls_and_given_texts_are_compared_by_either_text(page: Page, served: Served) -> None:
    page.tab("Compare")
    for place, url in zip(("first", "second"), served.urls(), strict=True):
        page.one(f".given-{place} textarea").send_keys(url)
    page.press("Compare")
    page.wait(lambda: "The judged texts differ in" in page.text())
    measures = page.one(".measures-card").text
    assert "seventeen" in changed(page, ".side-rows")
    page.press(SHOWN)
    page.wait(lambda: "The shown texts differ in 1 place" in page.text())
    assert changed(page, ".side-rows") == ["Otherwise"]
    assert page.one(".measures-card").text == measures
    field = page.one(".given-second textarea")
    field.clear()
    field.send_keys(PARAGRAPHS[0])
    page.press("Compare")
    page.wait(lambda: page.one(".measures-card").text != measures)
    assert "Otherwise" not in changed(page, ".side-rows")


def test_the_command_says_the_same(served: Served) -> None:
    found = {}
    for text in ("judged", "shown"):
        looked_up = ("--crawl", str(served.jobdir), "--text", text)
        done = scrapy("compare", *served.urls(), *looked_up, "--json")
        assert done.returncode == 0, done.stderr
        found[text] = json.loads(done.stdout)
    assert "{+nineteen+}" in found["judged"]["diff"]
    assert "nineteen" not in found["shown"]["diff"]
    assert "{+Otherwise+}" in found["shown"]["diff"]
    assert found["shown"]["compared_text"] == "shown"
    first = found["shown"]["first"]
    assert (first["page_type"], first["content_source"]) == served.shown_as()
    for both in found.values():
        del both["diff"], both["compared_text"]
    assert found["judged"] == found["shown"]
