"""Each rule broken on purpose in real files: found, mended, and clean afterwards."""

from __future__ import annotations

import random
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from crawler.job import Job
from neardup import HammingIndex
from neardup.bloom import ScalableBloomFilter
from tests.crawler.maintenance.verify.crawled import (
    check,
    check_and_repair,
    execute,
    rows,
    rules,
)
from tests.crawler.pages.test_capture import OPTIONS, capture, html
from tests.crawler.pages.test_visits import PAGES
from tests.sites.prose import prose

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Damage = Callable[[Path], None]

URL = "http://example.com"


def sql(*statements: str) -> Damage:
    return lambda folder: execute(folder, *statements)


def of(path: str) -> str:
    return f"WHERE url = '{URL}{path}' AND latest = 1"


def stale_index(folder: Path) -> None:
    """Take an index out of the schema, write past it, and put it back."""
    with closing(sqlite3.connect(folder / "crawl.db", isolation_level=None)) as connection:
        execute = connection.execute
        found = execute("SELECT * FROM sqlite_master WHERE name = 'pages_key'").fetchone()
        execute("PRAGMA writable_schema = ON")
        execute("DELETE FROM sqlite_master WHERE name = 'pages_key'")
    execute_once = "UPDATE pages SET key = zeroblob(16) WHERE id = 5"
    with closing(sqlite3.connect(folder / "crawl.db", isolation_level=None)) as connection:
        connection.execute(execute_once)
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", found)


def without_one(folder: Path) -> None:
    """An index that lacks a page in the middle."""
    held = rows(
        folder,
        "SELECT fingerprint, id FROM pages WHERE fingerprint IS NOT NULL"
        " AND verdict IN ('new', 'changed', 'too_short') ORDER BY id",
    )
    shutil.rmtree(folder / "fingerprints")
    with HammingIndex(folder / "fingerprints") as index:
        for fingerprint, page_id in held[:1] + held[2:]:
            assert isinstance(fingerprint, int)
            assert isinstance(page_id, int)
            index.add(fingerprint % 2**64, page_id)


def with_another(folder: Path) -> None:
    with HammingIndex(folder / "fingerprints") as index:
        index.add(12345, 999)


def flip_log(folder: Path) -> None:
    (log,) = (folder / "fingerprints").glob("*.log")
    data = bytearray(log.read_bytes())
    data[20] ^= 1
    log.write_bytes(data)


def cut_log(size: int) -> Callable[[Path], None]:
    """A log of fingerprints of which only so many bytes are left; below 0, but for so many."""

    def cut(folder: Path) -> None:
        (log,) = (folder / "fingerprints").glob("*.log")
        log.write_bytes(log.read_bytes()[:size])

    return cut


def empty_bloom(folder: Path) -> None:
    ScalableBloomFilter(1000, 0.001).save(folder / "seen.bloom")


def held(path: str) -> str:
    return f"(SELECT text FROM pages {of(path)})"


HUGE = "x'28b52ffde0ffffffffffffff7f010000'"
"""A frame of zstd that says that it holds eight exabytes."""


def flip_content(folder: Path) -> None:
    """A letter of what is shown becomes another one."""
    with closing(sqlite3.connect(folder / "crawl.db")) as connection:
        ((packed,),) = connection.execute(f"SELECT content FROM pages {of('/other')}").fetchall()
        middle = len(packed) // 2
        flipped = packed[:middle] + bytes([packed[middle] ^ 1]) + packed[middle + 1 :]
        connection.execute(f"UPDATE pages SET content = ? {of('/other')}", (flipped,))
        connection.commit()


