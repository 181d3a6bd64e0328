"""Redirects of requests for whose sake others are skipped: what they lead to decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from crawler.storage.states import SKIPPED
from tests.crawler.frontier.ruled import SOMEWHERE
from tests.crawler.url_rules.test_engine import SID, tried

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawler.frontier.ruled import RuledCrawl

CHOSEN, OTHER, THIRD = (f"{SOMEWHERE}/page?id=1&sid=s{sid}" for sid in range(3))
BETWEEN = f"{SOMEWHERE}/between"
LOGIN = f"{SOMEWHERE}/login"
DEEP = f"{SOMEWHERE}{'/deep' * 20}"


def leased(folder: Path) -> RuledCrawl:
    """A crawl in which one URL was asked for, and two others are skipped for its sake."""
    crawl = tried(folder, SID)
    crawl.admit_all([CHOSEN, OTHER, THIRD])
    request = crawl.lease()
    assert request is not None
    crawl.queue.finish([request.id])
    assert [crawl.states()[url] for url in (OTHER, THIRD)] == [SKIPPED, SKIPPED]
    return crawl


def test_to_what_is_skipped_for_its_sake(tmp_path: Path) -> None:
    crawl = leased(tmp_path)
    crawl.rules.note_filtered_redirect([CHOSEN], THIRD)
    crawl.drain()
    assert crawl.fetched == [THIRD]


@pytest.mark.parametrize("target", [LOGIN, DEEP])
@pytest.mark.parametrize("between", [[], [BETWEEN], [f"{CHOSEN}9"]])
def test_to_what_was_asked_for_already(between: list[str], target: str, tmp_path: Path) -> None:
    crawl = leased(tmp_path)
    crawl.rules.note_filtered_redirect([CHOSEN, *between], target)
    crawl.drain()
    assert len(crawl.fetched) == 1
    assert crawl.fetched[0] in {OTHER, THIRD}


@pytest.mark.parametrize("target", [LOGIN, DEEP])
def test_to_what_is_not_to_be_kept(target: str, tmp_path: Path) -> None:
    crawl = leased(tmp_path)
    row = crawl.row(target, "noindex")
    crawl.store.insert(row)
    crawl.rules.observe(row, None, [CHOSEN, BETWEEN])
    crawl.drain()
    assert len(crawl.fetched) == 1


def test_to_what_fails(tmp_path: Path) -> None:
    crawl = leased(tmp_path)
    crawl.rules.substitutes.note_failure([CHOSEN, BETWEEN])
    crawl.drain()
    assert len(crawl.fetched) == 1


def test_to_a_page(tmp_path: Path) -> None:
    crawl = leased(tmp_path)
    row = crawl.row(DEEP, "new")
    row.words, row.words_digest, row.text = 100, b"0" * 16, b"what was moved there"
    crawl.store.insert(row)
    crawl.rules.observe(row, None, [CHOSEN])
    crawl.drain()
    # It may be a login, or the home page: another URL of the page is asked for.
    assert crawl.fetched == [OTHER]
