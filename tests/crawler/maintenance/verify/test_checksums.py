"""Each row keeps its checksum however it is written, and shows each change that nobody wrote."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest

from crawler.maintenance.adopt.adopting import Corpus, adopt
from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.maintenance.merge.merging import merge
from crawler.maintenance.verify.column_checks import ALTERED, find_altered
from crawler.pages.live_parameters import tune
from crawler.pages.page_row import COLUMNS
from crawler.storage.checksums import CHECKED, keep_checksums
from crawler.storage.database import Database, beside
from crawler.storage.errors import CrawlStorageError, JobError
from crawler.urls.canonical import Canonicalizer
from neardup import Parameters
from tests.crawler.maintenance.adopt.outputs import write_output
from tests.crawler.maintenance.rejudge.captured import Said, capture, judge_again
from tests.crawler.maintenance.verify.crawled import (
    check,
    check_and_repair,
    execute,
    make,
    rows,
    rules,
)
from tests.crawler.maintenance.verify.test_damages import columns, damage
from tests.crawler.maintenance.verify.whole_crawl import make_whole, of
from tests.crawler.pages.test_capture import LONG, html
from tests.crawler.pages.test_revisits import Visiting
from tests.crawler.pages.walled_visits import LOGIN, names, visit
from tests.no_watch import NoWatch
from tests.sites.changing import page
from tests.sites.prose import prose

if TYPE_CHECKING:
    from pathlib import Path

FLIPS = 60


def altered(folder: Path) -> list[str]:
    with closing(CrawlDirectory(folder)) as directory:
        return [line for found in find_altered(directory, NoWatch()) for line in found.examples]


def captured(folder: Path) -> None:
    capture(folder, [("/a", Said(LONG)), ("/near", Said(f"{LONG} One word."))], Parameters())


def merged(folder: Path) -> None:
    one, other = folder.with_name("one"), folder.with_name("other")
    make(one)
    captured(other)
    merge(folder, [one, other], NoWatch())


def judged_again(folder: Path) -> None:
    captured(folder)
    tune(folder, {"max_distance": 1}, "tune")
    judge_again(folder)


def repaired(folder: Path) -> None:
    make(folder)
    execute(
        folder,
        f"UPDATE pages SET text = x'00' WHERE {of('/other')}",
        "UPDATE pages SET title = CAST(x'ff' AS TEXT), author = CAST(x'fe' AS TEXT), key = 'text'",
        f"UPDATE pages SET duplicate_of = NULL WHERE {of('/edited')}",
        "DELETE FROM known",
    )
    assert check_and_repair(folder).findings == ()


def adopted(folder: Path) -> None:
    corpus = folder.with_name("corpus")
    write_output(corpus, {f"http://example.org/{n}": prose(str(n), 100) for n in range(3)})
    adopt(Corpus(corpus), folder, Canonicalizer(), NoWatch())


def walled(folder: Path) -> None:
    visit(folder, [(f"/a/{name}", LOGIN) for name in names(30)])
    visit(folder, [("/a/x", html(LONG)), ("/a/y", LOGIN)])


def visited_again(folder: Path) -> None:
    with closing(Visiting(folder)) as visiting:
        visiting.get("/a", html(LONG))
        visiting.get("/copy", html(LONG))
        visiting.fail("/gone")
        visiting.again()
        visiting.not_modified("/a")
        visiting.get("/copy", html(prose("changed", 200)))
        visiting.job.store.note_depth(visiting.answer("/a").key, 0)


def written_beside(folder: Path) -> None:
    captured(folder)
    with beside(folder) as connection:
        connection.execute("UPDATE pages SET reason = 'beside'")


WRITERS = {
    writer.__name__: writer
    for writer in (
        *(make, captured, merged, judged_again, repaired, adopted, walled, visited_again),
        written_beside,
    )
}


@pytest.mark.parametrize("writer", WRITERS)
def test_whatever_writes_a_row_leaves_its_checksum_right(writer: str, tmp_path: Path) -> None:
    WRITERS[writer](tmp_path / "job")
    assert rows(tmp_path / "job", "SELECT count(*) FROM pages") != [(0,)]
    assert altered(tmp_path / "job") == []
    for table in CHECKED:
        assert rows(tmp_path / "job", f"SELECT 1 FROM {table} WHERE checksum IS NULL") == []


class TestEveryStatement:
    """Of one table, by the connection of a crawl."""

    @pytest.mark.parametrize(
        "sql",
        [
            "INSERT OR REPLACE INTO links (id, key, shared, urls) VALUES (1, x'01', 1, x'02')",
            "INSERT INTO links (id, key, shared, urls) SELECT 2, x'03', shared, urls FROM links",
            "INSERT INTO links (key, shared, urls) VALUES (x'00', 1, x'05')"
            " ON CONFLICT (key) DO UPDATE SET urls = excluded.urls",
            "INSERT INTO links VALUES (7, x'07', 0, x'07', NULL, 77)",
            "UPDATE links SET id = 9",
            "UPDATE links SET urls = name.n FROM (SELECT x'09' AS n) AS name",
            "UPDATE OR IGNORE links SET shared = 1.0, urls = x'0a'",
        ],
    )
    @pytest.mark.parametrize("place", ["MEMORY", "FILE"])
    def test_leaves_the_checksum_right(self, sql: str, place: str, tmp_path: Path) -> None:
        with closing(Database(tmp_path)) as database:
            database.write("INSERT INTO links (id, key, shared, urls) VALUES (1, x'00', 0, x'01')")
            database.commit()
            database.sort_in(place)
            database.write(sql)
        assert altered(tmp_path) == []
        execute(tmp_path, "UPDATE links SET urls = x'ff'")
        assert altered(tmp_path)


def test_a_page_without_a_checksum_is_refused(tmp_path: Path) -> None:
    capture(tmp_path, [("/a", Said(LONG))], Parameters())
    with closing(Database(tmp_path)) as database:
        sql = f"INSERT INTO pages ({', '.join(COLUMNS)}) SELECT id + 1, {', '.join(COLUMNS[1:])}"
        with pytest.raises(CrawlStorageError, match=r"NOT NULL .* pages\.checksum"):
            database.write(f"{sql} FROM pages")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole") / "job"
    make_whole(folder)
    return folder


def negated(old: float | str | bytes) -> float | str | bytes:
    return -old - 1 if isinstance(old, int | float) else old[:-1]


@pytest.mark.parametrize(("table", "column"), [one for one in columns() if one[0] in CHECKED])
def test_a_changed_value_in_each_column_is_found_and_mended(
    folder: Path, table: str, column: str
) -> None:
    damage(folder, table, column, negated)
    assert ALTERED.name in rules(check(folder))
    assert check_and_repair(folder).findings == ()


def read_rows(path: Path) -> list[list[tuple[object, ...]]] | None:
    """Return what a crawl reads of the tables, or None where SQLite cannot read them."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
            connection.text_factory = bytes
            tables = [f"SELECT * FROM {table} NOT INDEXED" for table in CHECKED]
            return [connection.execute(sql).fetchall() for sql in tables]
    except (sqlite3.DatabaseError, UnicodeDecodeError):  # it quotes damaged names
        return None


