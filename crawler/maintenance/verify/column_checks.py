"""Check that rows hold what a crawl wrote, and values that a crawl writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.maintenance.verify.finding import Culprits, Rule, Stage
from crawler.pages.verdicts import OUTCOMES, WALLS, listed
from crawler.reading.content.content_xml import DOCUMENT, FROM_LINES, PAGE_TYPES
from crawler.storage import meta_names
from crawler.storage.checksums import CHECKED, checksum_sql, keep_checksums
from crawler.storage.states import QUEUED, SKIPPED, WAITING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding, Read, Repairer

_KEYS = {table: f"{table}.key" for table in CHECKED} | {
    "near_texts": "(SELECT key FROM pages WHERE id = near_texts.page)"
}
"""Expressions for the keys of the pages that rows are of."""

# Two tables store this visit: the lower number is the wrong one.
NEWEST_VISIT = (
    "max((SELECT coalesce(max(visit), 0) FROM known), coalesce((SELECT CAST(value AS INTEGER)"
    f" FROM meta WHERE name = '{meta_names.VISIT}'), 0))"
)
_LABELS = ("duplicate", "different")
_CLUSTERS = ("closed", "open", "slow")


class ColumnCheck(NamedTuple):
    """A condition on values that no crawl writes, with the repair, or None to delete the row."""

    table: str
    wrong: str
    right: str | None


def _digest(name: str, *, may_be_null: bool = True) -> str:
    is_wrong = f"typeof({name}) <> 'blob' OR length({name}) <> 16"
    return f"{name} IS NOT NULL AND ({is_wrong})" if may_be_null else is_wrong


def _number(name: str, low: float, high: float | None = None) -> str:
    is_wrong = f"typeof({name}) NOT IN ('integer', 'real') OR {name} < {low}"
    is_wrong += "" if high is None else f" OR {name} > {high}"
    return f"{name} IS NOT NULL AND ({is_wrong})"


def _flags(table: str, *names: str) -> Iterator[ColumnCheck]:
    return (
        ColumnCheck(table, f"{name} NOT IN (0, 1)", f"{name} = ({name} <> 0)") for name in names
    )


def _counts(table: str, *names: str) -> Iterator[ColumnCheck]:
    return (ColumnCheck(table, _number(name, 0), f"{name} = 0") for name in names)


_TYPES = {"INTEGER": "integer", "REAL": "real", "TEXT": "text", "BLOB": "blob"}
_NAME_OF_TITLE = """
name = CASE WHEN typeof(title) = 'text' THEN json_array(
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
    ("pages", "name"): _NAME_OF_TITLE,
    ("pages", "url"): "url = canonical_url",
    ("pages", "canonical_url"): "canonical_url = ''",
    ("pages", "key"): "key = x''",
    ("pages", "verdict"): "verdict = ''",
    ("requests", "request"): "request = x''",
    ("near_texts", "content"): "content = x''",
}
"""Repairs of values that other checks complete; other rows are deleted, or lose the value."""


def _typed_columns(read: Read) -> list[ColumnCheck]:
    found = []
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    for (table,) in read(tables).fetchall():
        for _, name, kind, is_needed, _, is_key in read(f"PRAGMA table_info({table})"):
            wrong = f"typeof({name}) <> '{_TYPES[kind]}'"
            if kind == "TEXT":
                wrong = f"({wrong} OR NOT is_utf8(CAST({name} AS BLOB)))"
            right: str | None = f"{name} = NULL"
            if is_needed or is_key:
                right = f"{name} = 0" if kind in {"INTEGER", "REAL"} and not is_key else None
            else:
                wrong = f"{name} IS NOT NULL AND {wrong}"
            found.append(ColumnCheck(table, wrong, _INSTEAD.get((table, name), right)))
    return found


def is_utf8(value: bytes) -> bool:
    """Return whether the bytes of a text are UTF-8; no reader takes others."""
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


