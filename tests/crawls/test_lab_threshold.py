"""The tab Threshold in a browser: what a slider says is what a sweep prints."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from crawler.lab.app.controls import HINTS
from crawler.lab.app.parameter_trial import choice_key
from crawler.lab.app.threshold_tab import LAYER_WORDS
from crawler.lab.judgement import Choice
from tests.crawls.command import scrapy
from tests.crawls.lab import Page, lab
from tests.neardup.texts import changed, prose

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium.webdriver.remote.webelement import WebElement

    from tests.browsing.walk import Browsers

FAMILIES = 12
CHANGED_WORDS = (1, 3, 8, 16, 30, 50, 80)

HOSTILE = (
    "<script>window.owned=1</script> <img/src=x/onerror=window.owned=2> {{window.owned=3}} "
    f"\u202egnp.exe \x1b[31m <style>*{{display:none}}</style> {'w' * 5_000}"
)
"""In every text and title."""

FIGURES = {
    "kept": "kept",
    "dropped": "dropped",
    "now-kept": "now_kept",
    "now-dropped": "now_dropped",
}


class Served(NamedTuple):
    """A crawl directory, and where its lab is."""

    folder: Path
    address: str


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = make_families(tmp_path_factory.mktemp("lab"))
    with lab(str(folder)) as running:
        yield Served(folder, running.address)


@pytest.fixture(scope="module")
def window(browsers: Browsers, served: Served) -> Page:
    return Page(browsers.online, served.address)


@pytest.fixture
def page(window: Page) -> Page:
    """A window that tries nothing but what holds."""
    window.tab("Threshold")
    if any(button.text == "Reset" for button in window.all(".bar .q-btn")):
        window.press("Reset")
    window.wait(lambda: key(window) == choice_key(Choice()))
    return window


Lines = dict[int, dict[str, Any]]


@pytest.fixture(scope="module")
def lines(served: Served) -> Lines:
    """What each distance does, everything else as it holds."""
    return sweep(served)


def make_families(folder: Path) -> Path:
    """Make a crawl of texts of which some are farther from their kin than others."""
    texts = []
    for family in range(FAMILIES):
        text = f"{HOSTILE} {prose(family, 240)}"
        texts += [text, *(changed(text, number, number) for number in CHANGED_WORDS)]
    lines = [
        json.dumps({"url": f"http://site.example/{number}", "text": text, "title": HOSTILE})
        for number, text in enumerate(texts)
    ]
    file, jobdir = folder / "pages.jsonl", folder / "job"
    file.write_text("\n".join(lines))
    done = scrapy("crawl", "replay", "-a", f"warc={file}", "-s", f"JOBDIR={jobdir}")
    assert done.returncode == 0, done.stderr
    return jobdir


def sweep(served: Served, *arguments: str) -> Lines:
    """What ``crawl-once sweep --json`` prints, by ``max_distance``."""
    done = scrapy("sweep", str(served.folder), "--json", "--max-distance", "0..8", *arguments)
    assert done.returncode == 0, done.stderr
    return {line["max_distance"]: line for line in json.loads(done.stdout)["lines"]}


def key(page: Page) -> str:
    """The choice whose counts are shown."""
    return page.one(".figures").get_attribute("data-choice") or ""


def counts(page: Page) -> dict[str, int]:
    return {name: page.count(figure) for figure, name in FIGURES.items()}


def slider(page: Page, name: str) -> WebElement:
    return page.one(f"[data-scale={name}] [tabindex]")


def value(page: Page, name: str) -> str | None:
    """Where a slider stands."""
    return page.one(f"[data-scale={name}]").get_attribute("aria-valuenow")


def slide(page: Page, name: str, keys: str) -> None:
    """Move a slider by keys, as fast as they come."""
    handle = slider(page, name)
    page.driver.execute_script("arguments[0].focus()", handle)
    ActionChains(page.driver).send_keys(keys).perform()


def test_slider_shows_what_a_sweep_prints(page: Page, lines: Lines) -> None:
    for bits in (2, 1, 0):
        slide(page, "max_distance", Keys.ARROW_LEFT)
        within = f"max_distance:{bits}/"
        page.wait(lambda within=within: within in key(page))  # type: ignore[misc]
        expected = {name: lines[bits][name] for name in FIGURES.values()}
        assert counts(page) == expected
        layers = {words(row): tried(row) for row in page.all(".layers tbody tr")}
        for layer in ("new", "simhash", "candidate"):
            assert layers.get(LAYER_WORDS[layer], 0) == lines[bits]["layers"][layer]


def words(row: WebElement) -> str:
    return row.find_element("css selector", "td").text


def tried(row: WebElement) -> int:
    """How many pages a layer decides by what is tried."""
    cell = row.find_elements("css selector", "td")[3]
    return int(cell.text.replace(",", ""))


def test_last_position_of_a_slider_wins(page: Page, lines: Lines) -> None:
    for _ in range(4):
        slide(page, "max_distance", Keys.ARROW_LEFT * 8 + Keys.ARROW_RIGHT * 5)
    # An answer to the third slide may come while the browser still draws the fourth.
    page.wait(lambda: value(page, "max_distance") == "5" and "max_distance:5/" in key(page))
    assert counts(page)["kept"] == lines[5]["kept"]


def test_names_are_switched_off_as_a_sweep_does(page: Page, served: Served) -> None:
    page.one("[aria-label^=compare_names]").click()
    page.wait(lambda: "compare_names:off/" in key(page))
    expected = sweep(served, "--no-compare-names")[3]
    assert counts(page) == {name: expected[name] for name in FIGURES.values()}


def test_a_number_that_is_not_allowed_is_marked_and_taken_back(page: Page) -> None:
    field = page.one("input[aria-label=min_similarity]")
    field.send_keys(Keys.CONTROL + "a", Keys.BACKSPACE)
    page.wait(lambda: "0 to 1; 0.8 is tried" in page.one(".scale .q-field--error").text)
    field.send_keys(Keys.TAB)
    page.wait(lambda: field.get_attribute("value") == "0.8")
    page.wait(lambda: not page.all(".scale .q-field--error"))


def test_typed_number_counts_like_a_slider(page: Page, served: Served) -> None:
    field = page.one("input[aria-label=min_similarity]")
    field.send_keys(Keys.CONTROL + "a" + Keys.NULL, "0.95")
    page.wait(lambda: "min_similarity:0.95/" in key(page))
    expected = sweep(served, "--min-similarity", "0.95")[8]
    assert counts(page)["kept"] == expected["kept"]
    field.send_keys(Keys.CONTROL + "a" + Keys.NULL, "7")
    page.wait(lambda: float(field.get_attribute("value") or 0) == 7)
    assert "min_similarity:0.95/" in key(page)


def test_other_features_are_what_a_sweep_finds_with_them(page: Page, served: Served) -> None:
    choose(page, "Unit", "Characters")
    choose(page, "Size", "4")
    slide(page, "max_distance", Keys.ARROW_RIGHT)
    page.wait(lambda: "max_distance:4/" in key(page))
    page.wait(lambda: "features:character-4-log_count/" in key(page))
    expected = sweep(served, "--features", "character-4-log_count")[4]
    assert counts(page) == {name: expected[name] for name in FIGURES.values()}


def test_pages_that_change_are_listed_on_demand(page: Page) -> None:
    slide(page, "min_similarity", Keys.ARROW_RIGHT * 20)
    page.wait(lambda: "min_similarity:1/" in key(page))
    kept = page.count("now-kept")
    assert kept > 0
    assert not page.all(".page-row")
    page.one("[data-list=now-kept] .q-item").click()
    page.wait(lambda: len(page.all(".page-row")) == min(kept, 20))
    assert "http://site.example/" in page.all(".page-row")[0].text
    url = page.all(".page-row .inert")[0].text
    field = page.one("[data-list=now-kept] .search input")
    field.send_keys(url.upper())
    page.wait(lambda: " found" in page.one("[data-list=now-kept]").text)
    assert 0 < len(page.all(".page-row")) < min(kept, 20)
    assert all(url in row.text for row in page.all(".page-row"))
    field.send_keys(Keys.CONTROL, "a", Keys.BACKSPACE)
    page.wait(lambda: len(page.all(".page-row")) == min(kept, 20))
    page.one("[data-list=now-kept] .q-item").click()


def test_pages_that_change_are_downloaded(page: Page, tmp_path: Path) -> None:
    slide(page, "min_similarity", Keys.ARROW_RIGHT * 20)
    page.wait(lambda: "min_similarity:1/" in key(page))
    kept = page.count("now-kept")
    allowed = {"behavior": "allow", "downloadPath": str(tmp_path)}
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", allowed)
    for kind in ("csv", "jsonl"):
        page.click(f"[data-download='changed-pages.{kind}']")
        page.wait((tmp_path / f"changed-pages.{kind}").exists)
    lines = (tmp_path / "changed-pages.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == kept
    assert {row["tried"] for row in rows} == {"kept"}
    with (tmp_path / "changed-pages.csv").open(newline="") as file:
        assert [row["url"] for row in csv.DictReader(file)] == [row["url"] for row in rows]


def test_a_hint_comes_on_hover(page: Page) -> None:
    label = next(one for one in page.all(".scale") if "min_similarity" in one.text)
    ActionChains(page.driver).move_to_element(label).perform()
    page.wait(lambda: page.all(".q-tooltip"))
    assert page.one(".q-tooltip").text == HINTS["min_similarity"]


def test_point_of_the_scatter_opens_its_pair(page: Page) -> None:
    drawn = next(c for c in page.all(".card") if c.text.startswith("Similarity of near pairs"))
    page.wait(lambda: "pairs within 8 bits" in drawn.text)
    chart = drawn.find_element("css selector", ".nicegui-echart")
    page.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    x, y = first_point(page, chart)
    ActionChains(page.driver).move_to_element_with_offset(chart, x, y).click().perform()
    page.wait(lambda: page.all(".q-dialog .piece"))
    assert page.all(".q-dialog .piece.removed")
    assert page.all(".q-dialog .piece.added")
    page.press("Close")
    page.wait(lambda: not page.driver.find_elements("css selector", ".q-dialog"))


def test_nothing_is_suggested_where_most_found_pairs_are_no_duplicates(page: Page) -> None:
    page.tab("Evidence")
    page.wait(lambda: "No suggestion for min_similarity yet" in page.one(".suggestion").text)
    page.wait(lambda: "No suggestion for max_distance yet" in page.all(".suggestion")[1].text)
    assert "Nothing is labelled yet" in page.one(".basis").text
    rows = page.all(".evidence-table tbody tr")
    assert [row.text.split()[0] for row in rows] == [str(bits) for bits in range(9)]


def test_elements_is_text_everywhere(page: Page) -> None:
    slide(page, "min_similarity", Keys.ARROW_RIGHT * 20)
    page.wait(lambda: "min_similarity:1/" in key(page))
    page.one("[data-list=now-kept] .q-item").click()
    page.wait(lambda: page.all(".page-row"))
    check_unharmed(page, ".page-row")
    page.one("[data-list=now-kept] .q-item").click()
    page.press("Reset")
    page.tab("Clusters")
    check_unharmed(page, ".cluster")
    page.tab("Pairs")
    page.one(".unfold").click()
    page.wait(lambda: "window.owned=3" in page.one(".pair-view > .side-rows").text)
    check_unharmed(page, ".side-rows")
    check_unharmed(page, ".heads")


def test_pages_of_files_have_the_verdicts_of_a_crawl(page: Page) -> None:
    page.tab("Live")
    page.wait(lambda: page.all(".is-dropped"))
    assert {cell.text for cell in page.all(".is-dropped")} == {"near duplicate"}
    page.tab("Threshold")


def test_a_reload_shows_the_same_tab_and_what_was_tried(page: Page) -> None:
    slide(page, "max_distance", Keys.ARROW_RIGHT * 2)
    page.wait(lambda: "max_distance:5/" in key(page))
    before = counts(page)
    page.driver.refresh()
    page.wait(lambda: page.all("[data-scale=max_distance]"))
    page.wait(lambda: "max_distance:5/" in key(page))
    assert counts(page) == before
    assert value(page, "max_distance") == "5"
    page.tab("Pairs")
    page.wait(lambda: "tab=Pairs" in page.driver.current_url)
    page.driver.refresh()
    page.wait(lambda: page.all(".heads"))
    page.tab("Threshold")
    page.wait(lambda: "max_distance:5/" in key(page))


def test_single_page_leaves_nothing_to_draw(browsers: Browsers, tmp_path: Path) -> None:
    (tmp_path / "one.jsonl").write_text(json.dumps({"url": "http://site.example/", "text": "One"}))
    with lab(str(tmp_path / "one.jsonl")) as running:
        page = Page(browsers.online, running.address)
        faults(page)  # of windows whose labs have ended
        said = {
            "Threshold": "No text is compared by its fingerprint.",
            "Pairs": "No two texts lie 0 to 8 bits from each other.",
            "Evidence": "No suggestion for max_distance yet",
            "Clusters": "No page repeats another by these parameters.",
        }
        for tab, words in said.items():
            page.tab(tab)
            page.wait(lambda words=words: words in page.text())  # type: ignore[misc]
        assert faults(page) == []


def faults(page: Page) -> list[str]:
    """What the browser complained of since the last time."""
    entries = page.driver.get_log("browser")  # type: ignore[no-untyped-call]
    return [entry["message"] for entry in entries if entry["level"] == "SEVERE"]


def check_unharmed(page: Page, css: str) -> None:
    """Whether hostile words are shown, and do nothing."""
    shown = page.one(css).text
    assert "<script>window.owned=1</script>" in shown
    assert "⟨U+202E⟩" in shown
    assert "␛" in shown
    driver = page.driver
    assert driver.execute_script("return window.owned") is None
    assert not driver.find_elements("css selector", "main script, main style, main img")
    width = "const root = document.documentElement; return root.scrollWidth - root.clientWidth"
    assert driver.execute_script(width) == 0


def first_point(page: Page, chart: WebElement) -> tuple[int, int]:
    """Where the first pair is drawn, from the middle of its chart."""
    x, y, width, height = page.driver.execute_script(
        """const chart = getElement(arguments[0]).chart;
        const [x, y] = chart.convertToPixel('grid', chart.getOption().series[0].data[0]);
        return [x, y, chart.getWidth(), chart.getHeight()];""",
        chart.get_attribute("id").removeprefix("c"),  # type: ignore[union-attr]
    )
    return round(x - width / 2), round(y - height / 2)


def choose(page: Page, label: str, option: str) -> None:
    """Choose from a list."""
    fields = [one for one in page.all(".q-select") if one.text.startswith(label)]
    fields[0].click()
    page.wait(lambda: page.all(".q-menu .q-item"))
    item = next(one for one in page.all(".q-menu .q-item") if one.text == option)
    # The list is still unfolding: what is aimed at may lie elsewhere when it is hit.
    page.driver.execute_script("arguments[0].click()", item)
    page.wait(lambda: not page.all(".q-menu"))
