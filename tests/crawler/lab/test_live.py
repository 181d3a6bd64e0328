"""A crawl looked at while it is written: what is read piece by piece is what is there."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
import zstandard

from crawler.lab import live
from crawler.lab.live import LiveCrawl
from crawler.maintenance.crawl_report import make_report
from crawler.pages.verdicts import KEPT
from crawler.storage.database import open_for_reading
from crawler.storage.errors import JobError
from tests.crawls.command import crawl
from tests.sites.many import ManyPages
from tests.sites.many import pages as many

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.lab.live import Snapshot
    from crawler.maintenance.crawl_report import Report

COLUMNS = (
    "key, url, canonical_url, latest, visit, fetched_at, seen_visit, seen_at, depth, body_bytes,"
    " title, words, links, verdict, better_copy, duplicate_of, parameters, text"
)
TEXT = zstandard.compress(b"A text.")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl of a hundred pages, visited twice; some changed in between."""
    folder = tmp_path_factory.mktemp("crawl")
    served = many(100)
    with ManyPages(served) as site:
        crawl(site.url, folder)
        site.pages["/7.html"] = served["/8.html"].replace(b"Many", b"Much")
        del site.pages["/99.html"]
        crawl(site.url, folder, "-a", "revisit=yes")
    return folder


@pytest.fixture
def written(tmp_path: Path, finished: Path) -> sqlite3.Connection:
    """A copy of its database without a page, to be written to by a test."""
    with closing(sqlite3.connect(finished / "crawl.db")) as source:
        connection = sqlite3.connect(tmp_path / "crawl.db", isolation_level=None)
        source.backup(connection)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("DELETE FROM pages")
    connection.execute("DELETE FROM known")
    return connection


def add(connection: sqlite3.Connection, count: int, verdict: str = "new", **more: object) -> None:
    """Store pages as a crawl does, in one transaction."""
    values = {"duplicate_of": None, "parameters": 1, "visit": 2, **more}
    now = time.time()
    connection.execute("BEGIN")
    (stored,) = connection.execute("SELECT count(*) FROM pages").fetchone()
    for number in range(stored, stored + count):
        url = f"http://h{number % 3}.example/{number}"
        row = (
            number.to_bytes(16, "big"), url, url, 1, values["visit"], now, values["visit"], now,
            1, 1_000, "A title", 100, 0, verdict, 0, values["duplicate_of"], values["parameters"],
            TEXT if verdict in KEPT else None,
        )  # fmt: skip
        marks = ", ".join("?" * len(row))
        connection.execute(f"INSERT INTO pages ({COLUMNS}, checksum) VALUES ({marks}, 0)", row)
    connection.execute("COMMIT")


def reported(folder: Path) -> Report:
    with closing(open_for_reading(folder)) as connection:
        return make_report(connection)


def agrees(seen: Snapshot, report: Report) -> bool:
    """Whether both say the same of the visit."""
    tally = seen.tally
    verdicts = {name: count for name, count in report.verdicts.items() if count}
    return (
        dict(seen.verdicts) == verdicts
        and (seen.visit, seen.fetched, tally.failed)
        == (report.visit, report.fetched, report.failed)
        and (tally.kept, tally.duplicates) == (report.kept, report.duplicates)
        and tally.queued == report.queued
        and (tally.saved_bytes, tally.fetched_bytes) == (report.saved_bytes, report.fetched_bytes)
        and seen.saved_extractions == report.saved_extractions
    )


