"""Rules of which one goes on with what another one made of an address, and hosts by two names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.urls.learning.context import Context
from crawler.urls.learning.transforms import LowerPath, ReplaceSegments
from tests.crawler.frontier.ruled import NAME, SOMEWHERE, RuledCrawl

if TYPE_CHECKING:
    from pathlib import Path

INDEX = (Context(NAME), ReplaceSegments(True, 0, ("index.html",), ("",)))
LOWER = (Context(NAME), LowerPath())


def test_an_exception_in_vain_revokes_the_rule(tmp_path: Path) -> None:
    crawl = RuledCrawl(tmp_path, lambda url: url)
    crawl.take(INDEX, LOWER)
    for rule in crawl.rules.rules:
        rule.clusters = {"/x?", "/y?"}
        rule.positives = 5 if isinstance(rule.transform, LowerPath) else 3
    # Only what the second rule made of it is of a kind that the first one speaks of.
    crawl.admit(f"{SOMEWHERE}/a/", is_fixed=True)
    crawl.admit(f"{SOMEWHERE}/A/INDEX.HTML", is_fixed=True)
    crawl.drain()
    assert [rule.transform for rule in crawl.rules.rules] == [LowerPath()]
