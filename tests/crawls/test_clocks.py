"""Sites whose pages tell the time: as the footer of all of them, and as their content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.crawls.command import crawl, pages, report
from tests.sites.clocks import EVENTS, FOOTERS, THINGS, ClockedSite, EventSite

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("footer", FOOTERS)
def test_a_page_that_tells_the_time_is_kept_once_and_does_not_change(
    tmp_path: Path, footer: str
) -> None:
    with ClockedSite(footer) as site:
        crawl(site.url, tmp_path)
        assert len(pages(tmp_path, "--verdict", "kept")) == 1 + THINGS
        crawl(site.url, tmp_path, "-a", "revisit=yes")
    assert len(pages(tmp_path, "--verdict", "kept")) == 1 + THINGS
    outcomes = report(tmp_path)["changes"]["outcomes"]
    assert outcomes["unchanged"] == sum(outcomes.values()) > THINGS


def test_times_near_the_present_that_are_content_are_kept(tmp_path: Path) -> None:
    with EventSite() as site:
        crawl(site.url, tmp_path)
        crawl(site.url, tmp_path, "-a", "revisit=yes")
        assert len(pages(tmp_path, "--verdict", "kept")) == 1 + EVENTS
        site.begin("The train leaves on")
        crawl(site.url, tmp_path, "-a", "revisit=yes")
    assert len(pages(tmp_path, "--verdict", "kept")) == 1 + EVENTS
