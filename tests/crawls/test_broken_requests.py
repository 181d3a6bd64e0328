"""A request whose callback breaks is tried by each run until it succeeds, and told until then."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from tests.crawls.command import scrapy
from tests.sites.hosts import ManyHosts

if TYPE_CHECKING:
    from pathlib import Path

BROKEN = 3
SPIDER = '''
from pathlib import Path

from crawler.spiders.site import SiteSpider


class Fragile(SiteSpider):
    """Breaks at a page while a file is there."""

    name = "fragile"

    async def parse(self, response):
        if response.url.endswith("/3.html") and Path(__file__).with_name("broken").exists():
            raise RuntimeError("no luck")
        return await super().parse(response)
'''


def test_each_run_tries_what_broke_until_it_succeeds(tmp_path: Path) -> None:
    (tmp_path / "fragile.py").write_text(SPIDER)
    broken = tmp_path / "broken"
    broken.touch()
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    with ManyHosts(9, 1) as site:
        command = (
            *("crawl", "fragile", "-a", f"url={site.url}", "-s", f"JOBDIR={tmp_path / 'crawl'}"),
            *("-s", "SPIDER_MODULES=fragile", "-s", "DOWNLOAD_DELAY=0"),
        )
        for run in range(1, 4):
            done = scrapy(*command, environment=environment)
            assert done.returncode == 1, done.stdout + done.stderr
            assert "1 request broke, see the errors above; the same command tries again" in (
                done.stderr
            )
            assert site.counts[BROKEN] == run
        broken.unlink()
        done = scrapy(*command, environment=environment)
        assert done.returncode == 0, done.stderr
        assert site.counts == dict.fromkeys(range(9), 1) | {BROKEN: 4}