DAMAGES: dict[str, tuple[Damage, str]] = {
    "a text beside a kept page": (
        sql(f"INSERT INTO near_texts SELECT id, text, content, NULL FROM pages {of('/other')}"),
        "near-text-owned",
    ),
    "a text beside no page": (
        sql("INSERT INTO near_texts SELECT 999, text, content, NULL FROM near_texts LIMIT 1"),
        "near-text-owned",
    ),
    "a text beside a page that is no zstd": (
        sql("UPDATE near_texts SET text = x'28b5'"),
        "near-text-right",
    ),
    "a content beside a page that is no XML": (
        sql("UPDATE near_texts SET content = x'28b5'"),
        "content-readable",
    ),
    "a content that is no zstd": (
        sql(f"UPDATE pages SET content = x'28b5' {of('/other')}"),
        "content-readable",
    ),
    "a content that is no XML": (
        sql(f"UPDATE pages SET content = text {of('/a')}"),
        "content-readable",
    ),
    "one bit of a content": (flip_content, "content-readable"),
    "a content that says that it is huge": (
        sql(f"UPDATE pages SET content = {HUGE} {of('/a')}"),
        "content-readable",
    ),
    "a text that says that it is huge": (
        sql(f"UPDATE pages SET text = {HUGE} {of('/other')}"),
        "text-readable",
    ),
    "a content that nothing found": (
        sql(f"UPDATE pages SET content_source = NULL {of('/other')}"),
        "values-right",
    ),
    "no content": (sql(f"UPDATE pages SET content = NULL {of('/short')}"), "content-readable"),
    "a content without a text": (
        sql("UPDATE pages SET content = x'00' WHERE text IS NULL"),
        "content-owned",
    ),
    "no newest capture": (sql(f"UPDATE pages SET latest = 0 {of('/other')}"), "newest-unique"),
    "two newest captures": (sql("UPDATE pages SET latest = 1"), "newest-unique"),
    "no text": (
        sql(f"UPDATE pages SET text = NULL, content = NULL {of('/other')}"),
        "kept-has-text",
    ),
    "an original without text": (
        sql(f"UPDATE pages SET text = NULL, content = NULL {of('/a')}"),
        "original-held",
    ),
    "an original of an older version": (
        sql(
            f"UPDATE pages SET duplicate_of = (SELECT id FROM pages WHERE url = '{URL}/b'"
            f" AND latest = 0) {of('/edited')}"
        ),
        "original-held",
    ),
    "a duplicate of nothing": (
        sql(f"UPDATE pages SET duplicate_of = NULL {of('/edited')}"),
        "original-held",
    ),
    "a text kept twice": (
        sql(
            f"UPDATE pages SET verdict = 'new', duplicate_of = NULL, text = {held('/a')}"
            f" {of('/same-text')}"
        ),
        "kept-once",
    ),
    "a text cut short": (
        sql(f"UPDATE pages SET text = substr(text, 1, 30) {of('/other')}"),
        "text-readable",
    ),
    "a text of nothing": (sql(f"UPDATE pages SET text = x'00' {of('/a')}"), "text-readable"),
    "an old version of nothing": (
        sql(f"UPDATE pages SET text = x'00' WHERE url = '{URL}/b' AND latest = 0"),
        "text-readable",
    ),
    "all at once": (
        sql(
            f"UPDATE pages SET verdict = 'odd', words = 3 {of('/other')}",
            f"UPDATE pages SET text = x'00' {of('/a')}",
            f"UPDATE pages SET text = NULL, content = NULL {of('/short')}",
            "UPDATE requests SET key = NULL",
            "DELETE FROM hosts",
            "UPDATE pages SET fingerprint = 1 WHERE fingerprint IS NOT NULL",
        ),
        "fingerprint-right",
    ),
    "another digest of a short text": (
        sql(f"UPDATE pages SET text_digest = zeroblob(16) {of('/short')}"),
        "digest-right",
    ),
    "another text": (sql(f"UPDATE pages SET text = {held('/a')} {of('/other')}"), "digest-right"),
    "an index with a hole": (without_one, "index-right"),
    "an index with another page": (with_another, "index-right"),
    "an index with a flipped bit": (flip_log, "index-right"),
    "an index cut off at its first entry": (cut_log(72), "index-right"),
    "an index that lacks a byte": (cut_log(-1), "index-right"),
    "a request that cannot be read": (
        sql("UPDATE requests SET request = x'80ff' WHERE state IN (0, 1)"),
        "queued-can-be-fetched",
    ),
    "a request that broke at every try": (
        sql("UPDATE requests SET state = 3, tries = 2 WHERE state IN (0, 1)"),
        "queued-can-be-fetched",
    ),
    "nobody in line": (sql("DELETE FROM hosts"), "hosts-in-line"),
    "a host in line for nothing": (sql("INSERT INTO hosts VALUES (5, 0, 9)"), "hosts-in-line"),
    "a host in the wrong line": (sql("UPDATE hosts SET priority = -1"), "hosts-in-line"),
    "queued and not seen": (sql("UPDATE requests SET key = NULL"), "queued-is-seen"),
    "queued and seen as another": (
        sql("UPDATE requests SET key = CAST(zeroblob(15) || x'01' AS BLOB) WHERE id = 1"),
        "queued-is-seen",
    ),
    "skipped by no rule": (
        sql("UPDATE requests SET state = 4", "DELETE FROM hosts"),
        "skipped-by-a-rule",
    ),
    "waiting, and skipped by a rule": (sql("UPDATE requests SET rule = 1"), "skipped-by-a-rule"),
    "a skipped request that cannot be read": (
        sql("UPDATE requests SET state = 4, rule = 1, request = x'80ff'", "DELETE FROM hosts"),
        "queued-can-be-fetched",
    ),
    "skipped by a rule that is not there": (
        sql("UPDATE requests SET rule = 99 WHERE state = 4"),
        "skipped-by-a-rule-that-holds",
    ),
    "skipped by a rule that was revoked": (
        sql("UPDATE url_rules SET state = 2, reason = 'wrong'"),
        "skipped-by-a-rule-that-holds",
    ),
    "skipped for nothing": (
        sql("UPDATE requests SET group_digest = zeroblob(16) WHERE state = 4"),
        "skipped-for-another-request",
    ),
    "skipped for a skipped one": (
        sql(
            "UPDATE url_groups SET key = (SELECT max(key) FROM requests WHERE state = 4)"
            " WHERE group_digest IN (SELECT group_digest FROM requests WHERE state = 4)"
        ),
        "skipped-for-another-request",
    ),
    "an address of no request": (
        sql("UPDATE url_groups SET key = zeroblob(16)"),
        "groups-of-requests",
    ),
    "an address of no page": (sql("UPDATE url_groups SET page = 9999"), "groups-of-requests"),
    "a URL rule that is none": (
        sql("UPDATE url_rules SET rule = '{\"context\": 1}'"),
        "url-rules-readable",
    ),
    "a URL rule that is no JSON": (sql("UPDATE url_rules SET rule = '{'"), "url-rules-readable"),
    "a URL rule in no state": (sql("UPDATE url_rules SET state = 9"), "url-rules-readable"),
    "an empty Bloom filter": (empty_bloom, "bloom-knows-seen"),
    "a stale index of SQLite": (stale_index, "database-indexes"),
}
LEFT: dict[str, tuple[Damage, str]] = {
    "leases": (
        sql("UPDATE requests SET state = 1 WHERE state = 0", "DELETE FROM hosts"),
        "leases-ended",
    ),
    "no index": (lambda folder: shutil.rmtree(folder / "fingerprints"), "index-right"),
}


