"""Browsers as pytest fixtures; where this machine has none, the test is skipped."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.browsing.chromium import chromium
from tests.browsing.walk import Browsers
from tests.sites.packages import SiteUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def browsers() -> Iterator[Browsers]:
    """Chromium twice: without a network, and with this machine alone."""
    with ExitStack() as stack:
        try:
            offline = stack.enter_context(chromium(has_network=False))
            online = stack.enter_context(chromium(has_network=True))
        except SiteUnavailableError as lack:
            pytest.skip(f"no browser here: {lack}")
        yield Browsers(offline, online)
