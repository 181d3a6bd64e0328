"""What changed in a crawl directory, where the text of a page is the same."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.watch import watch_store
from crawler.watch.changes import MIN_REPEATED, ChangeFinder
from crawler.watch.watch_store import WatchStore
from neardup import Parameters
from tests.crawler.maintenance.rejudge.captured import Said, capture
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGES = 40


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pages = [(f"/{number}", Said(prose(f"page {number}", 80))) for number in range(PAGES)]
    capture(tmp_path / "job", pages, Parameters())
    entitle(tmp_path / "job", 1, dict.fromkeys(range(PAGES), "Old"))
    return tmp_path / "job"


@pytest.fixture
def store(folder: Path) -> Iterator[WatchStore]:
    with closing(WatchStore(folder)) as opened:
        assert ChangeFinder(opened).take_base() == PAGES
        yield opened


def entitle(folder: Path, visit: int, titles: dict[int, str]) -> None:
    """See all pages at a visit, some of them with another title."""
    with closing(sqlite3.connect(folder / "crawl.db")) as crawl, crawl:
        crawl.execute("UPDATE pages SET seen_visit = ?", (visit,))
        for number, title in titles.items():
            url = f"http://example.com/{number}"
            crawl.execute("UPDATE pages SET title = ? WHERE url = ?", (title, url))


def told(store: WatchStore) -> list[str]:
    """The summaries of what is noted now."""
    known = len(store.newest(1_000))
    found = ChangeFinder(store).note_changes(0.0)
    noted = store.newest(1_000)
    assert found.counts.total() == len(noted) - known
    return [one.change.summary for one in noted[: len(noted) - known]]


def test_a_title_that_changed_alone_is_told_once(folder: Path, store: WatchStore) -> None:
    entitle(folder, 2, {3: "New"})
    assert told(store) == ['the title changed: "Old" is now "New"']
    assert told(store) == []


def test_a_clock_in_a_title_is_not_told(folder: Path, store: WatchStore) -> None:
    entitle(folder, 2, {3: "Time 10:15"})
    told(store)
    entitle(folder, 3, {})
    told(store)
    entitle(folder, 4, {3: "Time 10:16"})
    assert told(store) == []


def test_a_title_that_changes_at_each_visit_is_told_at_the_first(
    folder: Path, store: WatchStore
) -> None:
    for visit, title in enumerate(("One", "Two", "Three"), 2):
        entitle(folder, visit, {3: title})
        assert len(told(store)) == (visit == 2)
    entitle(folder, 5, {})
    assert told(store) == []
    entitle(folder, 6, {3: "Four"})
    assert told(store) == ['the title changed: "Three" is now "Four"']


def test_a_site_that_changes_all_of_its_titles_is_not_told_page_by_page(
    folder: Path, store: WatchStore
) -> None:
    entitle(folder, 2, {number: f"Shop {number % 3}" for number in range(MIN_REPEATED)})
    assert told(store) == []
    entitle(folder, 3, {})
    assert told(store) == []
    entitle(folder, 4, {number: f"Store {number % 3}" for number in range(MIN_REPEATED - 1)})
    assert len(told(store)) == MIN_REPEATED - 1


def test_pages_are_read_in_batches_without_sorting_them(folder: Path, store: WatchStore) -> None:
    for sql, first in ((watch_store._DIFFERING, 0), (watch_store._DROPPED, b"")):
        plan = store.connection.execute(f"EXPLAIN QUERY PLAN {sql}", (first,)).fetchall()
        assert not any("TEMP B-TREE" in row[-1] for row in plan), plan
    entitle(folder, 2, dict.fromkeys(range(PAGES), "New"))
    small = watch_store._DIFFERING.replace(f"LIMIT {watch_store._BATCH}", "LIMIT 7")
    batches = list(store._batches(small, "id", 0))
    assert max(map(len, batches)) == 7
    ids = [row["id"] for batch in batches for row in batch]
    assert len(ids) == PAGES
    assert ids == sorted(set(ids))
