"""Check that rows hold values that a crawl writes, and that tables agree."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import zstandard

from crawler.maintenance.verify.capture_checks import listed
from crawler.maintenance.verify.finding import MAX_EXAMPLES, Culprits, Finding
from crawler.pages.page_links import LinkPacker
from crawler.pages.verdicts import MOVED, OUTCOMES
from crawler.storage import meta_names
from crawler.storage.states import LEASED, QUEUED, SKIPPED, TODO
from crawler.urls.canonical import MalformedUrl
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch

    Read = Callable[..., sqlite3.Cursor]

VALUES = "values-right"
KEYS = "keys-right"
LINKS = "links-readable"
LOST = "known-has-page"
UNKNOWN = "page-is-known"
META = "meta-right"
RULES = "url-keys-known"
REDIRECTS = "redirect-keys-right"

# Two tables store this visit: the lower number is the wrong one.
_VISIT = (
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
_INSTEAD = {
    ("pages", "url"): "url = canonical_url",
    ("pages", "canonical_url"): "canonical_url = ''",
    ("pages", "key"): "key = x''",
    ("pages", "verdict"): "verdict = ''",
    ("requests", "request"): "request = x''",
}
"""Repairs of missing values that other checks complete; other rows are deleted."""


def typed_columns(read: Read) -> list[ColumnCheck]:
    """Return a check for the type of each column."""
    found = []
    tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    for (table,) in read(tables).fetchall():
        for _, name, kind, is_needed, _, is_key in read(f"PRAGMA table_info({table})"):
            wrong = f"typeof({name}) <> '{_TYPES[kind]}'"
            right: str | None = f"{name} = NULL"
            if is_needed or is_key:
                right = f"{name} = 0" if kind in {"INTEGER", "REAL"} and not is_key else None
                right = _INSTEAD.get((table, name), right)
            else:
                wrong = f"{name} IS NOT NULL AND {wrong}"
            found.append(ColumnCheck(table, wrong, right))
    return found


COLUMNS = (
    # Ids begin at 1; other checks find the rows that refer to a wrong one.
    ColumnCheck("pages", "id < 1", "id = (SELECT max(max(id), 0) FROM pages) + 1 - id"),
    *_flags("pages", "latest", "better_copy"),
    *_counts("pages", "depth", "body_bytes", "links", "words"),
    ColumnCheck("pages", "is_main NOT IN (0, 1)", "is_main = (fingerprint IS NOT NULL)"),
    ColumnCheck("pages", _number("status", 100, 999), "status = NULL"),
    ColumnCheck("pages", _number("distance", 0, 64), "distance = NULL"),
    ColumnCheck("pages", _number("similarity", 0, 1), "similarity = NULL"),
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
        "pages", f"visit NOT BETWEEN 0 AND {_VISIT}", f"visit = min(max(visit, 0), {_VISIT})"
    ),
    ColumnCheck(
        "pages",
        f"seen_visit NOT BETWEEN visit AND {_VISIT}",
        f"seen_visit = min(max(seen_visit, visit), {_VISIT})",
    ),
    ColumnCheck("pages", _number("fetched_at", 0), "fetched_at = 0"),
    ColumnCheck("pages", _number("seen_at", 0), "seen_at = fetched_at"),
    ColumnCheck(
        "known", f"outcome NOT IN ({listed(OUTCOMES)})", "outcome = 'unchanged', due_at = 0"
    ),
    ColumnCheck("known", f"visit NOT BETWEEN 0 AND {_VISIT}", f"visit = {_VISIT}"),
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
        "requests", f"state NOT BETWEEN {TODO} AND {SKIPPED}", f"state = {TODO}, tries = 0"
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
    *_counts("url_clusters", "fetched", "new", "barren", "met", "recent"),
    ColumnCheck("url_clusters", "new > fetched", "new = fetched"),
    *_flags("links", "shared"),
    *_counts("hosts", "turn"),
    ColumnCheck("file_redirects", _digest("key", may_be_null=False), None),
    ColumnCheck("file_redirects", _digest("target", may_be_null=False), None),
    ColumnCheck("labels", _digest("first", may_be_null=False), None),
    ColumnCheck("labels", _digest("second", may_be_null=False), None),
    *_counts("parameters", "since"),
    *_counts("labels", "labelled_at"),
    *_counts("url_rules", "since"),
    ColumnCheck("labels", f"label NOT IN ({listed(_LABELS)}) OR first >= second", None),
)

KNOWN_ONLY = f"""
SELECT key, coalesce((SELECT url FROM requests WHERE requests.key = known.key), '') FROM known
WHERE outcome <> '{MOVED}' AND NOT EXISTS (SELECT 1 FROM pages WHERE pages.key = known.key)
  AND NOT EXISTS (
      SELECT 1 FROM requests WHERE requests.key = known.key AND state IN ({TODO}, {LEASED}))
"""
PAGES_ONLY = """
SELECT id, url FROM pages WHERE latest = 1 AND visit > 0
  AND verdict NOT IN ('failed', 'unreadable')
  AND NOT EXISTS (SELECT 1 FROM known WHERE known.key = pages.key)
