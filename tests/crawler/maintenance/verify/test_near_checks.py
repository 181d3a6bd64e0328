"""A kept page that repeats another one is found however far their fingerprints are apart."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from neardup import analyse, hamming, jaccard
from tests.crawler.maintenance.verify.crawled import check, check_and_repair, execute, rows, rules
from tests.crawler.pages.test_capture import OPTIONS, capture, html, verdicts
from tests.neardup.texts import changed, prose

if TYPE_CHECKING:
    from pathlib import Path

_KEEP = """
UPDATE pages SET verdict = 'new', duplicate_of = NULL, distance = NULL, similarity = NULL,
  text = (SELECT text FROM near_texts WHERE page = pages.id) WHERE verdict = 'near_duplicate'
"""


def distance(first: str, second: str) -> int:
    ours, theirs = (analyse(text).fingerprint for text in (first, second))
    assert ours is not None
    assert theirs is not None
    return hamming(ours, theirs)


def far_copy() -> tuple[str, str]:
    """Two texts that repeat each other and have fingerprints that no index of 3 bits finds."""
    max_distance = OPTIONS.parameters.max_distance
    for seed in range(100):
        text = prose(seed, 120)
        copy = changed(text, seed, 2)
        if distance(text, copy) > max_distance and jaccard(text, copy) >= 0.82:
            return text, copy
    raise AssertionError("no such texts")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    text, copy = far_copy()
    captured = capture(tmp_path, [("/a", html(text, "A")), ("/b", html(copy, "A"))])
    assert verdicts(captured) == ["new", "near_duplicate"]
    assert not check(tmp_path).problems
    return tmp_path


def test_a_copy_that_only_bands_find_is_found_and_made_a_duplicate_again(folder: Path) -> None:
    execute(folder, _KEEP, "DELETE FROM near_texts")
    assert "kept-apart" in rules(check(folder))
    assert not check_and_repair(folder).findings
    found = rows(folder, "SELECT verdict FROM pages ORDER BY id")
    assert found == [("new",), ("near_duplicate",)]


def test_signatures_of_other_shingles_are_those_of_the_crawl(tmp_path: Path) -> None:
    parameters = replace(OPTIONS.parameters, verify_shingle_size=3)
    text, copy = far_copy()
    answers = [("/a", html(text, "A")), ("/b", html(copy, "A"))]
    capture(tmp_path, answers, replace(OPTIONS, parameters=parameters))
    assert not check(tmp_path).problems
