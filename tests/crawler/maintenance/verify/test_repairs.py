"""What verify repairs: texts that only the site can give again; and what it refuses to touch."""

from __future__ import annotations

from threading import Timer
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

from crawler.job import Job
from crawler.pages.page_links import LinkPacker
from crawler.reading.reading import StoredLink
from crawler.storage.errors import JobError, JobInUseError, JobVersionError
from tests.crawler.maintenance.verify.crawled import (
    QUEUED,
    check,
    check_and_repair,
    execute,
    rows,
    rules,
)
from tests.crawler.pages.test_capture import OPTIONS

if TYPE_CHECKING:
    from pathlib import Path

URL = "http://example.com"


def of(path: str) -> str:
    return f"WHERE url = '{URL}{path}' AND latest = 1"


class TestLostTexts:
    """What only the site can give again is queued."""

    def queued(self, folder: Path) -> list[object]:
        return [row[0] for row in rows(folder, "SELECT url FROM requests WHERE state = 0")]

    def test_a_page_and_its_duplicates_are_queued_again(self, folder: Path) -> None:
        execute(folder, f"UPDATE pages SET text = NULL, content = NULL {of('/a')}")
        check_and_repair(folder)
        lost = ["/a", "/same-bytes", "/same-text"]
        assert set(self.queued(folder)) == {*QUEUED, *(URL + path for path in lost)}
        # What it says itself is stored beside the pages.
        assert rows(folder, f"SELECT verdict, text NOTNULL FROM pages {of('/edited')}") == [
            ("new", 1)
        ]

    def test_a_duplicate_of_what_another_page_says_stays(self, folder: Path) -> None:
        execute(folder, f"UPDATE pages SET duplicate_of = 999 {of('/same-text')}")
        check_and_repair(folder)
        assert set(self.queued(folder)) == set(QUEUED)
        original = f"(SELECT duplicate_of FROM pages {of('/same-text')})"
        assert rows(folder, f"SELECT url FROM pages WHERE id = {original}") == [(f"{URL}/a",)]

    def test_what_was_queued_is_fetched_by_the_next_crawl(self, folder: Path) -> None:
        execute(folder, f"UPDATE pages SET text = x'00' {of('/other')}")
        check_and_repair(folder)
        job = Job(folder, OPTIONS)
        try:
            assert job.begin_visit()
            leased = list(iter(lambda: job.frontier.queue.lease(lambda host: 0), None))
        finally:
            job.close()
        assert f"{URL}/other" in {request.url for request in leased}

    def test_nothing_is_queued_for_a_spider_that_is_not_ours(self, folder: Path) -> None:
        execute(
            folder,
            "DELETE FROM meta WHERE name = 'plan'",
            f"UPDATE pages SET text = NULL, content = NULL {of('/other')}",
        )
        (finding,) = check_and_repair(folder).problems
        assert finding.rule == "kept-has-text"
        assert finding.remedy == ""
        assert "new JOBDIR" in finding.advice
        assert set(self.queued(folder)) == set(QUEUED)


class TestWhatCannotBeChecked:
    """Said as an error, and nothing is touched."""

    def test_a_directory_that_is_open(self, folder: Path) -> None:
        job = Job(folder, OPTIONS)
        try:
            with pytest.raises(JobInUseError, match="a crawl has it open"):
                check(folder)
        finally:
            job.close()

    def test_who_only_asks_whether_it_is_open_is_waited_for(self, folder: Path) -> None:
        asking = FileLock(folder / "lock", thread_local=False)
        asking.acquire()
        Timer(0.05, asking.release).start()
        assert check(folder).problems == ()

    def test_a_directory_of_something_else(self, tmp_path: Path) -> None:
        with pytest.raises(JobError, match="no crawl in it"):
            check(tmp_path)
        assert not any(tmp_path.iterdir())

    def test_another_schema(self, folder: Path) -> None:
        execute(folder, "UPDATE meta SET value = '0' WHERE name = 'schema_version'")
        with pytest.raises(JobVersionError):
            check(folder)

    def test_features_that_are_not_known(self, folder: Path) -> None:
        execute(folder, "UPDATE meta SET value = 'runes-9' WHERE name LIKE 'features%'")
        (finding,) = check(folder).problems
        assert finding.rule == "features-known"

    def test_a_damaged_database(self, folder: Path) -> None:
        path = folder / "crawl.db"
        page_bytes = 4096
        place = path.read_bytes().index(f"{URL}/other".encode())
        with path.open("r+b") as file:
            file.seek(place - place % page_bytes)
            file.write(b"\xff" * 100)
        before = path.read_bytes()
        found = check_and_repair(folder)
        assert rules(found) == {"database-whole"}
        assert found.done == ()
        assert path.read_bytes() == before

    def test_nothing_is_written_to_a_database_that_lost_a_table(self, folder: Path) -> None:
        execute(folder, "DROP TABLE url_groups", "DELETE FROM known")
        before = (folder / "crawl.db").read_bytes()
        found = check_and_repair(folder)
        assert rules(found) == {"database-whole"}
        assert found.done == ()
        assert (folder / "crawl.db").read_bytes() == before


