"""Check that each page has one newest capture, each text one page, each duplicate an original."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.maintenance.verify.finding import Rule, Stage, writing
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

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding, Repairer


_NOT_NEWEST = "SELECT max(id), url FROM pages GROUP BY key HAVING sum(latest) <> 1"
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
        found = rule.found(directory.connection.execute(sql))
        yield from advised(directory, found) if rule.repair is read_again else found
        watch.advance()


def advised(directory: CrawlDirectory, found: Iterator[Finding]) -> Iterator[Finding]:
    """Yield findings of lost texts: only our own spiders can queue their URLs again."""
    for finding in found:
        own = directory.plan is not None
        yield finding if own else replace(finding, remedy="", advice=_FETCH_AGAIN)


def _choose_newest(repairer: Repairer, finding: Finding) -> str:
    keys = [row.key for row in map(repairer.store.get, finding.ids) if row is not None]
    for key in keys:
        _make_newest(repairer, key)
    return f"URLs whose newest capture was chosen: {len(keys):,}"


def _make_newest(repairer: Repairer, key: bytes) -> None:
    """Make the last readable capture the newest, or the last one if none is readable."""
    write = repairer.database.write
    write("UPDATE pages SET latest = 0 WHERE key = ? AND latest = 1", (key,))
    write(
        "UPDATE pages SET latest = 1 WHERE id = (SELECT id FROM pages WHERE key = ?"
        f" ORDER BY verdict IN ({listed(WITHOUT_PAGE)}), id DESC LIMIT 1)",
        (key,),
    )


def read_again(repairer: Repairer, finding: Finding) -> str | None:
    """Forget captures and texts that are of no use, and queue their URLs."""
    if repairer.directory.plan is None:
        return None
    dropped = repairer.database.write_many(
        "UPDATE pages SET text = NULL, content = NULL, html = NULL"
        " WHERE id = ? AND latest = 0 AND text IS NOT NULL",
        [(page_id,) for page_id in finding.ids],
    )
    queued = sum(_queue_again(repairer, page_id) for page_id in finding.ids)
    said = f"captures forgotten: {queued:,}, URLs queued again: {queued:,}"
    return f"{said}, texts of old versions dropped: {dropped:,}" if dropped else said


def _queue_again(repairer: Repairer, page_id: int) -> bool:
    """Delete a newest capture, make an earlier one the newest, and queue the URL."""
    sql = "SELECT key, url, depth FROM pages WHERE id = ? AND latest = 1"
    row = repairer.database.read(sql, (page_id,)).fetchone()
    if row is None:
        return False
    key, url, depth = row
    # With old versions that have no text left: none of them can be the newest.
    repairer.database.write(_FORGET, (page_id, key))
    _make_newest(repairer, key)
    repairer.queue.push_url(url, key, depth)
    return True


def queue_orphans(repairer: Repairer) -> int:
    """Queue the URLs of duplicates whose original and text are stored nowhere; count them."""
    if repairer.directory.plan is None:
        return 0
    orphans = [repairer.store.get(page) for page, _ in repairer.database.read(ORPHANS).fetchall()]
    texts = HeldTexts(repairer.database.read)
    return sum(
        texts.find(row.id, row.text_digest, row.words) is None and _queue_again(repairer, row.id)
        for row in orphans
        if row is not None
    )


def _judge_again(repairer: Repairer, finding: Finding) -> None:
    repairer.doubted += finding.ids


def judged_again(name: str, what: str) -> Rule:
    """Return a rule of verdicts: where it is broken, the pages are judged again."""
    remedy = "judges them again by their texts, and queues those whose text is lost"
    return Rule(name, what, remedy, _judge_again, Stage.DUPLICATES)


drop_near_texts = writing("DELETE FROM near_texts WHERE page = ?", "texts of no page deleted")

READ_AGAIN = "forgets the capture and queues the URL again"
_FETCH_AGAIN = "the spider is not one of ours, which could queue it again: crawl into a new JOBDIR"

NEWEST = Rule(
    "newest-unique",
    "URLs with no newest capture, or more than one",
    "makes the last capture that was read the newest",
    _choose_newest,
    changes_texts=True,
)
VERDICT = Rule(
    "verdict-known",
    "captures with an unknown verdict",
    READ_AGAIN,
    read_again,
    changes_texts=True,
)
TEXT = Rule(
    "kept-has-text", "kept pages without a text", READ_AGAIN, read_again, changes_texts=True
)
ONCE = judged_again("kept-once", "pages kept although an earlier page has the same text")
ORIGINAL = judged_again("original-held", "duplicates of an original whose text is stored nowhere")
SUPERSEDED = replace(
    judged_again("original-superseded", "duplicates of the text that a page had before it changed"),
    remedy="keeps one of them for each text",
    is_leftover=True,
)
NEAR_TEXT = Rule(
    "near-text-owned",
    "stored texts of pages that are no duplicate, soft 404 or wall any more",
    "deletes them",
    drop_near_texts,
    Stage.DUPLICATES,
)
ELSEWHERE = Rule(
    "elsewhere-owned",
    "pages that name an original in another crawl and are no duplicates",
    "removes the names",
    writing("DELETE FROM elsewhere WHERE page = ?", "names of originals in other crawls removed"),
    Stage.DUPLICATES,
)
PARAMETERS = Rule(
    "parameters-known",
    "verdicts made with parameters that are not stored",
    "marks them so; crawl-once rejudge judges these pages again",
    writing(
        "UPDATE pages SET parameters = NULL WHERE id = ?",
        "verdicts marked as made with unknown parameters",
    ),
    Stage.DUPLICATES,
)

_QUERIES = {
    NEWEST: _NOT_NEWEST,
    VERDICT: _UNKNOWN,
    TEXT: _NO_TEXT,
    ONCE: TWICE,
    ORIGINAL: _LOST,
    SUPERSEDED: _SUPERSEDED,
    NEAR_TEXT: _NOT_OWNED,
    ELSEWHERE: _NOT_ELSEWHERE,
    PARAMETERS: _NOT_CHOSEN,
}
"""Queries for id and URL of the rows that break each rule."""
