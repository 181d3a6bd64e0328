"""Fixtures for every test: sites that are really served, browsers that really look."""

from __future__ import annotations

import pytest
from hypothesis import settings

from neardup import prepare

# A busy machine takes its time over an example; speed is measured elsewhere.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

pytest_plugins = ["tests.sites.fixtures", "tests.browsing.fixtures", "tests.servers.fixtures"]


@pytest.fixture(scope="session", autouse=True)
def _prepared() -> None:
    """Compile before anything is timed, or is expected to print nothing else."""
    prepare()