_COLUMNS = (
    ColumnCheck(
        "wall_clusters", f"verdict NOT IN ({listed(WALLS)})", "verdict = NULL, reason = NULL"
    ),
    ColumnCheck("wall_clusters", "length(skeleton) <> 16", None),
    *_flags("wall_clusters", "has_seed", "is_given"),
    ColumnCheck("wall_pages", "cluster NOT IN (SELECT id FROM wall_clusters)", None),
    # Ids begin at 1; other checks find the rows that refer to a wrong one.
    ColumnCheck("pages", "id < 1", "id = (SELECT max(max(id), 0) FROM pages) + 1 - id"),
    *_flags("pages", "latest", "better_copy"),
    *_counts("pages", "depth", "body_bytes", "links", "words"),
    ColumnCheck("pages", "is_main NOT IN (0, 1)", "is_main = (fingerprint IS NOT NULL)"),
    ColumnCheck("pages", _NO_METADATA, "metadata = NULL"),
    ColumnCheck("pages", _NO_NAME, _NAME_OF_TITLE),
    ColumnCheck("pages", f"page_type NOT IN ({listed(_PAGE_TYPES)})", "page_type = NULL"),
    ColumnCheck(
        "pages",
        "text IS NOT NULL AND content_source IS NULL",
        f"content_source = '{FROM_LINES}'",
    ),
    ColumnCheck("pages", _number("status", 100, 999), "status = NULL"),
    ColumnCheck("pages", _number("distance", 0, 64), "distance = NULL"),
    ColumnCheck("pages", _number("similarity", 0, 1), "similarity = NULL"),
    ColumnCheck("pages", _number("containment", 0, 1), "containment = NULL"),
    *(
        ColumnCheck("pages", _digest(name), f"{name} = NULL")
        for name in ("visible_digest", "last_text_digest", "last_payload_digest", "words_digest")
    ),
    ColumnCheck(
        "pages",
        "payload_digest IS NOT NULL AND payload_digest IS NOT last_payload_digest",
        "payload_digest = last_payload_digest",
    ),
    ColumnCheck(
        "pages",
        f"visit NOT BETWEEN 0 AND {NEWEST_VISIT}",
        f"visit = min(max(visit, 0), {NEWEST_VISIT})",
    ),
    ColumnCheck(
        "pages",
        f"seen_visit NOT BETWEEN visit AND {NEWEST_VISIT}",
        f"seen_visit = min(max(seen_visit, visit), {NEWEST_VISIT})",
    ),
    ColumnCheck("pages", _number("fetched_at", 0), "fetched_at = 0"),
    ColumnCheck("pages", _number("seen_at", 0), "seen_at = fetched_at"),
    ColumnCheck(
        "known", f"outcome NOT IN ({listed(OUTCOMES)})", "outcome = 'unchanged', due_at = 0"
    ),
    ColumnCheck("known", f"visit NOT BETWEEN 0 AND {NEWEST_VISIT}", f"visit = {NEWEST_VISIT}"),
    ColumnCheck("known", "since NOT BETWEEN 0 AND visit", "since = visit"),
    *_flags("known", "is_near", "not_sent", "was_away"),
    ColumnCheck("known", _number("distance", 0, 64), "distance = NULL"),
    ColumnCheck("known", _number("similarity", 0, 1), "similarity = NULL"),
    ColumnCheck(
        "known",
        "typeof(interval_secs) <> 'real' OR interval_secs <= 0",
        "interval_secs = 86400.0, due_at = 0",
    ),
    ColumnCheck("known", _number("due_at", 0), "due_at = 0"),
    ColumnCheck("known", _digest("key", may_be_null=False), None),
    ColumnCheck(
        "requests", f"state NOT BETWEEN {WAITING} AND {SKIPPED}", f"state = {WAITING}, tries = 0"
    ),
    *_counts("requests", "tries", "depth"),
    *_flags("requests", "fixed"),
    ColumnCheck("requests", _digest("key"), "key = NULL"),
    ColumnCheck("requests", f"state IN ({QUEUED}) AND url NOT LIKE '%:%'", None),
    ColumnCheck("redirects", _digest("key", may_be_null=False), None),
    ColumnCheck("redirects", _digest("target", may_be_null=False), None),
    *_counts("url_rules", "positives", "explored", "saved"),
    ColumnCheck("url_rules", "NOT json_valid(tried)", "tried = '[]'"),
    *_counts("url_groups", "tries"),
    *_flags("url_groups", "explored"),
    ColumnCheck("url_groups", _digest("group_digest", may_be_null=False), None),
    ColumnCheck(
        "url_clusters", f"state NOT IN ({listed(_CLUSTERS)})", "state = 'open', reason = NULL"
    ),
    *_counts("url_clusters", "fetched", "new", "barren", "met", "counted", "deepest", "recent"),
    ColumnCheck("url_clusters", "new > fetched", "new = fetched"),
    *_flags("links", "shared"),
    *_counts("hosts", "turn"),
    ColumnCheck("host_turns", "turn < 0", None),
    ColumnCheck("file_redirects", _digest("key", may_be_null=False), None),
    ColumnCheck("file_redirects", _digest("target", may_be_null=False), None),
    ColumnCheck("labels", _digest("first", may_be_null=False), None),
    ColumnCheck("labels", _digest("second", may_be_null=False), None),
    *_counts("parameters", "since"),
    *_counts("labels", "labelled_at"),
    *_counts("url_rules", "since"),
    ColumnCheck("labels", f"label NOT IN ({listed(_LABELS)}) OR first >= second", None),
)