def test_single_flipped_bits_in_rows_are_found(folder: Path) -> None:
    """Of 200 that changed rows, 9 of 102 in these tables were not found without checksums."""
    path, generator, flipped = folder / "crawl.db", random.Random(7), 0
    content, right = path.read_bytes(), read_rows(path)
    while flipped < FLIPS:
        damaged = bytearray(content)
        damaged[generator.randrange(len(content))] ^= 1 << generator.randrange(8)
        path.write_bytes(damaged)
        if read_rows(path) != right:
            flipped += 1
            try:
                assert check(folder).problems
            except JobError as error:
                assert "not a crawl database" in str(error)  # noqa: PT017  # one bit of the schema


class TestDamagedRows:
    def test_stay_so_whatever_is_written_into_them(self, folder: Path) -> None:
        execute(folder, f"UPDATE pages SET title = 'another' WHERE {of('/other')}")
        with closing(Database(folder)) as database:
            database.write("UPDATE pages SET seen_at = seen_at + 1, reason = 'seen again'")
        assert altered(folder) == ["pages: http://example.com/other"]

    def test_are_told_by_the_urls_of_their_own_pages(self, tmp_path: Path) -> None:
        pages = [(f"/{number}", Said(prose(str(number), 100))) for number in range(1, 9)]
        capture(tmp_path, pages, Parameters())
        execute(tmp_path, "UPDATE pages SET title = 'another' WHERE id = 6")
        assert altered(tmp_path) == ["pages: http://example.com/6"]

    def test_are_told_with_a_url_that_is_no_text(self, folder: Path) -> None:
        execute(folder, f"UPDATE pages SET url = CAST(x'61ff' AS TEXT) WHERE {of('/other')}")
        assert altered(folder) == ["pages: a\N{REPLACEMENT CHARACTER}"]

    @pytest.mark.parametrize(
        "sql",
        [
            f"UPDATE pages SET title = 'another', status = 203 WHERE {of('/a')}",
            "UPDATE links SET urls = x'ff'",
            f"UPDATE known SET since = 0 WHERE key = (SELECT key FROM pages WHERE {of('/a')})",
        ],
    )
    def test_are_kept_and_read_once_more_at_the_next_visit(self, sql: str, tmp_path: Path) -> None:
        """With the same bytes as before, and a server that would say that nothing changed."""
        with closing(Visiting(tmp_path)) as visiting:
            visiting.get("/a", page(LONG, ["/b"]))
            visiting.get("/copy", page(LONG, ["/b"]))
        before = rows(tmp_path, "SELECT title, status, text FROM pages ORDER BY url")
        execute(tmp_path, sql)
        done = check_and_repair(tmp_path)
        assert done.findings == ()
        assert any(deed.startswith("rows that were altered") for deed in done.done)
        assert len(rows(tmp_path, "SELECT 1 FROM pages WHERE latest = 1")) == 2
        due = f"SELECT due_at FROM known JOIN pages USING (key) WHERE {of('/a')}"
        assert rows(tmp_path, due) == [(0.0,)]
        with closing(Visiting(tmp_path)) as visiting:
            assert not visiting.may_ask("/a")
            visiting.get("/a", page(LONG, ["/b"]))
        newest = "SELECT title, status, text FROM pages WHERE latest = 1 ORDER BY url"
        assert rows(tmp_path, newest) == before
        assert check(tmp_path).findings == ()

    def test_are_marked_by_their_pages_though_their_keys_were_damaged(self, folder: Path) -> None:
        """Of two pages the one whose key is right again; what is gone is not counted."""
        execute(
            folder,
            f"UPDATE pages SET title = 'another', key = 'text' WHERE {of('/a')}",
            f"UPDATE pages SET text = x'00', title = 'another' WHERE {of('/other')}",
        )
        done = check_and_repair(folder)
        assert done.findings == ()
        marked = [deed for deed in done.done if deed.startswith("rows that were altered")]
        assert [deed.rpartition(" ")[2] for deed in marked] == ["1"]
        due = f"SELECT due_at, payload_digest FROM known JOIN pages USING (key) WHERE {of('/a')}"
        assert rows(folder, due) == [(0.0, None)]

    def test_end_a_crawl_that_writes_into_one_of_a_wrong_type(self, tmp_path: Path) -> None:
        with closing(Visiting(tmp_path)) as visiting:
            visiting.get("/a", html(LONG))
        execute(tmp_path, "UPDATE pages SET depth = 'text'")
        visiting = Visiting(tmp_path)
        with pytest.raises(CrawlStorageError, match=r"pages\.depth; .*verify --repair"):
            visiting.get("/a", html(LONG))
        with suppress(CrawlStorageError):
            visiting.close()
        assert check_and_repair(tmp_path).findings == ()
        with closing(Visiting(tmp_path)) as visiting:
            visiting.get("/a", html(LONG))
        assert check(tmp_path).findings == ()

    def test_do_not_hide_behind_a_checksum_of_another_type(self, folder: Path) -> None:
        execute(folder, "UPDATE known SET checksum = NULL", "UPDATE pages SET checksum = 'text'")
        assert ALTERED.name in rules(check(folder))
        assert check_and_repair(folder).findings == ()


