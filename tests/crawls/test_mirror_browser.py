"""Mirrors of real sites, opened from disk in Chromium without a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.browsing.mirror import Mirror
from tests.browsing.walk import walk
from tests.crawls.command import scrapy

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browsing.walk import Browsers, Walked
    from tests.sites.nginx import ServedSite

MAX_PAGES = 50
WALKED = 20

# Images that only a script names, by exchanging letters in the address of another one.
MADE_BY_SCRIPT = "/py-modindex.html: "


def walked_mirror(site: ServedSite, browsers: Browsers, folder: Path) -> Walked:
    """Mirror a part of a site that is larger than the walk, and walk."""
    mirror = folder / "mirror"
    done = scrapy("mirror", site.url, str(mirror), "--max-pages", str(MAX_PAGES))
    assert done.returncode == 0, done.stdout + done.stderr
    walked = walk(Mirror.opened(mirror), browsers, WALKED, folder / "pictures")
    assert len(walked.pages) == WALKED
    return walked


@pytest.mark.parametrize("name", ["apache_site", "handbook_site"])
def test_mirror_is_read_without_a_network_as_it_was_served(
    name: str, browsers: Browsers, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    site = request.getfixturevalue(name)
    assert walked_mirror(site, browsers, tmp_path).faults == []


def test_nothing_is_missing_but_what_scripts_alone_name(
    python_site: ServedSite, browsers: Browsers, tmp_path: Path
) -> None:
    faults = walked_mirror(python_site, browsers, tmp_path).faults
    assert [fault for fault in faults if MADE_BY_SCRIPT not in fault] == []


def test_site_whose_scripts_look_for_a_server_is_the_same_without_them(
    sqlite_site: ServedSite, browsers: Browsers, tmp_path: Path
) -> None:
    """SQLite's pages hide their search where they do not come from a server."""
    with browsers.without_scripts():
        assert walked_mirror(sqlite_site, browsers, tmp_path).faults == []
