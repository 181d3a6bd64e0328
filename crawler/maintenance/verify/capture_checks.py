"""Check that each page has one newest capture, each text one page, each duplicate an original.

What other tables, and the values of the crawl itself, say of pages is checked here too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import zstandard

from crawler.maintenance.verify.column_checks import NEWEST_VISIT
from crawler.maintenance.verify.finding import Mend, QueueAgain, Rule, writing
from crawler.pages.boilerplate import held_counts
from crawler.pages.page_links import LinkPacker, unpack_places
from crawler.pages.page_row import highest_id
from crawler.pages.stored_texts import text_of_page
from crawler.pages.verdicts import (
    DUPLICATES,
    KEPT,
    MOVED,
    NOT_HTML,
    VERDICTS,
    WALLS,
    WITHOUT_PAGE,
    listed,
)
from crawler.pages.wall_clusters import host_of
from crawler.reading.reading import StoredLink
from crawler.storage import meta_names
from crawler.storage.states import LEASED, WAITING
from crawler.urls.canonical import MalformedUrl
from neardup.errors import NearDupError
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding, Read, Repairer
    from crawler.storage.database import Database
    from crawler.urls.canonical import Canonicalizer

_NOT_NEWEST = "SELECT key, url FROM pages GROUP BY key HAVING sum(latest) <> 1"
# The last readable capture becomes the newest, or the last one if none is readable.
_CHOOSE = (
    "UPDATE pages SET latest = 0 WHERE key = ? AND latest = 1",
    "UPDATE pages SET latest = 1 WHERE id = (SELECT id FROM pages WHERE key = ?"
    f" ORDER BY verdict IN ({listed(WITHOUT_PAGE)}), id DESC LIMIT 1)",
)
_UNKNOWN = f"SELECT id, url FROM pages WHERE verdict NOT IN ({listed(VERDICTS)})"
NO_PAGE = "NOT EXISTS (SELECT 1 FROM pages WHERE pages.id = {})"
"""The condition of rows that name a capture that is not there."""

# The original of such a duplicate is in another crawl: crawl-once merge finds it there.
_HERE = "NOT EXISTS (SELECT 1 FROM elsewhere WHERE elsewhere.page = {})"
_NO_TEXT = f"""
SELECT id, url FROM pages WHERE latest = 1 AND text IS NULL AND verdict IN ({listed(KEPT)})
"""
# A file that is no page is never stored: its copies are only known to be the same.
ORPHANS = f"""
SELECT copy.id AS id, copy.url AS url
FROM pages AS copy LEFT JOIN pages AS kept ON kept.id = copy.duplicate_of
WHERE copy.latest = 1 AND (copy.duplicate_of IS NOT NULL OR copy.verdict IN ({listed(DUPLICATES)}))
  AND (kept.id IS NULL AND {_HERE.format("copy.id")}
       OR kept.verdict <> '{NOT_HTML}' AND NOT (kept.latest = 1 AND kept.text IS NOT NULL))
"""
# Their original has changed, and a visit that was stopped has not requested them.
_WAITING = "kept.text IS NOT NULL AND kept.id IN (SELECT page FROM superseded)"
_SUPERSEDED = f"{ORPHANS} AND {_WAITING}"
_LOST = f"{ORPHANS} AND NOT coalesce({_WAITING}, 0)"
TWICE = f"""
SELECT later.id, later.url FROM pages AS later
WHERE later.latest = 1 AND later.text IS NOT NULL AND later.words > 0
  AND later.verdict IN ({listed(KEPT)})
  AND EXISTS (
    SELECT 1 FROM pages AS first
    WHERE first.text_digest = later.text_digest AND first.latest = 1 AND first.text IS NOT NULL
      AND first.id < later.id AND first.url <> later.url)