def find_altered(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Compute the checksum of each row again. Complexity: O(size of the rows)."""
    keep_checksums(directory.connection)
    read, altered = directory.connection.execute, Culprits(ALTERED)
    watch.begin("rows", len(CHECKED))
    for table, key in _KEYS.items():
        url = f"SELECT url FROM pages AS page WHERE page.key = {key}"
        wrong = f"checksum IS NOT {checksum_sql(read, table)}"
        for (url_bytes,) in read(f"SELECT CAST(({url}) AS BLOB) FROM {table} WHERE {wrong}"):
            altered.add(table, f"{table}: {(url_bytes or b'').decode(errors='replace')}")
        watch.advance()
    yield from altered.found()


def _have_read_again(repairer: Repairer, finding: Finding) -> str:
    """Keep altered rows as they are, and have their pages judged anew at the next visit."""
    read, write = repairer.database.read, repairer.database.write
    right = {table: checksum_sql(read, table) for table in CHECKED}
    for table, key in _KEYS.items():
        keys = f"SELECT {key} FROM {table} WHERE checksum IS NOT {right[table]}"
        write(f"UPDATE known SET due_at = 0 WHERE key IN ({keys})")
        write(f"UPDATE pages SET payload_digest = NULL WHERE latest = 1 AND key IN ({keys})")
    for table, checksum in right.items():
        write(f"UPDATE {table} SET checksum = {checksum} WHERE checksum IS NOT {checksum}")
    return f"altered rows whose pages are read once more at the next visit: {finding.count:,}"


def find_strange_values(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Check each value by itself. Complexity: O(rows)."""
    directory.connection.create_function("is_utf8", 1, is_utf8, deterministic=True)
    every = [*_typed_columns(directory.connection.execute), *_COLUMNS]
    watch.begin("values", len(every))
    for table in dict.fromkeys(column.table for column in every):
        wrong = [column.wrong for column in every if column.table == table]
        condition = " OR ".join(f"({each})" for each in wrong)
        count = directory.count(f"SELECT count(*) FROM {table} WHERE {condition}")
        watch.advance(len(wrong))
        if count:
            what = f"rows of the table {table} with values that no crawl writes: {count:,}"
            yield VALUES.finding(what, count)


def _put_right(repairer: Repairer, finding: Finding) -> str:
    rows = 0
    repairer.database.add_function("is_utf8", is_utf8)
    for column in (*_typed_columns(repairer.database.read), *_COLUMNS):
        act = f"UPDATE {column.table} SET {column.right}"
        if column.right is None:
            act = f"DELETE FROM {column.table}"
        rows += repairer.database.write(f"{act} WHERE {column.wrong}").rowcount
    repairer.queue.requests.line_up()
    return f"values corrected: {rows:,}"


ALTERED = Rule(
    "rows-unaltered",
    "rows that were altered since they were written",
    "keeps them, and has their pages read once more at the next visit",
    _have_read_again,
    Stage.VALUES,
)
VALUES = Rule(
    "values-right",
    "rows with values that no crawl writes",
    "corrects the values, or deletes the rows",
    _put_right,
    Stage.VALUES,
)
