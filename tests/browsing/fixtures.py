"""Browsers as pytest fixtures; where this machine has none, the test is skipped."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.browsing.chromium import chromium
from tests.browsing.walk import Browsers
from tests.sites.packages import SiteUnavailableError, require_tool

if TYPE_CHECKING:
    from collections.abc import Iterator


_running: list[Browsers] = []


@pytest.fixture(scope="session")
def rendering_browser() -> str:
    """Path of the Chromium in which crawls show pages."""
    try:
        return require_tool("chromium")
    except SiteUnavailableError as lack:
        pytest.skip(f"no browser here: {lack}")


@pytest.fixture(scope="session")
def browsers() -> Iterator[Browsers]:
    """Chromium twice: without a network, and with this machine alone."""
    with ExitStack() as stack:
        try:
            offline = stack.enter_context(chromium(has_network=False))
            online = stack.enter_context(chromium(has_network=True))
        except SiteUnavailableError as lack:
            pytest.skip(f"no browser here: {lack}")
        found = Browsers(offline, online)
        _running.append(found)
        yield found
        _running.clear()


@pytest.fixture(scope="module", autouse=True)
def _browsers_rest() -> Iterator[None]:
    """Leave no page of tests that are over: it would work on, for as long as others run."""
    yield
    for found in _running:
        for browser in (found.offline, found.online):
            browser.driver.get("about:blank")
