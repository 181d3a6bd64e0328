"""The tab Pairs in a browser: labels by keys, stored at once in the crawl's own database."""

from __future__ import annotations

import shutil
import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from crawler.demo.demo_server import DemoServer
from tests.crawls.command import crawl
from tests.crawls.lab import Page, lab
from tests.crawls.test_lab import variants
from tests.sites.many import ManyPages

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.browsing.walk import Browsers

READ_SECS = 3
"""In which a lab has read anew what was replaced."""


class Served(NamedTuple):
    """A crawl, and where its lab is."""

    jobdir: Path
    address: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    jobdir = tmp_path_factory.mktemp("lab") / "job"
    with DemoServer() as site:
        crawl(site.url, jobdir)
    with lab(str(jobdir)) as running:
        yield Served(jobdir, running.address)


@pytest.fixture(scope="module")
def window(browsers: Browsers, served: Served) -> Page:
    return Page(browsers.online, served.address)


@pytest.fixture
def page(window: Page) -> Page:
    """A window in which a pair without a label can be read."""
    show_pairs(window)
    assert label(window) == "unlabelled"
    return window


def show_pairs(page: Page) -> None:
    page.tab("Pairs")
    page.wait(lambda: page.all(".pairs .head-title"))


def stored(served: Served) -> list[str]:
    """The labels in the database, oldest first."""
    with closing(sqlite3.connect(served.jobdir / "crawl.db")) as connection:
        rows = connection.execute("SELECT label FROM labels ORDER BY labelled_at").fetchall()
    return [label for (label,) in rows]


def press(page: Page, keys: str) -> None:
    ActionChains(page.driver).send_keys(keys).perform()


def place(page: Page) -> str:
    return page.one("[data-place]").text


def label(page: Page) -> str:
    return page.one(".badge").text


def count(page: Page) -> int:
    """Labelled pairs, by the counter."""
    return int(page.one("[data-labelled]").text.split()[0])


def test_arrows_walk_and_stop_at_the_ends(page: Page) -> None:
    assert place(page).startswith("1 of ")
    press(page, Keys.ARROW_LEFT * 3)
    press(page, Keys.ARROW_RIGHT)
    page.wait(lambda: place(page).startswith("2 of "))
    press(page, Keys.ARROW_LEFT)
    page.wait(lambda: place(page).startswith("1 of "))


def test_differences_are_marked_and_equal_words_unfold(page: Page) -> None:
    assert page.all(".piece.removed")
    assert page.all(".piece.added")
    shown = len(page.one(".pair-view > .side-rows").text)
    page.all(".unfold")[0].click()
    page.wait(lambda: len(page.one(".pair-view > .side-rows").text) > shown + 100)
    assert "shingles of 5 words" in page.one(".shingles").text


def test_label_is_stored_at_once_and_survives_a_reload(page: Page, served: Served) -> None:
    labelled, first = count(page), page.one(".heads").text
    press(page, "d")
    page.wait(lambda: count(page) == labelled + 1)
    page.wait(lambda: page.one(".heads").text != first)
    assert stored(served)[-1] == "duplicate"
    page.wait(lambda: label(page) == "unlabelled")
    second = page.one(".heads").text
    press(page, "n")
    page.wait(lambda: count(page) == labelled + 2)
    page.wait(lambda: page.one(".heads").text != second)
    assert stored(served)[-1] == "different"

    page.driver.refresh()
    page.wait(lambda: page.driver.execute_script("return window.did_handshake"))
    show_pairs(page)
    assert count(page) == labelled + 2
    assert page.one(".heads").text not in (first, second)
    assert label(page) == "unlabelled"


def test_undo_goes_back_to_the_last_label_and_removes_it(page: Page, served: Served) -> None:
    before, first = stored(served), page.one(".heads").text
    press(page, "d")
    page.wait(lambda: page.one(".heads").text != first)
    press(page, "u")
    page.wait(lambda: page.one(".heads").text == first)
    page.wait(lambda: label(page) == "unlabelled")
    assert stored(served) == before


def test_buttons_do_what_keys_do_and_leave_the_keys_working(page: Page, served: Served) -> None:
    before, first = stored(served), page.one(".heads").text
    page.one("[aria-keyshortcuts=N]").click()
    page.wait(lambda: page.one(".heads").text != first)
    assert len(stored(served)) == len(before) + 1
    press(page, "u")
    page.wait(lambda: page.one(".heads").text == first)
    assert stored(served) == before