def test_a_crawl_as_it_is_made_is_clean(folder: Path) -> None:
    assert check(folder).findings == ()


@pytest.mark.parametrize("name", DAMAGES)
def test_what_is_broken_is_found_and_mended(folder: Path, name: str) -> None:
    damage, rule = DAMAGES[name]
    damage(folder)
    found = check(folder)
    assert rule in rules(found)
    assert found.problems
    mended = check_and_repair(folder)
    assert mended.done
    assert mended.findings == ()
    assert check(folder).findings == ()
    Job(folder, OPTIONS).close()


@pytest.mark.parametrize("size", [0, 72, -1])
def test_a_crawl_goes_on_with_an_index_made_anew(
    folder: Path, size: int, caplog: pytest.LogCaptureFixture
) -> None:
    with HammingIndex(folder / "fingerprints") as index:
        held = len(index)
    cut_log(size)(folder)
    Job(folder, OPTIONS).close()
    assert "index made again: " in caplog.text
    assert "restore it from a copy, or delete the index directory" in caplog.text
    with HammingIndex(folder / "fingerprints") as index:
        assert len(index) == held
    assert check(folder).findings == ()


@pytest.mark.parametrize("name", LEFT)
def test_what_a_killed_process_leaves_is_no_problem(folder: Path, name: str) -> None:
    damage, rule = LEFT[name]
    damage(folder)
    found = check(folder)
    assert rules(found) == {rule}
    assert found.problems == ()
    assert check_and_repair(folder).findings == ()


def test_an_index_that_was_not_flushed_is_left_to_the_next_crawl(folder: Path) -> None:
    shutil.copytree(folder / "fingerprints", folder.parent / "before")
    capture(folder, [("/new", html(prose("new", 200), "New"))])
    shutil.rmtree(folder / "fingerprints")
    (folder.parent / "before").rename(folder / "fingerprints")
    found = check(folder)
    assert [finding.what for finding in found.findings] == [
        "last pages not yet in the fingerprint index: 1"
    ]
    assert found.problems == ()


def test_checking_changes_no_row_and_no_file(folder: Path) -> None:
    execute(folder, f"UPDATE pages SET text = NULL, content = NULL {of('/a')}")
    before = {
        path: path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "crawl.db-" not in path.name
    }
    assert check(folder).problems
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("seed", range(4))
def test_any_course_of_visits_leaves_a_clean_directory(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(3):
        answers = [
            (chance.choice(["/a", "/b", "/c", "/d"]), chance.choice(list(PAGES.values())))
            for _ in range(8)
        ]
        capture(tmp_path / "job", answers)
        assert check(tmp_path / "job").findings == ()