"""

_NOT_OWNED = f"""
SELECT near_texts.page, coalesce(pages.url, 'page ' || near_texts.page)
FROM near_texts LEFT JOIN pages ON pages.id = near_texts.page
WHERE pages.id IS NULL
  OR pages.latest = 0 AND pages.verdict NOT IN ({listed(WALLS)})
    AND NOT EXISTS (SELECT 1 FROM wall_pages WHERE replaced = pages.id)
  OR pages.latest = 1 AND pages.duplicate_of IS NULL AND pages.verdict NOT IN ({listed(WALLS)})
    AND NOT EXISTS (SELECT 1 FROM elsewhere WHERE elsewhere.page = pages.id)
"""
_NOT_ELSEWHERE = f"""
SELECT page, coalesce(pages.url, 'page ' || page)
FROM elsewhere LEFT JOIN pages ON pages.id = page
WHERE pages.id IS NULL OR pages.duplicate_of IS NOT NULL
  OR pages.verdict NOT IN ({listed(DUPLICATES)})
"""
_NOT_CHOSEN = """
SELECT id, url FROM pages
WHERE parameters IS NOT NULL AND parameters NOT IN (SELECT id FROM parameters)
"""
_FORGET = f"""
DELETE FROM pages WHERE id = ? OR (
    key = ? AND latest = 0 AND text IS NULL AND verdict IN ({listed(KEPT)}))
"""


def find_misplaced(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Check captures, with one query a rule.

    Complexity: O(pages * log pages).
    """
    watch.begin("captures", len(_QUERIES))
    for rule, sql in _QUERIES.items():
        yield from rule.found(directory.connection.execute(sql))
        watch.advance()


def _fetch_again(repairer: Repairer, finding: Finding) -> None:
    """Forget captures and texts that are of no use, and queue their URLs."""
    sql = "UPDATE pages SET text = NULL, content = NULL, html = NULL WHERE id = ? AND latest = 0"
    repairer.write_each(sql, finding.ids)
    queue = repairer.queue
    for page_id in finding.ids:
        _queue_again(repairer.database, queue, page_id)


def _queue_again(database: Database, queue: QueueAgain, page_id: int) -> bool:
    """Delete a newest capture, make an earlier one the newest, and queue the URL."""
    sql = "SELECT key, url, depth FROM pages WHERE id = ? AND latest = 1"
    row = database.read(sql, (page_id,)).fetchone()
    if row is None:
        return False
    key, url, depth = row
    # With old versions that have no text left: none of them can be the newest.
    database.write(_FORGET, (page_id, key))
    for sql in _CHOOSE:
        database.write(sql, (key,))
    queue.push_url(url, key, depth)
    return True


def queue_orphans(database: Database) -> int:
    """Queue the URLs of duplicates whose original and text are stored nowhere; count them."""
    orphans = database.read(ORPHANS).fetchall()
    lost = [page for page, _ in orphans if text_of_page(database.read, page) is None]
    if not lost or database.meta(meta_names.PLAN) is None:
        return 0
    queue = QueueAgain(database)  # it changes the turns of hosts, so only where it is needed
    return sum(_queue_again(database, queue, page) for page in lost)


def _doubt(repairer: Repairer, finding: Finding) -> None:
    repairer.doubted += finding.ids


FETCHED = Mend(
    "forgets the capture and queues the URL again",
    _fetch_again,
    "the spider is not one of ours, which could queue it again: crawl into a new JOBDIR",
)
DROPPED_BESIDE = writing("deletes them", "DELETE FROM near_texts WHERE page = ?")
JUDGED = Mend("judges them again by their texts, and queues those whose text is lost", _doubt)

