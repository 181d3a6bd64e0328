"""Fixtures for every test: sites that are really served, browsers that really look."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

from neardup import prepare

# A busy machine takes its time over an example; speed is measured elsewhere.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

pytest_plugins = ["tests.sites.fixtures", "tests.browsing.fixtures", "tests.servers.fixtures"]


CRAWLS = Path(__file__).with_name("crawls")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with files of whole crawls, which take minutes: none of them runs alone at the end."""
    items.sort(key=lambda item: CRAWLS not in item.path.parents)


@pytest.fixture(scope="session", autouse=True)
def _prepared() -> None:
    """Compile before anything is timed, or is expected to print nothing else."""
    prepare()
