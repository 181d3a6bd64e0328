"""Check that rows hold values that a crawl writes, and what it wrote."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from crawler.maintenance.verify.finding import Mend, Rule
from crawler.pages.verdicts import listed
from crawler.reading.content.content_xml import DOCUMENT, FROM_LINES, PAGE_TYPES
from crawler.storage import meta_names
from crawler.storage.checksums import CHECKED, checksum_sql, keep_checksums
from crawler.storage.schema import TABLES
from crawler.storage.states import QUEUED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding, Read, Repairer

_OF_KEY = "(SELECT id FROM pages WHERE pages.key = {}.key AND latest = 1)"
_PAGES = {"pages": "pages.id", "near_texts": "near_texts.page"} | {
    table: _OF_KEY.format(table) for table in ("links", "known")
}
"""Expressions for ``pages.id`` of what rows are of, by their tables."""

# Two tables store this visit: the lower number is the wrong one.
NEWEST_VISIT = (
    "max((SELECT coalesce(max(visit), 0) FROM known), coalesce((SELECT CAST(value AS INTEGER)"
    f" FROM meta WHERE name = '{meta_names.VISIT}'), 0))"
)
_TABLE = re.compile(r"^CREATE TABLE (\w+) \(.*?\n(.*?)^\)", re.MULTILINE | re.DOTALL)
_CHECK = re.compile(r"^    (\w+) .*\n? *CHECK \((.*)\),?(?: *--.*)?$", re.MULTILINE)

CONDITIONS = {
    (table, column): condition
    for table, columns in _TABLE.findall(TABLES)
    for column, condition in _CHECK.findall(columns)
}
"""Map tables and columns to the conditions by which the schema checks their values."""


class ColumnCheck(NamedTuple):
    """A condition on values that no crawl writes.

    Attributes:
        table: The table.
        column: The column.
        wrong: The condition.
        right: SQL of the value that is written in place of a wrong one; None: the row is deleted.
    """

    table: str
    column: str
    wrong: str
    right: str | None


_TYPES = {"INTEGER": "integer", "REAL": "real", "TEXT": "text", "BLOB": "blob"}
_NAME_OF_TITLE = """
CASE WHEN typeof(title) = 'text' THEN json_array(
    CASE WHEN json_valid(metadata) AND json_type(metadata, '$.full_title') = 'text'
    THEN json_extract(metadata, '$.full_title') ELSE title END, '', '', json_array(), '') END
"""
_NO_METADATA = """
metadata IS NOT NULL AND CASE
    WHEN typeof(metadata) <> 'text' OR NOT json_valid(metadata) THEN 1
    ELSE json_type(metadata) <> 'object' END
"""
# Five fields, as neardup.names packs them; a name of other fields would end a judgement.
_NO_NAME = """
name IS NOT NULL AND CASE
    WHEN typeof(name) <> 'text' OR NOT json_valid(name) THEN 1
    ELSE (SELECT group_concat(type) FROM json_each(name)) IS NOT 'text,text,text,array,text' END
"""
_PAGE_TYPES = {*PAGE_TYPES, DOCUMENT}
_INSTEAD = {
    # Ids begin at 1; other checks find the rows that refer to a wrong one.
    ("pages", "id"): "(SELECT max(max(id), 0) FROM pages) + 1 - id",
    ("pages", "name"): _NAME_OF_TITLE,
    ("pages", "url"): "canonical_url",
    ("pages", "canonical_url"): "''",
    ("pages", "key"): "x''",
    ("pages", "verdict"): "''",
    ("pages", "seen_visit"): "visit",
    ("pages", "is_main"): "fingerprint IS NOT NULL",
    ("known", "outcome"): "'unchanged'",
    ("requests", "request"): "x''",
    ("near_texts", "content"): "x''",
    ("url_rules", "tried"): "'[]'",
    ("url_kinds", "state"): "'open'",
    ("url_kinds", "recent"): "1",
}
"""Values in place of wrong ones, some of which other checks complete.

