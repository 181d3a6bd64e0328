"""Check that each page has one newest capture, each text one page, each duplicate an original."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.maintenance.verify.finding import Mend, QueueAgain, Rule, writing
from crawler.pages.stored_texts import HeldTexts
from crawler.pages.verdicts import (
    DUPLICATES,
    KEPT,
    NOT_HTML,
    VERDICTS,
    WALLS,
    WITHOUT_PAGE,
    listed,
)
from crawler.storage import meta_names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding, Repairer
    from crawler.storage.database import Database

_NOT_NEWEST = "SELECT key, url FROM pages GROUP BY key HAVING sum(latest) <> 1"
# The last readable capture becomes the newest, or the last one if none is readable.
_CHOOSE = (
    "UPDATE pages SET latest = 0 WHERE key = ? AND latest = 1",
    "UPDATE pages SET latest = 1 WHERE id = (SELECT id FROM pages WHERE key = ?"
    f" ORDER BY verdict IN ({listed(WITHOUT_PAGE)}), id DESC LIMIT 1)",
)
_UNKNOWN = f"SELECT id, url FROM pages WHERE verdict NOT IN ({listed(VERDICTS)})"
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
    texts, orphans = HeldTexts(database.read), database.read(ORPHANS).fetchall()
    lost = [page for page, _ in orphans if texts.of_page(page) is None]
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
