"""Every column of every table damaged, rows lost and exchanged, files cut: verify says so."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest
import zstandard

from crawler.maintenance.crawl_directory import CrawlDirectory
from crawler.maintenance.verify.column_checks import CONDITIONS, VALUES, find_strange_values
from crawler.maintenance.verify.finding import NoWatch
from crawler.pages.page_links import LinkPacker
from crawler.reading.reading import StoredLink
from crawler.storage.checksums import keep_checksums
from crawler.storage.schema import TABLES
from crawler.urls.canonical import Canonicalizer
from tests.crawler.maintenance.verify.crawled import (
    check,
    check_and_repair,
    damaging,
    execute,
    make,
    rules,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Value = int | float | str | bytes

UNWITNESSED = {
    "requests": {"state", "tries", "depth", "fixed"},
    "hosts": {"turn"},
    "host_turns": {"turn", "host"},
    "host_pauses": {
        "host",
        "name",
        "until",
        "number",
        "waited_secs",
        "pauses",
        "total_secs",
        "reason",
    },
    "url_rules": {"positives", "explored", "saved", "origin", "since", "reason"},
    "url_groups": {
        *("group_digest", "host", "words", "kept", "similarity", "page", "links", "visit", "tries"),
        *("explored", "tested"),
    },
    "url_clusters": {
        *("id", "name", "fetched", "new", "barren", "met", "counted", "deepest", "recent", "reason")
    },
    "file_kinds": {"name", "host", "ending", "asked", "files", "pages"},
    "file_links": {"key", "kind", "host", "ending", "url", "depth", "source"},
    "redirects": {"target", "fragment"},
    "file_redirects": {"key", "target", "fragment"},
    "link_dictionary": {"id", "urls"},
    "parameters": {"since", "origin"},
    "wall_clusters": {
        *("host", "skeleton", "kind", "links", "names", "folders", "has_seed", "reason"),
        "is_given",
    },
    "wall_pages": {"page", "replaced"},
    "wall_probes": {"host", "url", "skeleton"},
    "host_blocks": {"texts", "error", "last", "blocks"},
    "variants": {
        *("key", "page", "standing", "host", "rules", "url", "priority", "request"),
    },
    "fixed_rules": {"host", "rule", "met", "tried", "agreed", "due_at", "reason"},
    "name_slots": {"host", "slot", "keys", "changed_visit", "visit", "is_fixed"},
    "external_links": {"url", "asked_at", "reason"},
    "labels": {"first", "second", "first_url", "second_url", "labelled_at"},
}
"""What stands in one place only: another value that a crawl might have written says nothing."""

_NOT_MADE = {"meta", "files", "file_parts", "downloads", "elsewhere", "spellings", "superseded"}
"""Tables without rows here, and that of single values."""

_DICTIONARY = b"http://example.com/a\nhttp://example.com/b"
_LINKS = [StoredLink("http://example.com/a", False)]

ABSENT = (
    "UPDATE pages SET etag = '\"1\"', last_modified = 'Sun, 01 Nov 2026 10:00:00 GMT',"
    " author = 'Ann', date = '2026-11-01', language = 'en', declared_url = url"
    " WHERE url LIKE '%/other'",
    "UPDATE known SET reason = 'said so', moved_to = 'http://example.com/other'"
    " WHERE key = (SELECT key FROM pages WHERE url LIKE '%/other')",
    "UPDATE url_groups SET (page, kept, words) = (SELECT id, id, words_digest FROM pages"
    " WHERE url LIKE '%/other'), similarity = 1.0, links = 0, visit = 1",
    "INSERT INTO url_rules SELECT id + 1, 2, replace(rule, '\"sid\"', '\"tab\"'), positives,"
    " explored, saved, tried, origin, since, 'the texts differ' FROM url_rules",
    "INSERT INTO variants VALUES (zeroblob(16), zeroblob(16), zeroblob(16), 'example.com',"
    " 'sort-query', 'http://example.com/?b&a', 0, 0, x'00')",
    "INSERT INTO fixed_rules VALUES ('example.com', 'sort-query', 2, 1, 0, 9, 'another page')",
    "INSERT INTO host_turns VALUES (9, 1)",
    "INSERT INTO host_pauses VALUES (1, 'example.com', 9.0, 1, 5.0, 1, 5.0, 'HTTP 503')",
    "INSERT INTO file_kinds VALUES ('example.com /a .pdf', 'example.com', 'pdf', 9, 8, 1)",
    "INSERT INTO file_links VALUES (zeroblob(16), 'example.com /a .pdf', 'example.com', 'pdf',"
    " 'http://example.com/a/b.pdf', 1, 'http://example.com/')",
    "UPDATE known SET referer = 'http://example.com/'",
    "INSERT INTO wall_clusters VALUES"
    " (99, 1, zeroblob(16), 'login', x'', x'', x'', 0, 'wall', 'asks who you are', 1)",
    "INSERT OR REPLACE INTO wall_pages SELECT id, 99, id FROM pages WHERE url LIKE '%/other'",
    "INSERT INTO wall_probes VALUES (1, 'http://example.com/0123456789abcdef', zeroblob(16))",
    "INSERT INTO name_slots VALUES (1, 'title:1:seen #0 times', zeroblob(8), 2, 3, 0)",
)
"""Values that the captured pages do not lead to."""


def make_whole(folder: Path) -> None:
    """A crawl that has a value in every column of nearly every table."""
    make(folder)
    with closing(sqlite3.connect(folder / "crawl.db")) as connection, connection:
        keep_checksums(connection)
        write = connection.execute
        pages = [key for (key,) in write("SELECT key FROM pages WHERE latest = 1 ORDER BY id")]
        write(
            "INSERT INTO url_clusters"
            " VALUES (1, 'example.com /?', 10, 5, 2, 1, 1, 3, 7, 'slow', 'few new')"
        )
        url = "http://example.com/old"
        key = Canonicalizer().key(url)
        write("INSERT INTO redirects VALUES (?, ?, ?, '')", (key, url, pages[0]))
        write("INSERT INTO file_redirects VALUES (?, ?, '')", (key, pages[0]))
        write("INSERT INTO link_dictionary VALUES (1, ?)", (_DICTIONARY,))
        for number, packer in enumerate((LinkPacker(), LinkPacker(_DICTIONARY))):
            packed = packer.pack(_LINKS, nofollow=False)
            row = (pages[number], number, packed, zstandard.compress(b'[["here"], {}]'))
            write("INSERT INTO links (key, shared, urls, places) VALUES (?, ?, ?, ?)", row)
        sql = "SELECT DISTINCT text_digest FROM pages WHERE text IS NOT NULL LIMIT 2"
        pair = sorted(digest for (digest,) in write(sql))
        write("INSERT INTO external_links VALUES ('http://other.example/', 1.0, 'HTTP 404')")
        write("INSERT INTO labels VALUES (?, ?, 'different', 'http://a/', 'http://b/', 1.0)", pair)
        write("UPDATE pages SET html = text WHERE url LIKE '%/other'")
        for statement in ABSENT:
            write(statement)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template") / "job"
    make_whole(folder)
    return folder


@pytest.fixture
def folder(template: Path, tmp_path: Path) -> Path:
    return shutil.copytree(template, tmp_path / "job")


def columns() -> list[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES)
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return [
            (table, name)
            for (table,) in tables.fetchall()
            for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")
            if table not in _NOT_MADE
        ]


def damage(
    folder: Path, table: str, column: str, new: Callable[[Value], Value | None], number: int = 0
) -> None:
    """Put another value into one row that has one: the first, or, round and round, a later one."""
    order = "url LIKE '%/edited' DESC" if column in {"duplicate_of", "distance"} else "1"
    where = f"{column} IS NOT NULL" + (" AND latest = 1" if table == "pages" else "")
    order = f"{order}, url LIKE '%/other' DESC" if table == "pages" else "1"
    with damaging(folder) as connection:
        keys = [row[1] for row in connection.execute(f"PRAGMA table_info({table})") if row[5]]
        sql = f"SELECT {', '.join(keys)}, {column} FROM {table} WHERE {where} ORDER BY {order}"
        rows = connection.execute(sql).fetchall()
        assert rows, "no row has one"
        *key, old = rows[number % len(rows)]
        match = " AND ".join(f"{name} = ?" for name in keys)
        sql = f"UPDATE OR REPLACE {table} SET {column} = ? WHERE {match}"
        connection.execute(sql, (new(old), *key))


def of_no_type(old: Value) -> Value:
    """What no column of its type holds."""
    return b"\xff\xfe" if isinstance(old, str) else "text"


def another(old: Value) -> Value:
    """A value of its type."""
    if isinstance(old, str):
        return "something else"
    if isinstance(old, bytes):
        return bytes([old[0] ^ 1]) + old[1:] if old else b"z" * 16
    return old + 1


@pytest.mark.parametrize("table", dict.fromkeys(table for table, _ in columns()))
def test_values_of_no_type_are_found_each_and_mended_together(folder: Path, table: str) -> None:
    names = [name for its_table, name in columns() if its_table == table]
    whole, damaged = (folder / "crawl.db").read_bytes(), []
    for column in names:
        with suppress(sqlite3.IntegrityError):  # the key of a table is refused always
            damage(folder, table, column, of_no_type)
            damaged.append(column)
            assert strange_tables(folder) == {table}, column
        (folder / "crawl.db").write_bytes(whole)
    assert len(damaged) >= len(names) - 1
    for number, column in enumerate(damaged):
        damage(folder, table, column, of_no_type, number)
    assert VALUES.name in rules(check(folder))
    assert check_and_repair(folder).findings == ()


@pytest.mark.parametrize("table", dict.fromkeys(table for table, _ in CONDITIONS))
def test_values_that_the_schema_excludes_are_refused_found_and_mended(
    folder: Path, table: str
) -> None:
    names = [name for its_table, name in CONDITIONS if its_table == table]
    wrong = {name: refused(folder, table, name) for name in names}
    whole = (folder / "crawl.db").read_bytes()
    for column, value in wrong.items():
        damage(folder, table, column, always(value))
        assert strange_tables(folder) == {table}, column
        (folder / "crawl.db").write_bytes(whole)
    for number, (column, value) in enumerate(wrong.items()):
        damage(folder, table, column, always(value), number)
    assert VALUES.name in rules(check(folder))
    assert check_and_repair(folder).findings == ()


def always(value: Value | None) -> Callable[[Value], Value | None]:
    return lambda _: value


def refused(folder: Path, table: str, column: str) -> Value | None:
    """Return a value of the right type that a crawl cannot write into a column."""
    with closing(sqlite3.connect(folder / "crawl.db")) as connection:
        for value in (-1, 7, 70, "text", bytes(15), b"1" * 16, None):
            try:
                connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
            except sqlite3.IntegrityError as error:
                if str(error).startswith("CHECK constraint failed"):
                    return value
    pytest.fail(f"no value is refused: {table} {column}")


def strange_tables(folder: Path) -> set[str]:
    """Return the tables in which a value is found that no crawl writes."""
    with closing(CrawlDirectory(folder)) as directory:
        found = find_strange_values(directory, NoWatch())
        return {finding.what.split()[4] for finding in found}


@pytest.mark.parametrize(("table", "column"), columns())
def test_another_value_is_found_where_something_else_knows(
    folder: Path, table: str, column: str
) -> None:
    damage(folder, table, column, another)
    is_found = bool(check(folder).problems)
    assert is_found == (column not in UNWITNESSED.get(table, ()))
    assert not is_found or check_and_repair(folder).findings == ()


def exchanged(column: str) -> tuple[str, ...]:
    """Two pages with each other's value."""
    return (
        f"CREATE TABLE other AS SELECT url, {column} AS value FROM pages"
        " WHERE latest = 1 AND (url LIKE '%/other' OR url LIKE '%/b')",
        f"UPDATE pages SET {column} = (SELECT value FROM other WHERE other.url <> pages.url)"
        " WHERE latest = 1 AND url IN (SELECT url FROM other)",
        "DROP TABLE other",
    )