def test_links_whose_page_gets_its_key_back_are_no_damage(folder: Path) -> None:
    ((key,),) = rows(folder, f"SELECT key FROM pages {of('/b')}")
    assert isinstance(key, bytes)
    packed = LinkPacker().pack([StoredLink(f"{URL}/next", False)], nofollow=False)
    execute(
        folder,
        f"INSERT INTO links (key, shared, urls) VALUES (x'{key.hex()}', 0, x'{packed.hex()}')",
        f"UPDATE pages SET key = x'{'7a' * len(key)}' WHERE key = x'{key.hex()}'",
    )
    links = rows(folder, "SELECT count(*) FROM links")
    assert "links-readable" in rules(check(folder))
    check_and_repair(folder)
    assert rows(folder, "SELECT count(*) FROM links") == links


def test_what_was_repaired_is_told_and_a_page_queued_once(folder: Path) -> None:
    noise = "UPDATE pages SET text = x'00' WHERE url LIKE '%/b' AND latest = {}"
    execute(folder, noise.format(0), noise.format(1))
    done = check_and_repair(folder).done
    assert "stored texts that cannot be decompressed: 2" in done
    assert any(deed.startswith("entries of the fingerprint index of no stored") for deed in done)
    assert rows(folder, "SELECT count(*) FROM requests WHERE url LIKE '%/b'") == [(1,)]


@pytest.mark.parametrize("fleet", ["", "INSERT INTO meta VALUES ('fleet', '{}')"])
def test_what_an_unreadable_rule_skipped_is_put_back(folder: Path, fleet: str) -> None:
    skipped = "SELECT count(*) FROM requests WHERE rule IS NOT NULL"
    assert rows(folder, skipped) != [(0,)]
    execute(folder, "UPDATE url_rules SET rule = '{'", *filter(None, [fleet]))
    check_and_repair(folder)
    assert rows(folder, skipped) == [(0,)]


class TestJudgedAgain:
    """Where a verdict is wrong, its page is judged again by its text."""

    def test_duplicates_of_wrong_originals_get_the_verdicts_of_their_texts(
        self, folder: Path
    ) -> None:
        sql = "SELECT url, verdict, distance, similarity FROM pages WHERE latest = 1 ORDER BY url"
        before = rows(folder, sql)
        other = f"(SELECT id FROM pages {of('/other')})"
        execute(folder, f"UPDATE pages SET duplicate_of = {other} {of('/edited')}")
        done = check_and_repair(folder).done
        assert any(deed.startswith("verdicts of pages judged again: ") for deed in done)
        assert rows(folder, sql) == before

    def test_a_near_duplicate_whose_text_is_lost_is_fetched_again(self, folder: Path) -> None:
        other = f"(SELECT id FROM pages {of('/other')})"
        execute(
            folder,
            "DELETE FROM near_texts",
            f"UPDATE pages SET duplicate_of = {other} {of('/edited')}",
        )
        check_and_repair(folder)
        queued = "SELECT count(*) FROM requests WHERE state = 0 AND url LIKE '%/edited'"
        assert rows(folder, queued) == [(1,)]

    def test_pages_that_were_kept_by_other_parameters_stay(self, folder: Path) -> None:
        """Those that a user chose since hold for pages to come."""
        sql = "SELECT url, verdict FROM pages WHERE latest = 1 ORDER BY url"
        before = rows(folder, sql)
        names = "json_set(chosen, '$.compare_names', json('false'), '$.min_similarity', 0.5)"
        execute(
            folder,
            "INSERT INTO parameters (since, origin, chosen)"
            f" SELECT since, 'tune', {names} FROM parameters ORDER BY id DESC LIMIT 1",
            f"UPDATE pages SET similarity = 0.1 {of('/edited')}",
        )
        assert check_and_repair(folder).findings == ()
        assert rows(folder, sql) == before
        assert ("http://example.com/like", "same_template") in before

    def test_nothing_is_judged_where_no_parameters_can_be_read(self, folder: Path) -> None:
        sql = "SELECT url, verdict FROM pages WHERE latest = 1 ORDER BY url"
        before = rows(folder, sql)
        execute(
            folder,
            "UPDATE parameters SET chosen = '{'",
            f"UPDATE pages SET similarity = 0.1 {of('/edited')}",
        )
        check_and_repair(folder)
        assert rows(folder, sql) == before

    def test_nothing_is_judged_by_a_damaged_text_that_cannot_be_queued(self, folder: Path) -> None:
        sql = "SELECT url, verdict FROM pages WHERE latest = 1 ORDER BY url"
        before = rows(folder, sql)
        execute(
            folder,
            "DELETE FROM meta WHERE name = 'plan'",
            f"UPDATE pages SET text = x'0011' {of('/other')}",
            f"UPDATE pages SET similarity = 0.1 {of('/edited')}",
        )
        assert check_and_repair(folder).problems
        assert rows(folder, sql) == before

    def test_duplicates_of_pages_of_another_crawl_stay(self, folder: Path) -> None:
        execute(
            folder,
            f"UPDATE pages SET duplicate_of = NULL {of('/edited')}",
            "INSERT INTO elsewhere SELECT id, zeroblob(16), 'http://example.org/', NULL"
            f" FROM pages {of('/edited')}",
            f"UPDATE pages SET similarity = 0.5 {of('/like')}",
        )
        assert check_and_repair(folder).findings == ()
        assert rows(folder, f"SELECT verdict, duplicate_of FROM pages {of('/edited')}") == [
            ("near_duplicate", None)
        ]
