"""Fixtures for every test: sites that are really served, browsers that really look."""

from __future__ import annotations

import pytest

from neardup import prepare

pytest_plugins = ["tests.sites.fixtures", "tests.browsing.fixtures", "tests.servers.fixtures"]


@pytest.fixture(scope="session", autouse=True)
def _prepared() -> None:
    """Compile before anything is timed, or is expected to print nothing else."""
    prepare()