def of(path: str) -> str:
    return f"url = 'http://example.com{path}' AND latest = 1"


ROWS: dict[str, tuple[tuple[str, ...], str]] = {
    "what resembles nothing": (
        (f"UPDATE pages SET resembles = NULL WHERE {of('/like')}",),
        "resembled-named",
    ),
    "a duplicate that resembles a page": (
        (
            f"UPDATE pages SET resembles = (SELECT id FROM pages WHERE {of('/a')})"
            f" WHERE {of('/same-as-b')}",
        ),
        "resembled-named",
    ),
    "a changed page that resembles one of other words": (
        (f"UPDATE pages SET resembles = (SELECT id FROM pages WHERE {of('/a')}) WHERE {of('/b')}",),
        "resembled-measured",
    ),
    "what resembles a duplicate": (
        (
            f"UPDATE pages SET resembles = (SELECT id FROM pages WHERE {of('/edited')})"
            f" WHERE {of('/like')}",
        ),
        "resembled-named",
    ),
    "what resembles a page of other words": (
        (
            f"UPDATE pages SET resembles = (SELECT id FROM pages WHERE {of('/other')})"
            f" WHERE {of('/like')}",
        ),
        "resembled-measured",
    ),
    "another similarity to what it resembles": (
        (f"UPDATE pages SET similarity = 0.5 WHERE {of('/like')}",),
        "resembled-measured",
    ),
    "a part of no page": (
        (f"UPDATE pages SET part_of = NULL WHERE {of('/part')}",),
        "part-named",
    ),
    "a duplicate that is a part": (
        (
            f"UPDATE pages SET containment = 1.0, part_of = (SELECT id FROM pages WHERE {of('/b')})"
            f" WHERE {of('/same-text')}",
        ),
        "part-named",
    ),
    "a part of a page of other words": (
        (
            f"UPDATE pages SET part_of = (SELECT id FROM pages WHERE {of('/a')})"
            f" WHERE {of('/part')}",
        ),
        "part-measured",
    ),
    "a part that stands there less than it says": (
        (f"UPDATE pages SET containment = 0.5 WHERE {of('/part')}",),
        "part-measured",
    ),
    "dropped as a part of a page of other words": (
        (
            f"INSERT INTO near_texts SELECT id, text, content, NULL FROM pages WHERE {of('/part')}",
            "UPDATE pages SET verdict = 'contained', part_of = NULL, text = NULL,"
            f" duplicate_of = (SELECT id FROM pages WHERE {of('/a')}) WHERE {of('/part')}",
        ),
        "part-measured",
    ),
    "a name that is none": (
        ('UPDATE pages SET name = \'["Title","",[],[]]\' WHERE name IS NOT NULL',),
        "values-right",
    ),
    "no parameters": (("DELETE FROM parameters",), "parameters-known"),
    "parameters that are none": (("UPDATE parameters SET chosen = '{}'",), "parameters-readable"),
    "nothing known of pages": (("DELETE FROM known",), "page-is-known"),
    "no dictionary of links": (("DELETE FROM link_dictionary",), "links-readable"),
    "a list of links that is none": (("UPDATE links SET urls = x'28b52ffd'",), "links-readable"),
    "places that are none": (("UPDATE links SET places = x'28b52ffd'",), "links-readable"),
    "links of no page": (("UPDATE links SET key = zeroblob(16) WHERE id = 1",), "links-readable"),
    "a redirect of another URL": (
        ("UPDATE redirects SET url = 'http://a/'",),
        "redirect-keys-right",
    ),
    "a kept page lost": ((f"DELETE FROM pages WHERE {of('/other')}",), "known-has-page"),
    "an original lost": ((f"DELETE FROM pages WHERE {of('/a')}",), "original-held"),
    "a duplicate lost": ((f"DELETE FROM pages WHERE {of('/same-text')}",), "known-has-page"),
    "the newest version lost": ((f"DELETE FROM pages WHERE {of('/b')}",), "newest-unique"),
    "keys exchanged": (exchanged("key"), "keys-right"),
    "URLs exchanged": (exchanged("url"), "keys-right"),
    "canonical URLs exchanged": (exchanged("canonical_url"), "keys-right"),
    "texts exchanged": (exchanged("text"), "digest-right"),
    "digests exchanged": (exchanged("text_digest"), "digest-right"),
    "fingerprints exchanged": (exchanged("fingerprint"), "fingerprint-right"),
    "digests of words exchanged": (exchanged("words_digest"), "digest-right"),
    "digests of what was said last exchanged": (exchanged("last_text_digest"), "digest-right"),
    "digests of bytes exchanged": (exchanged("payload_digest"), "values-right"),
    "a near text of another page": (
        (f"UPDATE near_texts SET text = (SELECT text FROM pages WHERE {of('/other')})",),
        "near-text-right",
    ),
    "kept, and near a kept page": (
        (
            "UPDATE pages SET verdict = 'new', duplicate_of = NULL, distance = NULL,"
            " similarity = NULL, text = (SELECT text FROM near_texts WHERE page = pages.id)"
            f" WHERE {of('/edited')}",
            "DELETE FROM near_texts",
        ),
        "kept-apart",
    ),
    "changed to what a kept page says": (
        (
            "UPDATE pages SET verdict = 'changed', duplicate_of = NULL,"
            f" text = (SELECT text FROM pages WHERE {of('/a')}) WHERE {of('/same-text')}",
        ),
        "kept-once",
    ),
    "a near-duplicate of another page": (
        (
            f"UPDATE pages SET duplicate_of = (SELECT id FROM pages WHERE {of('/other')})"
            f" WHERE {of('/edited')}",
        ),
        "duplicate-measured",
    ),
    "a text duplicate of another page": (
        (
            f"UPDATE pages SET duplicate_of = (SELECT id FROM pages WHERE {of('/other')})"
            f" WHERE {of('/same-text')}",
        ),
        "duplicate-measured",
    ),
    "a duplicate of a duplicate": (
        (
            f"UPDATE pages SET duplicate_of = (SELECT id FROM pages WHERE {of('/same-text')})"
            f" WHERE {of('/edited')}",
        ),
        "original-held",
    ),
    "a duplicate of itself": (
        (f"UPDATE pages SET duplicate_of = id WHERE {of('/edited')}",),
        "original-held",
    ),
    "another similarity": (
        (f"UPDATE pages SET similarity = 0.5 WHERE {of('/edited')}",),
        "duplicate-measured",
    ),
    "new, and too short": (
        (f"UPDATE pages SET verdict = 'new' WHERE {of('/short')}",),
        "verdict-right",
    ),
    "HTML that is no zstd": (
        ("UPDATE pages SET html = x'00' WHERE html NOTNULL",),
        "html-readable",
    ),
    "no number of the visit": (("DELETE FROM meta WHERE name = 'visit'",), "meta-right"),
    "a visit before that of its pages": (
        ("UPDATE meta SET value = '0' WHERE name = 'visit'",),
        "meta-right",
    ),
    "an index of SQLite that is not there": (("DROP INDEX pages_text",), "database-has-indexes"),
    "a trigger and a view of somebody else": (
        (
            'CREATE TRIGGER "a ""b" AFTER UPDATE ON pages BEGIN DELETE FROM known; END',
            "CREATE VIEW odd AS SELECT 1",
        ),
        "database-without-triggers",
    ),
    "a title that is no UTF-8": (("UPDATE pages SET title = CAST(x'ff' AS TEXT)",), "values-right"),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_that_do_not_go_together_are_found_and_mended(folder: Path, name: str) -> None:
    statements, rule = ROWS[name]
    execute(folder, *statements)
    found = check(folder)
    assert rule in rules(found)
    assert found.problems
    assert check_and_repair(folder).findings == ()


@pytest.mark.parametrize("file", ["fingerprints/*.log", "seen.bloom"])
@pytest.mark.parametrize("kept", [0.0, 0.5, 0.9])
def test_a_file_that_was_cut_is_found_and_made_anew(folder: Path, file: str, kept: float) -> None:
    (path,) = folder.glob(file)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)])
    assert check(folder).problems
    assert check_and_repair(folder).findings == ()


