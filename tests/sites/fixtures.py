"""Sites as pytest fixtures; where this machine cannot provide one, the test is skipped."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.sites.hostile import HostileSite
from tests.sites.nginx import debian_site
from tests.sites.packages import SiteUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sites.nginx import ServedSite

PATIENT_ROBOTS = "User-agent: *\nCrawl-delay: 1\nDisallow: /closed/\n"


def _served(package: str) -> Iterator[ServedSite]:
    with ExitStack() as stack:
        try:
            site = stack.enter_context(debian_site(package))
        except SiteUnavailableError as lack:
            pytest.skip(f"{package} cannot be served here: {lack}")
        yield site


@pytest.fixture(scope="session")
def apache_site() -> Iterator[ServedSite]:
    """The Apache manual in twelve languages, 2,685 pages with 828 distinct bodies."""
    yield from _served("apache2-doc")


@pytest.fixture(scope="session")
def postgresql_site() -> Iterator[ServedSite]:
    """The PostgreSQL manual, 1,169 pages, no two of them near-duplicates."""
    yield from _served("postgresql-doc-15")


@pytest.fixture(scope="session")
def sqlite_site() -> Iterator[ServedSite]:
    """The SQLite documentation, 767 pages."""
    yield from _served("sqlite3-doc")


@pytest.fixture(scope="session")
def python_site() -> Iterator[ServedSite]:
    """The Python manual, 531 pages."""
    yield from _served("python3.11-doc")


@pytest.fixture(scope="session")
def handbook_site() -> Iterator[ServedSite]:
    """The Debian Administrator's Handbook in English, 127 pages with pictures."""
    yield from _served("debian-handbook")


@pytest.fixture
def hostile_site() -> Iterator[HostileSite]:
    """A server of bad manners, with nothing asked of it yet."""
    with HostileSite() as site:
        yield site


@pytest.fixture
def patient_site() -> Iterator[HostileSite]:
    """Five plain pages whose robots.txt wants a second between requests."""
    plain = tuple(f"/plain/{number}" for number in range(1, 5))
    with HostileSite(robots_txt=PATIENT_ROBOTS, linked=plain) as site:
        yield site