def test_a_checksum_is_the_same_in_every_version_of_python(tmp_path: Path) -> None:
    with closing(Database(tmp_path)) as database:
        database.write("INSERT INTO links (id, key, shared, urls) VALUES (-5, x'0102', 1, x'')")
        database.write(
            "INSERT INTO known VALUES (zeroblob(16), 70000000000, 'new', 1, NULL, 'ä', 1, 0.25, 0,"
            " 0, 0, 86400.0, 1e300, 'http://example.com/', NULL)"
        )
    assert rows(tmp_path, "SELECT checksum FROM links UNION ALL SELECT checksum FROM known") == [
        (-1406285493642277044,),
        (-5225206295424338969,),
    ]


def test_other_programs_recover_rows_with_the_checksums_that_they_had(folder: Path) -> None:
    """The file names no function of ours: nothing but a table and a column."""
    recovered = folder.with_name("recovered")
    recovered.mkdir()
    with (
        closing(sqlite3.connect(folder / "crawl.db")) as source,
        closing(sqlite3.connect(recovered / "crawl.db")) as target,
    ):
        target.executescript("\n".join(source.iterdump()))
        assert target.execute("SELECT 1 FROM sqlite_master WHERE type = 'trigger'").fetchall() == []
        keep_checksums(target)
        assert target.execute("SELECT 1 FROM pages WHERE checksum IS NULL").fetchall() == []
