"""The directories of a fleet whose worker was killed become one, which goes on alone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.crawler.maintenance.merge.test_any_deal import exported, problems
from tests.crawls.command import scrapy
from tests.crawls.fleet import NAME, Fleet, end, finish, wait_for
from tests.sites.hosts import ManyHosts

if TYPE_CHECKING:
    from pathlib import Path

PAGES, HOSTS = 120, 4


def merged(out: Path, status: int, *arguments: str) -> dict[str, Any]:
    done = scrapy("merge", "--json", *arguments)
    assert done.returncode == status, done.stderr
    assert problems(out) == ()
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_what_a_fleet_kept_is_one_crawl(redis_url: str, tmp_path: Path) -> None:
    with ManyHosts(PAGES, HOSTS, answer_secs=0.02) as site:
        fleet = Fleet(site, redis_url, tmp_path)
        with fleet.running(2) as (first, second):
            wait_for(site, PAGES // 3)
            end(first)
            finish(second)
        assert [problems(folder) for folder in fleet.folders] == [(), ()]
        out, folders = tmp_path / "out", [str(folder) for folder in fleet.folders]
        found = merged(out, 0, *folders, str(out))
        pages = exported(out)
        assert set(pages) == {site.url_of(number) for number in range(PAGES)}
        clusters = sorted({site.cluster_of(number) for number in range(PAGES)})
        assert kept_clusters(pages, site) == clusters
        assert found["kept"] == len(clusters)
        asked = ("--redis", redis_url, "--name", NAME)
        whole = tmp_path / "whole"
        assert merged(whole, 0, *asked, *folders, str(whole))["missing"] == {}
        part = tmp_path / "part"
        found = merged(part, 1, *asked, folders[0], str(part))
        assert found["lost"] == []
        ((worker, fetched),) = found["missing"].items()
        assert "/worker-2/" in worker
        assert 0 < found["restored"] <= fetched
        assert kept_clusters(exported(part), site) == clusters
        for folder in (out, part):
            visit_again(folder, site)
            assert problems(folder) == ()
            assert set(exported(folder)) == set(pages)
        assert {page["verdict"] for page in exported(out).values()} == {"unchanged"}


def kept_clusters(pages: dict[str, dict[str, object]], site: ManyHosts) -> list[str]:
    """Name the cluster of each kept page: which of its pages is kept depends on who came first."""
    texts = (pages.get(site.url_of(number), {}).get("text") for number in range(PAGES))
    return sorted(site.cluster_of(number) for number, text in enumerate(texts) if text is not None)


def visit_again(folder: Path, site: ManyHosts) -> None:
    """Ask for every page of a crawl directory again, and for what its pages link to."""
    seeds = ("-a", f"url={site.seeds}", "-a", "scope=host", "-a", "revisit=yes")
    done = scrapy("crawl", "site", *seeds, "-s", f"JOBDIR={folder}", "-s", "DOWNLOAD_DELAY=0")
    assert done.returncode == 0, done.stderr
