"""Where a crawl goes when a seed is redirected."""

from __future__ import annotations

import pytest

from crawler.urls.moves import moved_scope
from crawler.urls.scope import Scope

CASES = [
    # seed, target, a URL that is in scope then, one that is not
    ("http://h.com/docs", "http://h.com/docs/", "http://h.com/docs/a", "http://h.com/a"),
    ("http://h.com/3.12/", "http://h.com/3.13/", "http://h.com/3.13/a", "http://h.com/3.12/a"),
    ("http://h.com/", "http://h.com/en/", "http://h.com/en/a", "http://h.com/de/a"),
    ("http://h.com/app/", "http://h.com/login", "http://h.com/app/a", "http://h.com/a"),
    ("http://h.com/a/", "https://h.com/a/", "https://h.com/a/b", "https://h.com/b"),
    ("http://h.com/a/", "https://www.h.com/a/", "https://www.h.com/a/b", "https://www.h.com/b"),
]


@pytest.mark.parametrize(("seed", "target", "inside", "outside"), CASES)
def test_scope_moves_with_the_seed(seed: str, target: str, inside: str, outside: str) -> None:
    scope = moved_scope(Scope([seed]), seed, target)
    assert scope is not None
    assert scope.allows(inside)
    assert not scope.allows(outside)


@pytest.mark.parametrize("target", ["http://other.com/", "http://127.0.0.1/", "http://h.org/"])
def test_a_site_of_somebody_else_is_not_followed(target: str) -> None:
    assert moved_scope(Scope(["http://h.com/a/"]), "http://h.com/a/", target) is None


@pytest.mark.parametrize("target", ["http://other.com/y/a", "https://h.com/y/a", "http://h.com/y/"])
def test_what_another_seed_covers_is_followed_and_the_scope_stays(target: str) -> None:
    seeds = ["http://h.com/x/", "http://other.com/y/", "http://h.com/y/b", "https://h.com/y/"]
    scope = Scope(seeds)
    assert moved_scope(scope, "http://h.com/x/", target) is scope