_QUERIES = {
    Rule(
        "newest-unique",
        "URLs with no newest capture, or more than one",
        writing("makes the last capture that was read the newest", *_CHOOSE),
    ): _NOT_NEWEST,
    Rule("verdict-known", "captures with an unknown verdict", FETCHED): _UNKNOWN,
    Rule("kept-has-text", "kept pages without a text", FETCHED): _NO_TEXT,
    Rule("kept-once", "pages kept although an earlier page has the same text", JUDGED): TWICE,
    Rule("original-held", "duplicates of an original whose text is stored nowhere", JUDGED): _LOST,
    Rule(
        "original-superseded",
        "duplicates of the text that a page had before it changed",
        replace(JUDGED, remedy="keeps one of them for each text"),
        is_leftover=True,
    ): _SUPERSEDED,
    Rule(
        "near-text-owned",
        "stored texts of pages that are no duplicate, soft 404 or wall any more",
        DROPPED_BESIDE,
    ): _NOT_OWNED,
    Rule(
        "elsewhere-owned",
        "pages that name an original in another crawl and are no duplicates",
        writing("removes the names", "DELETE FROM elsewhere WHERE page = ?"),
    ): _NOT_ELSEWHERE,
    Rule(
        "parameters-known",
        "verdicts made with parameters that are not stored",
        writing(
            "marks them so; crawl-once rejudge judges these pages again",
            "UPDATE pages SET parameters = NULL WHERE id = ?",
        ),
    ): _NOT_CHOSEN,
}
"""Queries for id and URL of the rows that break each rule, or for their keys and URLs."""

_KNOWN_ONLY = f"""
SELECT key, coalesce((SELECT url FROM requests WHERE requests.key = known.key), '') FROM known
WHERE outcome <> '{MOVED}' AND NOT EXISTS (SELECT 1 FROM pages WHERE pages.key = known.key)
  AND NOT EXISTS (
      SELECT 1 FROM requests WHERE requests.key = known.key AND state IN ({WAITING}, {LEASED}))
"""
_PAGES_ONLY = f"""
SELECT id, url FROM pages WHERE latest = 1 AND visit > 0
  AND verdict NOT IN ({listed(WITHOUT_PAGE)})
  AND NOT EXISTS (SELECT 1 FROM known WHERE known.key = pages.key)
"""
_DUE_NOW = """
INSERT OR IGNORE INTO known
SELECT key, max(visit, seen_visit), 'unchanged', visit, NULL, NULL, NULL, NULL, 0, 0, 0,
       86400.0, CAST(unixepoch() AS REAL), NULL, NULL
FROM pages WHERE id = ?
"""


