"""The picture of the lab in README.md: a real site, a real crawl, a real browser.

    python -m tests.browsing.lab_picture [FILE]

Serves Debian's openjdk-17-doc on this machine, crawls a part of it, opens the lab, moves a
slider and lets names decide nothing. It needs what the browser tests need.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

from tests.browsing.chromium import chromium
from tests.crawls.command import PROJECT, scrapy
from tests.crawls.lab import Page, lab
from tests.sites.nginx import debian_site

if TYPE_CHECKING:
    from tests.browsing.chromium import Browser

PARTS = (
    "java.base/java/time",
    "java.base/java/util/function",
    "java.desktop/javax/swing/event",
    "java.desktop/javax/swing/plaf",
)
"""Folders of packages in which classes resemble each other, some 1,170 pages."""
WIDTH, HEIGHT = 1280, 830
LEFT_STEPS = 10
NAME = "jdk"


def crawled(folder: Path) -> None:
    """Crawl a part of the site into a directory.

    Raises:
        RuntimeError: The crawl failed.
        SiteUnavailableError: The site cannot be had here.
    """
    with debian_site("openjdk-17-doc") as site:
        seeds = ",".join(f"{site.url}{part}/package-summary.html" for part in PARTS)
        done = scrapy("crawl", "site", "-a", f"url={seeds}", "-s", f"JOBDIR={folder}")
    if done.returncode:
        raise RuntimeError(done.stderr)


def photograph(browser: Browser, address: str, file: Path) -> None:
    """Move the slider of the similarity and the switch of names, and take the picture."""
    driver = browser.driver
    size = {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": True})
    page = Page(browser, address)
    page.tab("Threshold")
    page.wait(lambda: page.count("kept") > 0)
    handle = page.one("[data-scale=min_similarity] [tabindex]")
    driver.execute_script("arguments[0].focus({preventScroll: true})", handle)
    ActionChains(driver).send_keys(Keys.ARROW_LEFT * LEFT_STEPS).perform()
    key = f"min_similarity:{(80 - LEFT_STEPS) / 100:g}/"
    page.wait(lambda: key in (page.one(".figures").get_attribute("data-choice") or ""))
    page.one("[aria-label=compare_names]").click()
    key = "compare_names:off/"
    page.wait(lambda: key in (page.one(".figures").get_attribute("data-choice") or ""))
    driver.execute_script("document.activeElement.blur()")
    # The pointer rests on the switch, whose hint would hide the table.
    ActionChains(driver).move_to_element(page.one(".top .name")).perform()
    page.wait(lambda: not page.all(".q-tooltip"))
    # Charts are drawn when the counts are; they grow into place.
    page.wait(lambda: len(page.all("svg")) >= 3)
    driver.execute_async_script("setTimeout(arguments[0], 2000)")
    browser.screenshot(file)


def main(file: Path) -> None:
    """Make the picture."""
    with tempfile.TemporaryDirectory() as above:
        folder = Path(above) / NAME
        crawled(folder)
        with lab(NAME, cwd=Path(above)) as running, chromium(has_network=True) as browser:
            photograph(browser, running.address, file)
    print(f"{file}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else PROJECT / "docs" / "lab.png")