@pytest.mark.parametrize("table", ["pages", "known", "near_texts", "requests"])
def test_a_table_that_is_not_there_is_damage(folder: Path, table: str) -> None:
    execute(folder, f"DROP TABLE {table}")
    assert "database-whole" in rules(check(folder))


@pytest.mark.parametrize("changed", ["etags TEXT,", "etag BLOB,"])
def test_a_column_of_another_name_or_type_is_damage(folder: Path, changed: str) -> None:
    change_schema(folder, "etag           TEXT,", changed)
    (finding,) = check(folder).problems
    assert finding.rule == "database-whole"
    assert finding.examples == ("the table pages is not as it was made",)


def test_a_condition_of_another_number_is_damage(folder: Path) -> None:
    """One bit of it, by which every page of the next crawl would be refused."""
    change_schema(folder, "CHECK (depth >= 0)", "CHECK (depth >= 8)")
    (finding,) = check(folder).problems
    assert finding.examples == (
        "the table requests is not as it was made",
        "the table pages is not as it was made",
    )


def test_other_comments_are_no_damage(folder: Path) -> None:
    change_schema(folder, "-- as requested", "-- of the request")
    assert check(folder).problems == ()


def change_schema(folder: Path, old: str, new: str) -> None:
    with closing(sqlite3.connect(folder / "crawl.db")) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, ?, ?)", (old, new))


def test_a_waiting_duplicate_of_a_killed_process_is_left_to_the_next_one(folder: Path) -> None:
    """Its original says something else, and it was not asked for."""
    write(
        folder,
        f"UPDATE pages SET latest = 0 WHERE {of('/a')}",
        "INSERT INTO superseded SELECT id FROM pages WHERE url = 'http://example.com/a'",
        f"UPDATE pages SET key = (SELECT key FROM pages WHERE {of('/short')})"
        " WHERE url = 'http://example.com/a'",
        "UPDATE pages SET (url, canonical_url) = (SELECT url, canonical_url FROM pages"
        f" WHERE {of('/short')}) WHERE url = 'http://example.com/a'",
        "DELETE FROM known WHERE key NOT IN (SELECT key FROM pages)",
        "DELETE FROM links",
    )
    found = check(folder)
    assert rules(found) == {"original-superseded"}
    assert found.problems == ()
    assert check_and_repair(folder).findings == ()
    texts = "SELECT count(*) FROM pages WHERE latest = 1 AND text NOTNULL AND url LIKE '%/same-%'"
    with closing(sqlite3.connect(folder / "crawl.db")) as connection:
        assert connection.execute(texts).fetchone()[0] == 2
