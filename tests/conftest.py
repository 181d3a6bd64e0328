"""Fixtures for every test: sites that are really served, browsers that really look."""

from __future__ import annotations

import asyncio
import inspect
import os
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine takes its time over an example; speed is measured elsewhere.
settings.register_profile("patient", deadline=None)
# CI gives the same answer twice for the same code; whoever works on it tries new examples.
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "patient")

pytest_plugins = ["tests.sites.fixtures", "tests.browsing.fixtures", "tests.servers.fixtures"]

CRAWLS = Path(__file__).with_name("crawls")
FIRST_CRAWLS = {
    *("test_demo.py", "test_http_auth.py", "test_redirects.py", "test_robots.py"),
    *("test_sitemaps.py", "test_urls_spider.py"),
}
"""Files of whole crawls for which the first run of a newcomer has time; the others are slow."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark whole crawls as slow, and begin with them: none of their files runs alone at the end."""
    for item in items:
        if CRAWLS in item.path.parents and item.path.name not in FIRST_CRAWLS:
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: CRAWLS not in item.path.parents)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name bytes by their number: gzip writes the clock into them, and workers must agree."""
    return f"{len(val)} bytes" if isinstance(val, bytes) and len(val) > 8 else None
