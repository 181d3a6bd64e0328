"""Debian's Chromium without a head, with or without a network, and what it asked for."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from selenium.common.exceptions import WebDriverException
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.expected_conditions import url_changes
from selenium.webdriver.support.wait import WebDriverWait

from tests.browsing.view import FORWARDS, SHOWN, View
from tests.sites.packages import require_tool

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOAD_SECS = 30
FORWARD_SECS = 5

_ARGUMENTS = (
    "--headless=new",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--no-proxy-server",
    "--window-size=1280,1024",
)
# No name is looked up, and numbers are names here: not even this machine is reached.
_NO_NETWORK = "--host-resolver-rules=MAP * ~NOTFOUND"
_THIS_MACHINE = f"{_NO_NETWORK}, EXCLUDE 127.0.0.1"


class Browser:
    """One window; every request that it makes is written down."""

    def __init__(self, driver: Chrome) -> None:
        self._driver = driver
        self._asked: dict[str, str] = {}
        driver.set_page_load_timeout(LOAD_SECS)
        driver.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})

    @property
    def driver(self) -> Chrome:
        """For what only one test does."""
        return self._driver

    def requests(self) -> tuple[str, ...]:
        """The addresses that were asked for since the last time."""
        return self._drain()[0]

    def run_scripts(self, *, are_on: bool) -> None:
        """Let pages run their scripts, as they do at first, or not."""
        switch = {"value": not are_on}
        self._driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", switch)

    def view(self, url: str) -> View:
        """Open an address and see what is there, once it is loaded and has forwarded."""
        self._drain()
        try:
            self._driver.get(url)
            if self._driver.execute_script(FORWARDS):
                WebDriverWait(self._driver, FORWARD_SECS).until(url_changes(url))
            shown = self._driver.execute_script(SHOWN)
        except WebDriverException as error:
            asked, failed = self._drain()
            words = (error.msg or type(error).__name__).splitlines()[0]
            return View(url=url, asked=asked, failed={url: words, **failed})
        asked, failed = self._drain()
        return View.of(shown, asked, failed)

    def screenshot(self, file: Path) -> None:
        """Write what the window shows as a PNG."""
        self._driver.save_screenshot(str(file))

    def _drain(self) -> tuple[tuple[str, ...], dict[str, str]]:
        """What was asked for since the last time, and what failed of it with the reason.

        The failure of an earlier page's request is among them if it came late.
        """
        asked, failed = [], {}
        for entry in self._driver.get_log("performance"):  # type: ignore[no-untyped-call]
            message = json.loads(entry["message"])["message"]
            method, event = message["method"], message["params"]
            if method == "Network.requestWillBeSent":
                self._asked[event["requestId"]] = event["request"]["url"]
                asked.append(event["request"]["url"])
            elif method == "Network.loadingFailed" and not event.get("canceled"):
                if url := self._asked.get(event["requestId"]):
                    failed[url] = event["errorText"]
            elif method == "Network.responseReceived" and event["response"]["status"] >= 400:
                failed[event["response"]["url"]] = f"status {event['response']['status']}"
        return tuple(asked), failed


@contextmanager
def chromium(*, has_network: bool) -> Iterator[Browser]:
    """A browser while the ``with`` block lasts; its network is 127.0.0.1, or nothing at all.

    Raises:
        SiteUnavailableError: Chromium or its driver is missing.
    """
    options = ChromeOptions()
    options.binary_location = require_tool("chromium")
    for argument in (*_ARGUMENTS, _THIS_MACHINE if has_network else _NO_NETWORK):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium has none for root, and says so
    options.set_capability("goog:loggingPrefs", {"performance": "ALL"})
    driver = Chrome(options=options, service=Service(require_tool("chromedriver")))
    try:
        yield Browser(driver)
    finally:
        driver.quit()
