"""How deep a page is does not depend on when its parents answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.crawls.command import crawl
from tests.sites.graph import GraphSite

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = ("-s", "CRAWL_LEARN_URL_RULES=False", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=2")


def branching() -> dict[str, list[str]]:
    """A fast branch with many pages three links deep, a slow one with forty at two."""
    links = {"/": ["/slow", "/fast"], "/slow": [f"/near-{n}" for n in range(40)]}
    links["/fast"] = [f"/fast-{n}" for n in range(10)]
    for n in range(10):
        links[f"/fast-{n}"] = [f"/far-{n}-{m}" for m in range(20)]
    for page in [to for found in links.values() for to in found]:
        links.setdefault(page, [])
    return links


def test_what_is_near_is_asked_for_before_what_is_far_and_came_sooner(tmp_path: Path) -> None:
    links = branching()
    with GraphSite(links, {"/slow": "/far-0-9"}) as site:
        crawl(f"{site.origin}/", tmp_path, *PLAIN)
        asked = site.asked
    assert sorted(asked) == sorted(links)
    last = max(at for at, path in enumerate(asked) if path.startswith("/near"))
    before = [path for path in asked[:last] if path.startswith("/far")]
    assert len(before) < 100, "all of the two hundred were asked for first, by arrival"
