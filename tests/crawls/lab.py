"""A lab as a user starts it, and its page as a browser shows it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

from tests.crawls.command import PROJECT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from selenium.webdriver.remote.webelement import WebElement

    from tests.browsing.chromium import Browser

START_SECS = 60
WAIT_SECS = 30

# An element that is replaced while it is looked at.
_REPLACED = (StaleElementReferenceException,)


@dataclass(frozen=True)
class RunningLab:
    """A lab in a process of its own; ``address`` is what it printed."""

    process: subprocess.Popen[str]
    address: str

    @property
    def port(self) -> int:
        return int(self.address.split(":")[2].partition("/")[0])


def environment() -> dict[str, str]:
    """Without what tells NiceGUI that a test runs it, and without a display."""
    hidden = ("PYTEST_CURRENT_TEST", "DISPLAY", "WAYLAND_DISPLAY")
    ours = {"SCRAPY_SETTINGS_MODULE": "settings.crawl", "PYTHONPATH": str(PROJECT)}
    return {name: value for name, value in os.environ.items() if name not in hidden} | ours


def start_lab(*arguments: str, cwd: Path = PROJECT) -> subprocess.Popen[str]:
    """Start ``crawl-once lab`` in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "scrapy", "lab", *arguments],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        env=environment(),
    )


@contextmanager
def lab(*arguments: str, cwd: Path = PROJECT) -> Iterator[RunningLab]:
    """A lab on a free port while the ``with`` block lasts; it must end without a complaint."""
    process = start_lab(*arguments, "--port", "0", "--no-browser", cwd=cwd)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://"), process.communicate(timeout=START_SECS)
        yield RunningLab(process, address)
        output, errors = end(process)
        assert not output, output
        assert errors.splitlines()[-1:] == ["(Ctrl-C ends it)"], errors
    finally:
        if process.poll() is None:
            process.kill()
            process.communicate()


def end(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Press Ctrl-C, and return what was printed since."""
    process.send_signal(signal.SIGINT)
    return process.communicate(timeout=WAIT_SECS)


class Page:
    """The lab's page in a browser."""

    def __init__(self, browser: Browser, address: str) -> None:
        self.driver = browser.driver
        self.driver.get("about:blank")  # the page of an earlier lab asks for that lab again
        browser.requests()
        self.driver.get(address)
        self.wait(lambda: self.all(".q-tab"))

    def wait(self, is_so: Callable[[], object], secs: float = WAIT_SECS) -> None:
        """Wait until something is so.

        Raises:
            AssertionError: It is not. Says what the page shows.
        """
        try:
            WebDriverWait(self.driver, secs, 0.1, _REPLACED).until(lambda _: is_so())
        except TimeoutException:
            raise AssertionError(f"not so after {secs:g} s; shown: {self.text()[:2000]}") from None

    def all(self, css: str) -> list[WebElement]:
        return [
            one for one in self.driver.find_elements(By.CSS_SELECTOR, css) if one.is_displayed()
        ]

    def one(self, css: str) -> WebElement:
        self.wait(lambda: self.all(css))
        return self.all(css)[0]

    def tab(self, name: str) -> None:
        next(tab for tab in self.all(".q-tab") if tab.text == name).click()

    def click(self, css: str) -> None:
        """Click on what has come to rest: a dialog that opens would be missed on its way."""
        at: list[dict[str, float]] = [{}]

        def rests() -> bool:
            at.append(self.one(css).rect)
            return at[-1] == at[-2]

        self.wait(rests)
        self.one(css).click()

    def press(self, words: str) -> None:
        """Click on the button that says so."""

        def button() -> WebElement | None:
            return next((one for one in self.all(".q-btn") if one.text == words), None)

        self.wait(button)
        found = button()
        assert found is not None
        found.click()

    def figure(self, name: str) -> str:
        return self.one(f"[data-figure={name}]").text

    def count(self, name: str) -> int:
        """A figure that is a whole number; -1 while there is none."""
        text = self.figure(name).replace(",", "")
        return int(text) if text.isdecimal() else -1

    def text(self) -> str:
        return str(self.driver.execute_script("return document.body.innerText"))
