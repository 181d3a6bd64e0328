"""A machine on which nothing was ever cached, and which reaches no other one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.crawls.command import scrapy

if TYPE_CHECKING:
    from pathlib import Path

    from tests.sites.hostile import HostileSite


def test_cookies_download_no_list_of_suffixes(hostile_site: HostileSite, tmp_path: Path) -> None:
    done = scrapy(
        "crawl", "site", "-a", f"url={hostile_site.at('/redirect/cookie')}", "-a", "max_depth=0",
        "-s", f"JOBDIR={tmp_path / 'job'}",
        environment={"XDG_CACHE_HOME": str(tmp_path / "cache")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 fetched, 1 kept" in done.stdout
    assert "suffix" not in done.stderr
    assert "Traceback" not in done.stderr
