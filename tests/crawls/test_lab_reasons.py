"""Why two pages are one or two, in a browser: boilerplate, parts, and counts with and without."""

from __future__ import annotations

import json
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

SECTIONS = 30
TEMPLATE = [prose(f"paragraph {number}", 40) for number in range(4)]
CHAPTERS = [prose(f"chapter {number}", 60) for number in range(8)]
FIGURES = {"kept": "kept", "dropped": "dropped", "now-kept": "now_kept"}


class Served(NamedTuple):
    """A crawl, its site, and where its lab is."""

    jobdir: Path
    site: str
    address: str


def html(title: str, paragraphs: list[str], links: list[str]) -> bytes:
    said = "".join(f"<p>{one}</p>" for one in paragraphs)
    shown = "".join(f'<a href="{link}">{link}</a> ' for link in links)
    return (
        f"<!DOCTYPE html><title>{title}</title><body><main><article>{said}</article></main>"
        f"<nav>{shown}</nav></body>"
    ).encode()


def pages() -> dict[str, bytes]:
    """Sections of an act, which nothing but a fee tells apart, a book, and a chapter of it.

    The book leads to the chapter: only what comes later than the whole is dropped as its part.
    """
    links = [*(f"/act/{number}" for number in range(SECTIONS)), "/book"]
    served = {"/": html("Act", [prose("start", 80)], links)}
    for number in range(SECTIONS):
        fee = f"The fee under this section is {100 + 7 * number} crowns a year, due in {number}."
        served[f"/act/{number}"] = html("Act", [*TEMPLATE, fee], [])
    served["/book"] = html("Book", CHAPTERS, ["/print"])
    served["/print"] = html("Book", CHAPTERS[2:5], [])
    return served


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    jobdir = tmp_path_factory.mktemp("lab") / "job"
    with ManyPages(pages()) as site:
        crawl(site.url, jobdir)
        address = site.url
    done = scrapy("rejudge", str(jobdir))
    assert done.returncode == 0, done.stderr
    with lab(str(jobdir)) as running:
        yield Served(jobdir, address, running.address)


@pytest.fixture
def page(browsers: Browsers, served: Served) -> Page:
    return Page(browsers.online, served.address)


def show_counts(page: Page) -> None:
    page.tab("Threshold")
    page.wait(lambda: page.count("kept") > 0)


def switch(page: Page, name: str, position: str) -> None:
    """Move a switch, and wait for the counts of a choice with its other position."""
    page.one(f"[aria-label={name}]").click()
    word = f"{name}:{position}/"
    page.wait(lambda: word in (page.one(".figures").get_attribute("data-choice") or ""))


def layers(page: Page) -> dict[str, int]:
    """Pages by layer, by what is tried."""
    rows = [row.find_elements("css selector", "td") for row in page.all(".layers tbody tr")]
    return {cells[0].text: int(cells[3].text) for cells in rows}


def test_sections_are_kept_by_what_they_say_besides_boilerplate(page: Page, served: Served) -> None:
    show_counts(page)
    resembling = "Near a page of another name or content"
    page.wait(lambda: layers(page).get(resembling) == SECTIONS - 1)
    assert page.count("now-kept") == page.count("now-dropped") == 0
    switch(page, "ignore_boilerplate", "off")
    sweep = ("sweep", str(served.jobdir), "--json", "--max-distance", "3")
    done = scrapy(*sweep, "--no-ignore-boilerplate", "--min-similarity", "0.8")
    (line,) = json.loads(done.stdout)["lines"]
    assert {name: page.count(name) for name in FIGURES} == {
        name: line[key] for name, key in FIGURES.items()
    }
    assert page.count("dropped") == SECTIONS - 1


def test_a_part_is_dropped_on_wish_and_listed_else(page: Page, served: Served) -> None:
    show_counts(page)
    page.wait(lambda: page.one("[data-list=parts]").text.endswith("part of another kept page: –"))
    page.press("Look for parts")
    page.wait(lambda: "part of another kept page: 1" in page.one("[data-list=parts]").text)
    page.one("[data-list=parts] .q-item").click()
    page.wait(lambda: page.all(".page-row"))
    row = page.one(".page-row").text
    assert f"{served.site}print" in row
    assert "is a part, containment 1.00:" in row
    assert row.endswith(f"{served.site}book")
    switch(page, "drop_contained", "on")
    page.wait(lambda: layers(page).get("Part of a kept page") == 1)
    assert page.count("now-dropped") == 1
    page.tab("Clusters")
    page.wait(lambda: "a part of it, containment 1.00" in page.text())


def test_two_sections_are_two_pages_for_their_rests(page: Page) -> None:
    page.tab("Pairs")
    page.wait(lambda: page.all("[data-reason=rest]"))
    assert "they say other things: 0." in page.one("[data-reason=rest]").text
    assert "Neither is a part" in page.one("[data-reason=part]").text
    page.one(".pair-view > .side-rows .unfold").click()
    page.wait(lambda: TEMPLATE[1] in page.one(".pair-view > .side-rows").text.replace("\n", " "))
    repeated = [one.text for one in page.all(".piece.repeated")]
    assert repeated
    assert not any("fee" in words for words in repeated)


def test_a_chapter_is_told_to_be_a_part_of_its_book(page: Page, served: Served) -> None:
    page.tab("Compare")
    for place, name in (("first", "book"), ("second", "print")):
        page.one(f".given-{place} textarea").send_keys(f"{served.site}{name}")
    page.press("Compare")
    page.wait(lambda: page.all("[data-reason=part]"))
    assert page.one("[data-reason=part]").text == (
        "The right page is a part of the left page: 1.000 of its shingles stand there."
    )
    assert page.one(".suggestion").text.startswith("New: ")
    done = scrapy(
        *("compare", f"{served.site}book", f"{served.site}print", "--json"),
        *("--crawl", str(served.jobdir)),
    )
    found = json.loads(done.stdout)
    assert found["part"] == {"of": "first", "containment": 1.0}
    assert found["verdict"] == "new"


def test_a_page_names_the_one_that_it_is_a_part_of(page: Page, served: Served) -> None:
    page.tab("Live")
    page.wait(lambda: page.all(".pages tbody tr"))
    next(row for row in page.all(".pages tbody tr") if "/print" in row.text).click()
    page.wait(lambda: f"is a part of\n{served.site}book" in page.one(".q-dialog").text)
