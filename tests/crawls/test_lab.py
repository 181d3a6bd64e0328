"""The lab in a browser, beside a crawl that is running."""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from html import escape
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlsplit

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from crawler.storage.database import open_for_reading
from tests.crawls.command import crawl, pages, report, scrapy, start_scrapy
from tests.crawls.lab import Page, lab
from tests.sites.many import ManyPages
from tests.sites.many import pages as many
from tests.sites.prose import prose
from tests.sites.scripted import ScriptedSite
from tests.waiting import wait_until

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator
    from pathlib import Path

    from tests.browsing.walk import Browsers

_SLOWLY = ("-s", "CONCURRENT_REQUESTS=4", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=4")


@contextmanager
def crawling(site: ManyPages, jobdir: Path) -> Iterator[subprocess.Popen[str]]:
    """A crawl in a process of its own, which ends when the site lets it."""
    jobdir_setting = ("-s", f"JOBDIR={jobdir}")
    process = start_scrapy("crawl", "site", "-a", f"url={site.url}", *jobdir_setting, *_SLOWLY)
    try:
        wait_until(lambda: (jobdir / "crawl.db").exists() and site.total > 5)
        yield process
    finally:
        site.hold_after(None)
        if process.poll() is None:
            process.communicate(timeout=120)


class Served(NamedTuple):
    """A site of which a finished crawl is open in a lab."""

    site: ManyPages
    address: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    jobdir = tmp_path_factory.mktemp("lab")
    with ManyPages(many(100)) as site:
        crawl(site.url, jobdir)
        with lab(str(jobdir)) as running:
            yield Served(site, running.address)


def listed(page: Page) -> int:
    return len(page.all(".pages tbody tr"))


class TestLive:
    def test_counters_move_with_the_crawl_and_end_as_its_report(
        self, browsers: Browsers, tmp_path: Path
    ) -> None:
        jobdir = tmp_path / "job"
        with ManyPages(many(300)) as site:
            site.hold_after(60)
            with crawling(site, jobdir) as process, lab(str(jobdir)) as running:
                page = Page(browsers.online, running.address)
                page.wait(lambda: page.count("fetched") > 20)
                page.wait(lambda: "running" in page.one(".state").text.split())
                first = page.count("fetched")
                assert first <= 60
                site.hold_after(120)
                page.wait(lambda: page.count("fetched") > 60)
                assert page.one(".state.runs")
                site.hold_after(None)
                process.communicate(timeout=120)
                page.wait(lambda: page.count("fetched") == 300)
                page.wait(lambda: page.one(".state").text == "not running")
                page.wait(lambda: page.count("queued") == 0)
                found = report(jobdir)
                assert page.count("kept") == found["kept"]
                assert page.count("dropped") == found["duplicates"]
                assert page.count("failed") == found["failed"]
                assert page.count("extractions") == found["saved_extractions"]
                assert listed(page) == 200
                origin = running.address.rstrip("/")
                for url in browsers.online.requests():
                    assert url.startswith((origin, origin.replace("http", "ws"), "data:")), url

    def test_pages_are_filtered_and_told_of(self, browsers: Browsers, served: Served) -> None:
        page = Page(browsers.online, served.address)
        page.wait(lambda: listed(page) == 100)
        page.one(".filter-verdict").click()
        page.wait(lambda: page.all(".q-menu .q-item"))
        chosen = next(one for one in page.all(".q-item") if one.text == "text duplicate")
        chosen.click()
        page.wait(lambda: listed(page) == 4)
        page.all(".pages tbody tr")[0].click()
        page.wait(lambda: page.all(".q-dialog .facts"))
        said = page.one(".q-dialog").text
        assert "word for word a page that is kept" in said
        assert served.site.url in said

    def test_a_directory_that_vanishes_is_one_line(
        self, browsers: Browsers, tmp_path: Path
    ) -> None:
        with ManyPages(many(30)) as site:
            crawl(site.url, tmp_path / "job")
        with lab(str(tmp_path / "job")) as running:
            page = Page(browsers.online, running.address)
            page.wait(lambda: page.count("fetched") == 30)
            # At once: while its files are removed one by one, the lab may see any part of them.
            (tmp_path / "job").rename(tmp_path / "elsewhere")
            page.wait(lambda: page.all("main > .fault"))
            assert "no such directory" in page.one("main > .fault").text
            assert page.count("fetched") == 30


def variants(count: int) -> dict[str, bytes]:
    """A chain of pages, of which every second one says nearly what the one before it says.

    Both have one title, or they were two things on one template.
    """
    served = {}
    for number in range(count):
        words = prose(f"page {number // 2}", 150).split()
        if number % 2:
            words[20] = words[90] = "otherwise"
        following = "".join(
            f'<a href="/{number + step}">next</a>' for step in (1, 2) if number + step < count
        )
        served[f"/{number}" if number else "/"] = (
            f"<!DOCTYPE html><title>Variant {number // 2}</title><body><main><article><p>"
            f"{' '.join(words)}</p></article></main><nav>{following}</nav></body>"
        ).encode()
    return served


class TestApply:
    def test_it_changes_the_verdicts_of_later_pages_of_the_same_crawl(
        self, browsers: Browsers, tmp_path: Path
    ) -> None:
        jobdir = tmp_path / "job"
        with ManyPages(variants(120)) as site:
            site.hold_after(40)
            with crawling(site, jobdir) as process, lab(str(jobdir)) as running:
                page = Page(browsers.online, running.address)
                page.wait(lambda: page.count("dropped") > 10)
                page.tab("Threshold")
                field = page.one("input[aria-label=min_similarity]")
                field.send_keys(Keys.CONTROL, "a")
                field.send_keys("0.99", Keys.TAB)
                page.wait(lambda: page.all(".parameter.other"))
                assert "min_similarity" in page.one(".parameter.other").text
                page.press("Apply…")
                page.wait(lambda: "would be judged otherwise" in page.text())
                page.wait(lambda: "takes this over within a second" in page.text())
                page.click(".confirm")
                page.wait(lambda: not page.all(".parameter.other"))
                page.wait(lambda: "no page was judged by them yet" in page.one(".bar-note").text)
                site.hold_after(None)
                page.wait(lambda: "the crawl took them over" in page.one(".bar-note").text)
                process.communicate(timeout=120)
                page.wait(lambda: page.one(".figures").get_attribute("data-pages") == "120")
                page.wait(lambda: "older than the rules" in page.one(".stale").text)
                stale = page.one(".stale").text
        again = json.loads(scrapy("rejudge", "--dry-run", "--json", str(jobdir)).stdout)
        assert f"would keep {again['now_kept']:,} of the dropped pages" in stale
        assert f"drop {again['now_dropped']:,} of the kept ones" in stale
        assert again["now_kept"] >= 10
        rows = _verdicts(jobdir)
        before = [verdict for verdict, parameters in rows if parameters == 1]
        after = [verdict for verdict, parameters in rows if parameters == 2]
        assert len(before) + len(after) == 120
        assert before.count("near_duplicate") >= 10
        assert "near_duplicate" not in after
        assert after.count("new") >= 70

    def test_what_a_directory_is_made_with_cannot_be_applied(
        self, browsers: Browsers, tmp_path: Path
    ) -> None:
        with ManyPages(variants(20)) as site:
            crawl(site.url, tmp_path)
        with lab(str(tmp_path)) as running:
            page = Page(browsers.online, running.address)
            page.tab("Threshold")
            page.one(".controls .q-select").click()
            page.wait(lambda: page.all(".q-menu .q-item"))
            page.all(".q-menu .q-item")[-1].click()
            page.wait(lambda: "can be tried, not applied" in page.one(".bar-note").text)
            assert not page.all(".apply")
            page.press("Reset")
            page.wait(lambda: not page.all(".parameter.other"))


def _verdicts(jobdir: Path) -> list[tuple[str, int]]:
    with closing(open_for_reading(jobdir)) as connection:
        return [tuple(row) for row in connection.execute("SELECT verdict, parameters FROM pages")]


LONG = "w" * 30_000
SCRIPT = '<script>window.owned = 1</script><img src=x onerror="window.owned = 2">'
STYLE = "<style>body{display:none}*{color:red!important}</style>"
BRACES = "{{constructor.constructor('window.owned=3')()}}${window.owned=4}`+alert(1)+`"
CONTROLS = "\x1b[31m\x07\u202egnp.exe\u2066\u200f"
TITLE = f"{CONTROLS}{SCRIPT}{STYLE}{BRACES} {LONG}"
TARGET = "/" + quote(f"{SCRIPT}{STYLE}", safe="<>='\" /").replace(" ", "%20") + "?q=%3Cscript%3E"
_TEXT = f"{prose('hostile', 200)} {SCRIPT} {STYLE} {BRACES} {CONTROLS} {LONG}"


def hostile_pages() -> dict[str, bytes]:
    """Two pages that are nearly the same, and an index that leads to them."""

    def page(text: str) -> bytes:
        return (
            f"<!DOCTYPE html><html><title>{escape(TITLE)}</title><body><main><article><p>"
            f"{escape(text)}</p></article></main></body></html>"
        ).encode("utf-8", "replace")

    targets = {"/one": page(_TEXT), "/two": page(f"{_TEXT} and more")}
    odd = ["/<script>window.owned=5</script>", "/%22%3E%3Cimg%20src=x%20onerror=window.owned=6%3E"]
    odd.append("/?q=" + quote("\u202e\x1b", safe=""))
    for place, target in enumerate(odd):
        targets[quote(target, safe="%/?=&")] = page(f"{place} {prose(f'odd {place}', 150)}")
    links = "".join(f'<a href="{escape(target)}">x</a>' for target in targets)
    return {"/": f"<!DOCTYPE html><title>Index</title>{links}".encode(), **targets}


class TestHostile:
    def test_nothing_of_a_page_runs_styles_or_breaks_the_lab(
        self, browsers: Browsers, tmp_path: Path
    ) -> None:
        with ManyPages(hostile_pages()) as site:
            crawl(site.url, tmp_path)
        assert any("<script>" in (row["title"] or "") for row in pages(tmp_path))
        urls = [row["url"] for row in pages(tmp_path)]
        with lab(str(tmp_path)) as running:
            page = Page(browsers.online, running.address)
            page.wait(lambda: listed(page) >= 5)
            assert "<script>window.owned = 1</script>" in page.text()
            assert "⟨U+202E⟩" in page.text()
            _is_unharmed(page)
            for row in range(listed(page)):
                page.all(".pages tbody tr")[row].click()
                page.wait(lambda: page.all(".q-dialog .facts"))
                _is_unharmed(page)
                page.press("Close")
                page.wait(lambda: not page.all(".q-dialog .facts"))
            page.tab("Compare")
            one, two = (next(url for url in urls if url.endswith(end)) for end in ("/one", "/two"))
            for name, url in (("first", one), ("second", two)):
                page.one(f".given-{name} textarea").send_keys(url)
            page.press("Compare")
            page.wait(lambda: page.all(".bits-grid .bit"))
            _is_unharmed(page)
            for tab in ("Threshold", "Pairs", "Evidence", "Clusters", "Live"):
                page.tab(tab)
                page.wait(lambda: page.all(".q-tab-panel"))
                _is_unharmed(page)
            asked = browsers.online.requests()
            hosts = {urlsplit(url).netloc for url in asked} - {""}
            assert hosts == {urlsplit(running.address).netloc}


def _is_unharmed(page: Page) -> None:
    driver = page.driver
    assert driver.execute_script("return window.owned") is None
    assert driver.find_element(By.CSS_SELECTOR, ".top .name").is_displayed()
    assert driver.execute_script(
        "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    assert not driver.find_elements(
        By.CSS_SELECTOR, "main script, main style, main img, .q-dialog script"
    )
    red = "return getComputedStyle(document.querySelector('.top .name')).color === 'rgb(255, 0, 0)'"
    assert not driver.execute_script(red)


class TestLinks:
    def test_a_crawled_link_is_opened_only_after_a_question(
        self, browsers: Browsers, served: Served
    ) -> None:
        asked = served.site.total
        page = Page(browsers.online, served.address)
        page.wait(lambda: listed(page) == 100)
        page.all(".pages tbody tr")[0].click()
        page.click(".q-dialog .inert")
        link = page.one("a.outward")
        assert link.get_attribute("rel") == "noreferrer noopener"
        assert link.get_attribute("target") == "_blank"
        assert (link.get_attribute("href") or "").startswith(served.site.url)
        assert served.site.total == asked


class TestCompare:
    def test_pages_and_texts_are_measured_and_nothing_is_fetched(
        self, browsers: Browsers, served: Served
    ) -> None:
        text = prose("a text", 200)
        words = text.split()
        other = " ".join([*words[:100], "otherwise", *words[101:]])
        site, asked = served.site, served.site.total
        page = Page(browsers.online, served.address)
        page.tab("Compare")
        _compare(page, f"{site.url}19.html", f"{site.url}20.html")
        page.wait(lambda: "Text duplicate: 0 bits" in page.text())
        assert len(page.all(".bits-grid .bit")) == 64
        assert not page.all(".bits-grid .differs")
        _compare(page, text, other)
        page.wait(lambda: "Near duplicate" in page.text())
        assert len(page.all(".bits-grid .differs")) == _distance(page)
        assert page.all(".piece.removed")
        _compare(page, text, "http://elsewhere.example/")
        page.wait(lambda: "the lab fetches nothing: put in" in page.text())
        assert site.total == asked

    @pytest.mark.usefixtures("rendering_browser")
    def test_pictures_of_the_pages_stand_beside_each_other(
        self, browsers: Browsers, tmp_path: Path
    ) -> None:
        with ScriptedSite(2) as site:
            crawl(site.url, tmp_path, "-a", "screenshots=yes")
            with lab(str(tmp_path)) as running:
                page = Page(browsers.online, running.address)
                page.tab("Compare")
                _compare(page, f"{site.url}route/0", f"{site.url}plain")
                page.wait(lambda: len(page.all(".shot img")) == 2)
                shots = "[...document.querySelectorAll('.shot img')]"
                width = f"return {shots}.map((image) => image.naturalWidth)"
                page.wait(lambda: page.driver.execute_script(width) == [1280, 1280])
                _compare(page, f"{site.url}route/0", "a text without a page")
                page.wait(lambda: len(page.all(".shot img")) == 1)


def _compare(page: Page, first: str, second: str) -> None:
    for name, given in (("first", first), ("second", second)):
        field = page.one(f".given-{name} textarea")
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(given)
    page.press("Compare")


def _distance(page: Page) -> int:
    words = page.text().partition("Hamming distance")[2].split()
    return int(words[0])