"""


def find_strange(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Check each value by itself, and the agreement of two tables on one page.

    If a value is none that a crawl writes, the other checks wait for its repair.

    Complexity: O(rows), and one canonical URL a page.
    """
    watch.begin("values", len(COLUMNS))
    found = list(_find_values(directory, watch))
    yield from found
    if found:
        return  # all other checks rely on these
    yield from _find_meta(directory)
    yield from _find_keys(directory)
    redirects = wrong_redirects(directory)
    if redirects:
        what = f"redirects with another key than their URL has: {len(redirects):,}"
        yield Finding(REDIRECTS, what, len(redirects), remedy="forgets them")
    count, urls = 0, list[str]()
    for _, url in directory.connection.execute(KNOWN_ONLY):
        count += 1
        urls += [str(url)] if url and len(urls) < MAX_EXAMPLES else []
    if count:
        remedy = "queues their URLs again, where those are known, and forgets the others"
        what = f"pages that were fetched and have no capture: {count:,}"
        yield Finding(LOST, what, count, tuple(urls), remedy=remedy)
    unknown = Culprits()
    unknown.add_all(directory.connection.execute(PAGES_ONLY))
    if unknown.ids:
        what = "pages of which it is not known when they are due"
        yield unknown.finding(UNKNOWN, what, "lets them be due now")
    broken = unreadable_links(directory.connection.execute)
    if broken:
        what = f"lists of links that cannot be read: {len(broken):,}"
        remedy = "takes them away: those pages are asked for as a whole"
        yield Finding(LINKS, what, len(broken), remedy=remedy)


def _find_values(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    every = [*typed_columns(directory.connection.execute), *COLUMNS]
    for table in dict.fromkeys(column.table for column in every):
        wrong = [column.wrong for column in every if column.table == table]
        condition = " OR ".join(f"({each})" for each in wrong)
        count = directory.count(f"SELECT count(*) FROM {table} WHERE {condition}")
        watch.advance(len(wrong))
        if count:
            what = f"rows of the table {table} with values that no crawl writes: {count:,}"
            yield Finding(VALUES, what, count, remedy="puts those right, or takes the rows away")


def _find_meta(directory: CrawlDirectory) -> Iterator[Finding]:
    if directory.canonicalizer is None:
        advice = "verify it with the version that made it"
        yield Finding(RULES, "the URL rules of the keys are unknown", advice=advice)
    wrong = wrong_meta(directory)
    if wrong:
        named = ", ".join(wrong)
        what = f"values of the crawl itself that cannot be: {named}"
        yield Finding(META, what, len(wrong), remedy="derives them from the pages")


def wrong_meta(directory: CrawlDirectory) -> dict[str, str]:
    """Return the right values of the rows of ``meta`` that are wrong, by their names."""
    found = {}
    for name, sql in (
        (meta_names.VISIT, f"SELECT {_VISIT}"),
        (meta_names.LAST_VISIT, "SELECT coalesce(max(seen_visit), 0) FROM pages"),
    ):
        value, newest = directory.meta.get(name, "0"), directory.count(sql)
        if not value.isdecimal() or int(value) < newest:
            found[name] = str(newest)
    return found


def _find_keys(directory: CrawlDirectory) -> Iterator[Finding]:
    wrong = Culprits()
    for page_id, url, _, _ in wrong_keys(directory):
        wrong.add(page_id, url)
    if wrong.ids:
        what = "captures with another key, or canonical URL, than their URL has"
        yield wrong.finding(KEYS, what, "computes them from their URLs")


def wrong_keys(directory: CrawlDirectory) -> Iterator[tuple[int, str, str, bytes]]:
    """Yield id, URL, right canonical URL and right key of each capture that has others.

    Only for crawls by our own spiders: items of others may have keys of their own.
    """
    canonicalizer = directory.canonicalizer
    if canonicalizer is None or directory.plan is None:
        return
    rows = directory.connection.execute("SELECT id, url, canonical_url, key FROM pages ORDER BY id")
    for page_id, url, canonical_url, key in rows:
        try:
            right = canonicalizer(url), canonicalizer.key(url)
        except MalformedUrl:
            right = url, payload_digest(url.encode("utf-8", "surrogatepass"))
        if right != (canonical_url, key):
            yield page_id, url, *right


def wrong_redirects(directory: CrawlDirectory) -> list[bytes]:
    """Return the keys of redirects that do not fit their URLs, for crawls by our own spiders."""
    canonicalizer = directory.canonicalizer
    if canonicalizer is None or directory.plan is None:
        return []
    wrong = []
    for key, url in directory.connection.execute("SELECT key, url FROM redirects"):
        try:
            is_right = canonicalizer.key(url) == key
        except MalformedUrl:
            is_right = False
        if not is_right:
            wrong.append(key)
    return wrong


def unreadable_links(read: Read) -> list[int]:
    """Return the ids of the lists of links that are unreadable or belong to no page."""
    dictionary = read("SELECT urls FROM link_dictionary WHERE typeof(urls) = 'blob'").fetchone()
    plain = LinkPacker()
    shared = None if dictionary is None else LinkPacker(dictionary[0])
    broken = []
    sql = "SELECT id, shared, urls, key IN (SELECT key FROM pages) FROM links"
    for number, is_shared, packed, is_of_page in read(sql):
        packer = shared if is_shared else plain
        try:
            if (
                not is_of_page
                or packer is None
                or not all(url for url, _ in packer.unpack(packed)[0])
            ):
                broken.append(number)
        except (zstandard.ZstdError, ValueError, TypeError):
            broken.append(number)
    return broken
