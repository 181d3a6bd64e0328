"""The end of a crawl, compared with what brute force finds to try."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from crawler.storage.states import SKIPPED
from crawler.url_rules.learning.context import Context
from crawler.url_rules.learning.transforms import DropArguments, LowerPath, ReplaceSegments
from tests.crawler.frontier.ruled import NAME, SOMEWHERE
from tests.crawler.url_rules.test_engine import argument, tried
from tests.crawler.url_rules.test_validation import number_of, without

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.url_rules.learning.proposals import Proposal

ARGUMENTS: list[Proposal] = [
    (Context(NAME), without("copy", "1")),
    (Context(NAME), without("copy", "2")),
    (Context(NAME), ReplaceSegments(False, 0, ("print", "page"), ("page",))),
    (Context(NAME), DropArguments(("sid",))),
    (Context(NAME), LowerPath()),
]


def clutter(pages: int, seed: int) -> list[str]:
    """URLs that need one, two or more of the rules above, in any order."""
    chance = random.Random(seed)
    urls = [
        f"{SOMEWHERE}{path}/{number}?{copy}{sid}"
        for number in range(pages)
        for path in ("/page", "/print/page", "/Page")
        for copy in ("", "copy=1&", "copy=2&")
        for sid in ("", f"sid=x{number}y1", f"sid=x{number}y2")
    ]
    return chance.sample(urls, len(urls) * 2 // 3)


@pytest.mark.parametrize("seed", range(4))
def test_of_each_page_everything_is_tried_that_is_skipped_there(seed: int, tmp_path: Path) -> None:
    """Compared with what brute force finds: pages are fewer than would prove anything."""
    crawl = tried(tmp_path, *ARGUMENTS, site=lambda url: f"page {number_of(url)}")
    crawl.admit_all(clutter(30, seed))
    crawl.examine()
    fetched: dict[bytes, list[str]] = {}
    for url in crawl.fetched:
        fetched.setdefault(crawl.group(url), []).append(url)
    skipped = [url for url, state in crawl.states().items() if state == SKIPPED]
    assert skipped
    for url in skipped:
        others = [parts(other) for other in fetched[crawl.group(url)]]
        assert all(part in {one for other in others for one in other} for part in parts(url))
        # Nor is there a plainer one, or one with more, by which a part is told from none.
        assert parts(url) in others or not missing(parts(url), others)


def parts(url: str) -> frozenset[str]:
    """What the rules above change in a URL, but for the session."""
    found = {"print": "/print/" in url, "capital": "/Page" in url}
    found |= {f"copy {value}": argument(url, "copy") == value for value in "12"}
    return frozenset(name for name, is_there in found.items() if is_there)


def missing(one: frozenset[str], fetched: list[frozenset[str]]) -> set[str]:
    """By what it differs, as nothing else does, from those with all its parts, or only such."""
    pairs = [(a, b) for a in fetched for b in fetched if a <= b]
    told = {part for a, b in pairs for part in b - a}
    nested = [other for other in fetched if one <= other or other <= one]
    return {part for other in nested for part in one ^ other} - told