Other columns lose the value, numbers that must be there are 0 then, and other rows are deleted.
"""

# Conditions on other tables or columns, on JSON, and on what servers and corpora say.
_FURTHER = (
    ColumnCheck("wall_pages", "cluster", "cluster NOT IN (SELECT id FROM wall_clusters)", None),
    ColumnCheck("pages", "metadata", _NO_METADATA, "NULL"),
    ColumnCheck("pages", "name", _NO_NAME, _NAME_OF_TITLE),
    ColumnCheck("pages", "page_type", f"page_type NOT IN ({listed(_PAGE_TYPES)})", "NULL"),
    ColumnCheck("requests", "url", f"state IN ({QUEUED}) AND url NOT LIKE '%:%'", None),
    ColumnCheck(
        "pages",
        "payload_digest",
        "payload_digest IS NOT NULL AND payload_digest IS NOT last_payload_digest",
        "last_payload_digest",
    ),
    ColumnCheck(
        "pages", "content_source", "text NOTNULL AND content_source ISNULL", f"'{FROM_LINES}'"
    ),
    ColumnCheck("pages", "status", "status NOT BETWEEN 100 AND 999", "NULL"),
    ColumnCheck("pages", "fetched_at", "fetched_at < 0", "0"),
    ColumnCheck("pages", "seen_at", "seen_at < 0", "fetched_at"),
    ColumnCheck("known", "due_at", "due_at < 0", "0"),
    *(
        ColumnCheck(table, column, f"{column} > {NEWEST_VISIT}", NEWEST_VISIT)
        for table, column in (("pages", "visit"), ("pages", "seen_visit"), ("known", "visit"))
    ),
)


def _declared_columns(read: Read) -> Iterator[ColumnCheck]:
    """Yield a check of each column: of its type, and of its condition in the schema."""
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    for (table,) in read(tables).fetchall():
        for _, name, kind, is_needed, _, is_key in read(f"PRAGMA table_info({table})"):
            wrong = f"typeof({name}) <> '{_TYPES[kind]}'"
            if kind == "TEXT":
                wrong = f"({wrong} OR NOT is_utf8(CAST({name} AS BLOB)))"
            right: str | None = "NULL"
            if is_needed or is_key:
                right = "0" if kind in {"INTEGER", "REAL"} and not is_key else None
            else:
                wrong = f"{name} IS NOT NULL AND {wrong}"
            if (table, name) in CONDITIONS:
                wrong = f"({wrong}) OR NOT ({CONDITIONS[table, name]})"
            right = _INSTEAD.get((table, name), right)
            typed = None if right is None else f"CAST({right} AS {kind})"
            yield ColumnCheck(table, name, wrong, typed)


def is_utf8(value: bytes) -> bool:
    """Return whether the bytes of a text are UTF-8; no reader takes others."""
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def find_altered(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Compute the checksum of each row again. Complexity: O(size of the rows)."""
    keep_checksums(directory.connection)
    read, altered = directory.connection.execute, []
    watch.begin("rows", len(CHECKED))
    for table, page in _PAGES.items():
        url = f"SELECT CAST(url AS BLOB) FROM pages AS page WHERE page.id = {page}"
        wrong = f"checksum IS NOT {checksum_sql(read, table)}"
        for page_id, found in read(f"SELECT {page}, ({url}) FROM {table} WHERE {wrong}"):
            altered.append((page_id, f"{table}: {(found or b'').decode(errors='replace')}"))
        watch.advance()
    yield from ALTERED.found(altered)


def have_read_again(repairer: Repairer, finding: Finding) -> None:
    """Keep altered rows as they are, and have their pages judged again at the next visit."""
    read, write_each = repairer.database.read, repairer.write_each
    pages = sorted(set(finding.ids) - {None})
    of_page = "key = (SELECT key FROM pages WHERE id = ?)"
    write_each(f"UPDATE known SET due_at = 0 WHERE {of_page}", pages)
    write_each(f"UPDATE pages SET payload_digest = NULL WHERE latest = 1 AND {of_page}", pages)
    for table in CHECKED:
        checksum = checksum_sql(read, table)
        sql = f"UPDATE {table} SET checksum = {checksum} WHERE checksum IS NOT {checksum}"
        repairer.database.write(sql)


def find_strange_values(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Check each value by itself. Complexity: O(rows)."""
    directory.connection.create_function("is_utf8", 1, is_utf8, deterministic=True)
    every = [*_declared_columns(directory.connection.execute), *_FURTHER]
    watch.begin("values", len(every))
    for table, columns in _by_table(every).items():
        count = directory.count(f"SELECT count(*) FROM {table} WHERE {_any_wrong(columns)}")
        watch.advance(len(columns))
        if count:
            what = f"rows of the table {table} with values that no crawl writes: {count:,}"
            yield VALUES.finding(what, count)


def _by_table(columns: Iterable[ColumnCheck]) -> dict[str, list[ColumnCheck]]:
    tables: dict[str, list[ColumnCheck]] = {}
    for column in columns:
        tables.setdefault(column.table, []).append(column)
    return tables


def _any_wrong(columns: Iterable[ColumnCheck]) -> str:
    return " OR ".join(f"({column.wrong})" for column in columns)


def _put_right(repairer: Repairer, finding: Finding) -> None:
    """Correct the types first: SQLite writes no row that has a value of a wrong type."""
    read = repairer.database.read
    repairer.database.add_function("is_utf8", is_utf8)
    declared = _declared_columns(read)
    read("PRAGMA ignore_check_constraints = ON")
    try:
        for columns in (*_by_table(declared).values(), *([each] for each in _FURTHER)):
            _correct(repairer, columns)
    finally:
        read("PRAGMA ignore_check_constraints = OFF")
    repairer.queue.requests.line_up()


def _correct(repairer: Repairer, columns: list[ColumnCheck]) -> None:
    """Correct columns of a table in one statement."""
    table, write = columns[0].table, repairer.database.write
    lost = [column for column in columns if column.right is None]
    kept = [column for column in columns if column.right is not None]
    if lost:
        write(f"DELETE FROM {table} WHERE {_any_wrong(lost)}")
    if kept:
        values = ", ".join(
            f"{name} = CASE WHEN {wrong} THEN {right} ELSE {name} END"
            for _, name, wrong, right in kept
        )
        write(f"UPDATE {table} SET {values} WHERE {_any_wrong(kept)}")


ALTERED = Rule(
    "rows-unaltered",
    "rows that were altered since they were written",
    Mend("keeps them, and has their pages read once more at the next visit", have_read_again),
)
VALUES = Rule(
    "values-right",
    "rows with values that no crawl writes",
    Mend("corrects the values, or deletes the rows", _put_right),
)