def test_keys_mean_nothing_with_others_or_in_a_field(page: Page, served: Served) -> None:
    before, first, at = stored(served), page.one(".heads").text, place(page).split()[0]
    ActionChains(page.driver).key_down(Keys.ALT).send_keys("d").key_up(Keys.ALT).perform()
    page.driver.execute_script("document.querySelector('[data-bits=from] input').focus()")
    press(page, "d")
    press(page, "n")
    page.driver.execute_script("document.activeElement.blur()")
    press(page, "x")
    press(page, Keys.ARROW_RIGHT)
    page.wait(lambda: page.one(".heads").text != first)
    assert place(page).split()[0] == str(int(at) + 1)
    assert stored(served) == before


def test_other_distances_bring_other_pairs_and_keys_go_on(page: Page) -> None:
    choose(page, "from", "5")
    page.wait(lambda: page.one(".measures").text.split()[1] in "5678")
    farther = place(page)
    press(page, Keys.ARROW_RIGHT)
    page.wait(lambda: place(page).startswith("2 of "))
    choose(page, "to", "0")
    page.wait(lambda: "0 bits" in page.one(".measures").text)
    assert place(page).split()[-1] != farther.split()[-1]
    choose(page, "to", "8")
    page.wait(lambda: place(page).split()[-1] == "18")


def choose(page: Page, end: str, bits: str) -> None:
    """Choose one end of the range of distances."""
    page.one(f"[data-bits={end}]").click()
    page.wait(lambda: page.all(".q-menu .q-item"))
    item = next(one for one in page.all(".q-menu .q-item") if one.text == bits)
    page.driver.execute_script("arguments[0].click()", item)
    page.wait(lambda: not page.all(".q-menu"))


def test_evidence_rests_on_labels_once_there_are_some(page: Page, served: Served) -> None:
    labelled = count(page)
    press(page, "d")
    page.wait(lambda: count(page) == labelled + 1)
    page.tab("Evidence")
    page.wait(lambda: f"{labelled + 1} labelled pair" in page.one(".basis").text)
    by_similarity, by_distance = page.all(".evidence-table")
    assert len(by_similarity.find_elements("css selector", "tbody tr")) == 11
    assert len(by_distance.find_elements("css selector", "tbody tr")) == 9


def test_clusters_name_what_is_kept_and_why(page: Page) -> None:
    page.tab("Clusters")
    page.wait(lambda: page.all(".cluster"))
    largest = page.all(".cluster")[0]
    assert "/notices/spring" in largest.text
    assert "similarity" in largest.text
    page.all(".cluster .small")[0].click()
    page.wait(lambda: page.all(".q-dialog .piece.added"))
    page.press("Close")
    page.wait(lambda: not page.driver.find_elements("css selector", ".q-dialog"))


def test_a_label_goes_to_the_pair_that_is_read_where_pages_were_fetched_again(
    browsers: Browsers, tmp_path: Path
) -> None:
    jobdir = tmp_path / "job"
    with ManyPages(variants(20)) as site:
        crawl(site.url, jobdir)
        with lab(str(jobdir)) as running:
            page = Page(browsers.online, running.address)
            show_pairs(page)
            # Changed pages become the last ones: each place names another page.
            for path in ("/", "/1", "/2", "/3"):
                site.pages[path] = site.pages[path].replace(b"</p>", b" and more words</p>")
            crawl(site.url, jobdir, "-a", "revisit=yes")
            time.sleep(READ_SECS)
            shown = urls(page)
            press(page, "d")
            page.wait(lambda: count(page) == 1)
    with closing(sqlite3.connect(jobdir / "crawl.db")) as connection:
        ((first, second),) = connection.execute("SELECT first_url, second_url FROM labels")
    assert {first, second} == shown


def test_a_crawl_that_vanishes_is_said_and_nothing_breaks(
    browsers: Browsers, tmp_path: Path
) -> None:
    jobdir = tmp_path / "job"
    with ManyPages(variants(20)) as site:
        crawl(site.url, jobdir)
    # What is not caught is printed by the process, which ``lab`` does not let pass.
    with lab(str(jobdir)) as running:
        page = Page(browsers.online, running.address)
        show_pairs(page)
        shutil.rmtree(jobdir)
        press(page, Keys.ARROW_RIGHT)
        page.wait(lambda: "no such directory" in page.one(".pair-view").text)
        page.tab("Live")
        page.wait(lambda: page.all(".pages tbody tr"))

        def is_shown() -> bool:
            """Click where nothing opened: a row may be drawn anew under the pointer."""
            if not page.all(".q-dialog"):
                rows = page.all(".pages tbody tr")
                next(row for row in rows if "near duplicate" in row.text).click()
            return bool(page.all(".q-dialog .facts"))

        page.wait(is_shown)


def urls(page: Page) -> set[str]:
    """Of the two pages that are read."""
    return {one.text for one in page.all(".pairs .head .inert")}
