"""A merged page has its own words, or is read again: never those of another one for good."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.maintenance.merge.fleet_texts import FleetRecord
from crawler.maintenance.merge.merging import merge
from crawler.pages.reasons import Reason
from tests.crawler.maintenance.merge.crawls import (
    LONG,
    NEAR,
    OTHER,
    PARAMETERS,
    crawled,
    merged,
)
from tests.crawler.maintenance.merge.test_any_deal import problems
from tests.crawler.maintenance.merge.test_merging import texts
from tests.crawler.maintenance.rejudge.captured import Said
from tests.crawler.pages.sharing import OneMemory, fleet
from tests.crawler.pages.test_capture import OPTIONS
from tests.crawler.pages.test_sharing import said
from tests.no_watch import NoWatch
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT_NEAR_TEXTS = replace(OPTIONS, keep_near_texts=False)


def test_copies_of_a_page_that_was_lent_a_text_are_read_again(tmp_path: Path) -> None:
    near: list[tuple[str, Said | bytes]] = [("/n", Said(NEAR)), ("/m", Said(NEAR))]
    one = crawled(tmp_path / "one", [("/a", Said(LONG)), *near], WITHOUT_NEAR_TEXTS)
    two = crawled(tmp_path / "two", [("/a", Said(OTHER))])
    found = merged(tmp_path, one, two)
    assert found.lost
    assert not found.is_whole
    out = tmp_path / "out"
    changed = prose("third", 200)
    crawled(out, [("/n", Said(changed)), ("/m", Said(NEAR)), ("/a", Said(OTHER))])
    assert texts(out)["/m"] == NEAR
    assert texts(out)["/n"] == changed


def test_of_equal_captures_the_one_with_its_own_words_stays(tmp_path: Path) -> None:
    pages: list[tuple[str, Said | bytes]] = [("/q", Said(LONG)), ("/p", Said(NEAR))]
    one = crawled(tmp_path / "one", pages, WITHOUT_NEAR_TEXTS)
    two = crawled(tmp_path / "two", pages)
    three = crawled(tmp_path / "three", [("/q", Said(OTHER))])
    found = merged(tmp_path, one, two, three)
    assert found.is_whole
    assert texts(tmp_path / "out")["/p"] == NEAR


def test_a_page_of_the_fleet_is_restored_though_another_worker_got_an_error(tmp_path: Path) -> None:
    memory = OneMemory(PARAMETERS)
    with fleet([tmp_path / "gone", tmp_path / "left"], OPTIONS, memory) as (gone, left):
        asyncio.run(said(gone, "/a", Said(LONG)))
        status = Reason.HTTP_STATUS.stored(500)
        left.store_failure("http://example.com/a", "failed", status, status=500)
        asyncio.run(said(left, "/b", Said(OTHER)))
    record = FleetRecord(memory.kept, {"host/dead/1": 3})
    found = merge(tmp_path / "out", [tmp_path / "left"], NoWatch(), record)
    assert found.restored == 1
    assert texts(tmp_path / "out") == {"/a": LONG, "/b": OTHER}


def test_a_restored_page_is_the_original_of_what_was_fetched_after_it(tmp_path: Path) -> None:
    memory = OneMemory(PARAMETERS)
    with fleet([tmp_path / "gone", tmp_path / "left"], OPTIONS, memory) as (gone, left):
        asyncio.run(said(left, "/first", Said(OTHER)))
        asyncio.run(said(gone, "/a", Said(LONG)))
    alone = crawled(tmp_path / "alone", [("/later", Said(LONG)), ("/again", Said(OTHER))])
    record = FleetRecord(memory.kept, {"host/dead/1": 3})
    merge(tmp_path / "out", [alone, tmp_path / "left"], NoWatch(), record)
    assert problems(tmp_path / "out") == ()
    assert texts(tmp_path / "out") == {"/first": OTHER, "/a": LONG}
    assert not (tmp_path / "out" / "fleet").exists()