def find_strange(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Check the agreement of tables on each page, and the values of the crawl itself.

    Complexity: O(rows), and one canonical URL a page.
    """
    read, canonicalizer = directory.connection.execute, directory.canonicalizer
    if canonicalizer is None:
        yield URL_RULES.finding(URL_RULES.what)
    yield from META.found(_wrong_meta(directory))
    # Items of other spiders than ours may have keys of their own.
    if canonicalizer is not None and directory.plan is not None:
        yield from KEYS.found(_wrong_keys(read, canonicalizer))
        yield from REDIRECTS.found((key, "") for key in _wrong_redirects(read, canonicalizer))
    yield from LOST.found(((key, url), url) for key, url in read(_KNOWN_ONLY))
    yield from UNKNOWN.found(read(_PAGES_ONLY))
    yield from COUNTS.found((host, "") for host in _wrong_counts(read))
    yield from LINKS.found((number, "") for number in _unreadable_links(read))


def _wrong_meta(directory: CrawlDirectory) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield name and right value of each row of ``meta`` that is wrong, and the name."""
    for name, sql in (
        (meta_names.VISIT, f"SELECT {NEWEST_VISIT}"),
        (meta_names.LAST_VISIT, "SELECT coalesce(max(seen_visit), 0) FROM pages"),
    ):
        value, newest = directory.meta.get(name, "0"), directory.count(sql)
        if not value.isdecimal() or int(value) < newest:
            yield (name, str(newest)), name


def _wrong_counts(read: Read) -> Iterator[int]:
    """Yield the hosts of ``host_blocks`` without a page, and those whose counts cannot be read."""
    hosts = {host_of(url) for (url,) in read("SELECT url FROM pages")}
    newest = highest_id(read)
    for host, *values in read("SELECT host, texts, error, last, blocks FROM host_blocks"):
        try:
            held = held_counts(*values)
        except (NearDupError, TypeError, ValueError):
            yield host
        else:
            counts = held.counts
            if host not in hosts or counts.texts < 1 or counts.error < 0 or held.last > newest:
                yield host


def _wrong_keys(
    read: Read, canonicalizer: Canonicalizer
) -> Iterator[tuple[tuple[str, bytes, int], str]]:
    """Yield right canonical URL, right key and id of each capture that has others, and its URL."""
    sql = "SELECT id, url, canonical_url, key FROM pages ORDER BY id"
    for page_id, url, canonical_url, key in read(sql):
        right = _names(canonicalizer, url)
        # Another crawl, or an earlier visit, may have requested the variant before its page.
        of_page = _names(canonicalizer.without(()), url)
        if canonical_url not in {right[0], of_page[0]} or key not in {right[1], of_page[1]}:
            yield (*right, page_id), url


def _names(canonicalizer: Canonicalizer, url: str) -> tuple[str, bytes]:
    """Return canonical URL and key of a URL, also of one that is malformed."""
    try:
        return canonicalizer(url), canonicalizer.key(url)
    except MalformedUrl:
        return url, payload_digest(url.encode("utf-8", "surrogatepass"))


def _wrong_redirects(read: Read, canonicalizer: Canonicalizer) -> Iterator[bytes]:
    """Yield the keys of redirects that do not fit their URLs."""
    for key, url in read("SELECT key, url FROM redirects"):
        try:
            is_right = key in {canonicalizer.key(url), canonicalizer.description_key(url)}
        except MalformedUrl:
            is_right = False
        if not is_right:
            yield key


def _unreadable_links(read: Read) -> Iterator[int]:
    """Yield the ids of the lists of links that are unreadable or belong to no page."""
    dictionary = read("SELECT urls FROM link_dictionary WHERE typeof(urls) = 'blob'").fetchone()
    plain = LinkPacker()
    shared = None if dictionary is None else LinkPacker(dictionary[0])
    sql = "SELECT id, shared, urls, places, key IN (SELECT key FROM pages) FROM links"
    for number, is_shared, packed, places, is_of_page in read(sql):
        packer = shared if is_shared else plain
        try:
            links = [StoredLink("", False)] if packer is None else packer.unpack(packed)[0]
            if places is not None:
                unpack_places(places)
        except (zstandard.ZstdError, ValueError, TypeError):
            yield number
        else:
            if not is_of_page or not all(link.url for link in links):
                yield number


def _queue_lost(repairer: Repairer, finding: Finding) -> None:
    queue = repairer.queue
    for key, url in finding.ids:
        repairer.database.write("DELETE FROM known WHERE key = ?", (key,))
        if url and repairer.directory.plan is not None:
            queue.push_url(url, key, 0)


def _count_again(repairer: Repairer, finding: Finding) -> None:
    repairer.database.write("DELETE FROM host_blocks")
    repairer.database.set_meta(meta_names.COUNTED_PAGE, "0")


URL_RULES = Rule(
    "url-keys-known",
    "the URL rules of the keys are unknown",
    advice="verify it with the version that made it",
)
META = Rule(
    "meta-right",
    "impossible values of the crawl itself",
    writing("derives them from the pages", "INSERT OR REPLACE INTO meta VALUES (?, ?)"),
)
KEYS = Rule(
    "keys-right",
    "captures with another key, or canonical URL, than their URL has",
    writing(
        "computes them from their URLs", "UPDATE pages SET canonical_url = ?, key = ? WHERE id = ?"
    ),
)
REDIRECTS = Rule(
    "redirect-keys-right",
    "redirects with another key than their URL has",
    writing("forgets them", "DELETE FROM redirects WHERE key = ?"),
)
LOST = Rule(
    "known-has-page",
    "pages that were fetched and have no capture",
    Mend("queues their URLs again, where those are known, and forgets the others", _queue_lost),
)
UNKNOWN = Rule(
    "page-is-known",
    "pages without a time at which they are due",
    writing("makes them due now", _DUE_NOW),
)
LINKS = Rule(
    "links-readable",
    "lists of links that cannot be read",
    writing("deletes them: those pages are asked for as a whole", "DELETE FROM links WHERE id = ?"),
)
COUNTS = Rule(
    "boilerplate-counted",
    "counts of boilerplate of hosts without a page, or that cannot be read",
    Mend("forgets all counts, which are made again when the crawl is opened", _count_again),
)