class TestLook:
    def test_it_says_what_the_report_says(self, finished: Path) -> None:
        one = LiveCrawl(finished)
        assert one.look()
        found = reported(finished)
        assert found.visit == 2
        assert found.verdicts["unchanged"] > 80
        assert (found.kept, found.duplicates) == (96, 4)  # pages 20, 40, 60, 80 are twins
        assert agrees(one.seen, found)
        assert dict(one.seen.stage_secs) == pytest.approx(found.stage_secs, abs=0.001)

    def test_a_second_look_finds_nothing_new(self, finished: Path) -> None:
        one = LiveCrawl(finished)
        one.look()
        assert not one.look()

    def test_pages_are_counted_as_they_come(
        self, written: sqlite3.Connection, tmp_path: Path
    ) -> None:
        one = LiveCrawl(tmp_path)
        one.look()
        assert (one.seen.fetched, one.seen.pages) == (0, ())
        add(written, 5)
        add(written, 3, "exact_duplicate", duplicate_of=1)
        assert one.look()
        seen = one.seen
        tally = seen.tally
        assert (seen.fetched, tally.kept, tally.duplicates, seen.saved_extractions) == (8, 5, 3, 3)
        assert (tally.fetched_bytes, tally.saved_bytes) == (8_000, 3_000)
        assert [page.id for page in seen.pages] == list(range(8, 0, -1))
        assert seen.hosts == {"h0.example": 3, "h1.example": 3, "h2.example": 2}
        assert seen.steps[-1][1:] == (5, 3)
        assert 0.8 <= seen.pages_per_sec(time.time()) <= 8

    def test_what_was_seen_does_not_change_under_its_reader(
        self, written: sqlite3.Connection, tmp_path: Path
    ) -> None:
        one = LiveCrawl(tmp_path)
        add(written, 5)
        one.look()
        before = one.seen
        add(written, 5)
        one.look()
        assert (len(before.pages), before.fetched) == (5, 5)
        assert (len(one.seen.pages), one.seen.fetched) == (10, 10)

    def test_only_the_newest_are_remembered_one_by_one_however_it_is_read(
        self, written: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(live, "MAX_PAGES", 20)
        along = LiveCrawl(tmp_path)
        for _ in range(4):
            add(written, 11)
            add(written, 2, "text_duplicate", duplicate_of=1)
            along.look()
        late = LiveCrawl(tmp_path)
        late.look()
        for seen in (along.seen, late.seen):
            assert agrees(seen, reported(tmp_path))
            assert [page.id for page in seen.pages] == list(range(52, 32, -1))
            assert seen.is_cut
            assert sum(seen.hosts.values()) == 20
            assert seen.steps[-1][1:] == (44, 8)

    def test_another_visit_begins_at_zero(
        self, written: sqlite3.Connection, tmp_path: Path
    ) -> None:
        one = LiveCrawl(tmp_path)
        add(written, 5)
        one.look()
        written.execute("UPDATE meta SET value = '3' WHERE name = 'visit'")
        add(written, 2, visit=3)
        one.look()
        assert (one.seen.visit, one.seen.fetched) == (3, 2)
        assert len(one.seen.pages) == 2

    def test_the_first_page_by_new_parameters_is_known(
        self, written: sqlite3.Connection, tmp_path: Path
    ) -> None:
        one = LiveCrawl(tmp_path)
        add(written, 5)
        one.look()
        assert one.seen.first_with(2) is None
        add(written, 3, parameters=2)
        one.look()
        first = one.seen.first_with(2)
        assert first is not None
        assert first.id == 6

    def test_the_moments_of_other_parameters_are_known(
        self, written: sqlite3.Connection, tmp_path: Path
    ) -> None:
        one = LiveCrawl(tmp_path)
        one.look()
        assert not one.seen.tuned_at
        written.execute(
            "INSERT INTO parameters SELECT id + 1, 1234.5, 'lab', chosen FROM parameters"
        )
        assert one.look()
        assert list(one.seen.tuned_at) == [1234.5]

    def test_pages_that_were_judged_again_have_their_new_verdicts(
        self, written: sqlite3.Connection, tmp_path: Path
    ) -> None:
        one = LiveCrawl(tmp_path)
        add(written, 5)
        one.look()
        written.execute(
            "UPDATE pages SET parameters = 2, verdict = 'near_duplicate', duplicate_of = 1,"
            " text = NULL"
            " WHERE id > 1"
        )
        written.execute("UPDATE pages SET parameters = 2 WHERE id = 1")
        assert one.look()
        assert (one.seen.tally.kept, one.seen.tally.duplicates) == (1, 4)
        assert {page.verdict for page in one.seen.pages} == {"new", "near_duplicate"}
        assert one.seen.steps[-1][1:] == (1, 4)

    def test_a_crawl_that_is_gone_says_so(self, tmp_path: Path) -> None:
        one = LiveCrawl(tmp_path / "nowhere")
        with pytest.raises(JobError, match="no such directory"):
            one.look()
        with pytest.raises(JobError, match="no such directory"):
            one.original_of(1)

    def test_a_duplicate_has_the_url_of_its_original(
        self, written: sqlite3.Connection, tmp_path: Path
    ) -> None:
        add(written, 2)
        written.execute("UPDATE pages SET duplicate_of = 1 WHERE id = 2")
        one = LiveCrawl(tmp_path)
        (url,) = written.execute("SELECT url FROM pages WHERE id = 1").fetchone()
        assert one.original_of(2) == url
        assert one.original_of(1) is None
        assert one.original_of(10**9) is None
