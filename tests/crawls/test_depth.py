"""How deep a page is does not depend on when its parents answer."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.crawls.command import crawl, killed, scrapy, start_scrapy
from tests.crawls.crawled import queried
from tests.crawls.fleet import Fleet
from tests.crawls.mirrored import host
from tests.sites.graph import GraphSite, nearest
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

PLAIN = ("-s", "CRAWL_LEARN_URL_RULES=False", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=4")
DETOUR = {
    "/": ["/slow", "/a"],
    "/a": ["/b"],
    "/b": ["/c"],
    "/c": ["/x"],
    "/slow": ["/c"],
    "/x": ["/y"],
    "/y": ["/z"],
    "/z": [],
}
"""``/c`` is two links from the start and is met at three; the slow page leads to it."""


def branching() -> dict[str, list[str]]:
    """A fast branch with two hundred pages three links deep, a slow one with forty at two."""
    links = {"/": ["/slow", "/fast"], "/slow": [f"/near-{n}" for n in range(40)]}
    links["/fast"] = ["/list"]
    links["/list"] = [f"/far-{n}" for n in range(200)]
    for page in [to for found in links.values() for to in found]:
        links.setdefault(page, [])
    return links


def stored_depths(jobdir: Path, origin: str) -> dict[str, int]:
    rows = queried(jobdir, "SELECT url, depth FROM pages WHERE latest = 1")
    return {url.removeprefix(origin): depth for url, depth in rows}


def within(links: Mapping[str, Sequence[str]], limit: int) -> dict[str, int]:
    return {path: depth for path, depth in nearest(links, "/").items() if depth <= limit}


def test_what_is_near_is_asked_for_before_what_is_far_and_came_sooner(tmp_path: Path) -> None:
    links = branching()
    # The slow page answers when the first of the two hundred is asked for.
    with GraphSite(links, {"/slow": "/far-0"}) as site:
        crawl(f"{site.origin}/", tmp_path, *PLAIN)
        asked = site.asked
    assert sorted(asked) == sorted(links)
    last = max(at for at, path in enumerate(asked) if path.startswith("/near"))
    before = [path for path in asked[:last] if path.startswith("/far")]
    assert len(before) < 100, "all of the two hundred were asked for first, by arrival"


def test_a_page_met_too_deep_is_followed_when_its_slow_parent_answers(tmp_path: Path) -> None:
    # The page at the limit is through before the parent answers.
    with GraphSite({**DETOUR, "/c": ["/x", "/w"], "/w": []}, {"/slow": "/c"}) as site:
        crawl(f"{site.origin}/", tmp_path, *PLAIN, "-a", "max_depth=3")
        depths = within(site.links, 3)
        assert site.counts == dict.fromkeys(depths, 1)
        assert stored_depths(tmp_path, site.origin) == depths
    assert "/x" in depths
    assert "/y" not in depths


def test_a_page_behind_a_redirect_is_as_near_as_what_leads_there(tmp_path: Path) -> None:
    links = {**DETOUR, "/c": [">/d"], "/d": ["/x"]}
    with GraphSite(links, {"/slow": "/d"}) as site:
        crawl(f"{site.origin}/", tmp_path, *PLAIN, "-a", "max_depth=3")
        assert site.counts == dict.fromkeys(("/", "/slow", "/a", "/b", "/c", "/d", "/x"), 1)
        assert stored_depths(tmp_path, site.origin)["/x"] == 3


class Objects:
    """Adds what JSON cannot hold to requests for ``/c`` that the slow page leads to."""

    def process_spider_output(self, response: Any, result: Any) -> Any:
        for one in result:
            if getattr(one, "url", "").endswith("/c") and response.url.endswith("/slow"):
                one.meta["object"] = object()
            yield one

    async def process_spider_output_async(self, response: Any, result: Any) -> Any:
        async for one in result:
            for changed in self.process_spider_output(response, [one]):
                yield changed


def test_a_shorter_way_that_cannot_be_stored_is_told(tmp_path: Path) -> None:
    objects = json.dumps({"tests.crawls.test_depth.Objects": 10})
    with GraphSite(DETOUR, {"/slow": "/x"}) as site:
        done = crawl(f"{site.origin}/", tmp_path, *PLAIN, "-s", f"SPIDER_MIDDLEWARES={objects}")
        assert site.counts == dict.fromkeys(DETOUR, 1)
    assert "links that were too deep are not followed" in done.stdout + done.stderr


def test_without_a_directory_it_is_the_same(tmp_path: Path) -> None:
    items = tmp_path / "items.jsonl"
    with GraphSite(DETOUR, {"/slow": "/c"}) as site:
        bounds = ("-a", f"url={site.origin}/", "-a", "max_depth=3", "-s", "JOBDIR=")
        done = scrapy("crawl", "site", *bounds, *PLAIN, "-O", str(items))
        assert done.returncode == 0, done.stderr
        assert site.counts == dict.fromkeys(within(DETOUR, 3), 1)
    assert len(items.read_text().splitlines()) == len(within(DETOUR, 3))


def test_a_kill_in_between_loses_no_shorter_way(tmp_path: Path) -> None:
    with GraphSite(DETOUR, {"/slow": "never"}) as site:
        where = ("-a", f"url={site.origin}/", "-s", f"JOBDIR={tmp_path}")
        with killed("crawl", "site", *where, *PLAIN, "-a", "max_depth=3"):
            site.wait_for("/c")
        site.release("/slow")
        crawl(f"{site.origin}/", tmp_path, *PLAIN, "-a", "max_depth=3")
        depths = within(DETOUR, 3)
        assert site.counts.keys() == depths.keys()
        assert stored_depths(tmp_path, site.origin) == depths


def test_a_visit_finds_pages_to_which_a_shorter_way_came(tmp_path: Path) -> None:
    links = {path: list(to) for path, to in DETOUR.items()}
    links["/slow"] = []
    with GraphSite(links) as site:
        crawl(f"{site.origin}/", tmp_path, *PLAIN, "-a", "max_depth=3")
        assert "/x" not in site.asked
        links["/slow"] = ["/c"]
        site.forget()
        crawl(f"{site.origin}/", tmp_path, *PLAIN, "-a", "max_depth=3", "-a", "revisit=yes")
        assert site.counts == dict.fromkeys(within(links, 3), 1)
        assert stored_depths(tmp_path, site.origin) == within(links, 3)


def test_a_mirror_has_the_pages_within_its_depth(tmp_path: Path) -> None:
    with GraphSite(DETOUR, {"/slow": "/c"}) as site:
        done = scrapy("mirror", f"{site.origin}/", str(tmp_path / "m"), "--max-depth", "3")
        assert done.returncode == 0, done.stderr
        assert site.counts == dict.fromkeys(within(DETOUR, 3), 1)


@pytest.mark.parametrize("text", ["--text", "--no-text"])
def test_a_mirror_fetches_a_page_again_whose_file_was_changed(tmp_path: Path, text: str) -> None:
    with GraphSite(DETOUR, {"/slow": "never"}) as site:
        file = tmp_path / "m" / host(site) / "c.html"
        bounds = ("--max-depth", "3", text)
        process = start_scrapy("mirror", f"{site.origin}/", str(tmp_path / "m"), *bounds)
        try:
            wait_until(file.exists)
            file.write_bytes(b"changed outside the crawl")
            site.release("/slow")
            process.communicate(timeout=60)
        finally:
            process.kill()
            process.communicate()
        assert site.counts == {**dict.fromkeys(within(DETOUR, 3), 1), "/c": 2}


def test_a_fleet_has_the_pages_within_its_depth(redis_url: str, tmp_path: Path) -> None:
    with GraphSite(DETOUR, {"/slow": "/c"}) as site:
        fleet = Fleet(cast("Any", site), redis_url, tmp_path, (*PLAIN, "-a", "max_depth=3"))
        fleet.crawl(2)
        assert site.counts == dict.fromkeys(within(DETOUR, 3), 1)
        found = [stored_depths(fleet.folder(number), site.origin) for number in (1, 2)]
    assert {path: depth for one in found for path, depth in one.items()} == within(DETOUR, 3)


@pytest.mark.parametrize("seed", range(4))
def test_any_graph_in_any_order_of_answers_is_crawled_as_plain_breadth_first(
    tmp_path: Path, seed: int
) -> None:
    chance = random.Random(seed)
    names = ["/", *(f"/{number}" for number in range(1, 40))]
    links = {name: chance.sample(names[1:], chance.randint(1, 3)) for name in names}
    # Some pages answer when another one was asked for that is far behind them.
    order = sorted(nearest(links, "/"), key=nearest(links, "/").__getitem__)
    waits = {path: chance.choice(order[at + 1 :]) for at, path in enumerate(order[1:4], 1)}
    limit = 4
    reached = within(links, limit)
    waits = {path: other for path, other in waits.items() if other in reached}
    with GraphSite(links, waits, patience_secs=3) as site:
        crawl(f"{site.origin}/", tmp_path, *PLAIN, "-a", f"max_depth={limit}")
        assert site.counts == dict.fromkeys(reached, 1), json.dumps(waits)
        assert stored_depths(tmp_path, site.origin) == reached
