"""Check that each page has one newest capture, each text one page, each duplicate an original."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.maintenance.verify.finding import Rule, Stage, writing
from crawler.pages.stored_texts import HeldTexts
from crawler.pages.verdicts import (
    DUPLICATES,
    KEPT,
    NEW,
    NOT_HTML,
    TEXT_DUPLICATE,
    TOO_SHORT,
    VERDICTS,
    WALLS,
    WITHOUT_PAGE,
    listed,
)
from neardup import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding, Repairer
    from crawler.pages.page_row import PageRow


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
    chosen = 0
    for page_id in finding.ids:
        row = repairer.store.get(page_id)
        if row is not None:
            _make_newest(repairer, row.key)
            chosen += 1
    return f"URLs whose newest capture was chosen: {chosen:,}"


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


def _make_duplicates(repairer: Repairer, finding: Finding) -> str:
    made = 0
    for page_id in finding.ids:
        row = repairer.store.get(page_id)
        first = None if row is None else _holder(repairer, row)
        if row is not None and first is not None and first != page_id:
            made += 1
            _name_original(repairer, row, first)
            repairer.database.write(
                "UPDATE pages SET duplicate_of = ? WHERE duplicate_of = ? AND latest = 1",
                (first, page_id),
            )
    return f"pages made duplicates of the first with the same text: {made:,}"


def _holder(repairer: Repairer, row: PageRow) -> int | None:
    """Return the first page that has the text of a row, or None."""
    return None if row.text_digest is None else repairer.store.find_text(row.text_digest, ())


def _name_original(repairer: Repairer, row: PageRow, original: int) -> None:
    row.verdict, row.hold(None).html = TEXT_DUPLICATE, None
    row.take_verdict(Verdict(TEXT_DUPLICATE, original, distance=0, similarity=1.0))
    repairer.store.store_verdict(row)


def find_originals(repairer: Repairer, finding: Finding | None = None) -> str | None:
    """Name an original with the duplicate's text, or keep it; queue it if the text is lost."""
    named = kept = queued = 0
    # Searched again: other repairs may have left orphans.
    orphans = [page_id for page_id, _ in repairer.database.read(ORPHANS)]
    for row in map(repairer.store.get, orphans):
        if row is None:
            continue
        holder = _holder(repairer, row)
        if holder is not None:
            _name_original(repairer, row, holder)
            named += 1
        elif _keep(repairer, row):
            kept += 1
        elif repairer.directory.plan is not None:
            queued += _queue_again(repairer, row.id)
    if not named and not kept and not queued:
        return None
    return (
        f"duplicates given another original: {named:,}, kept: {kept:,}, "
        f"URLs queued again: {queued:,}"
    )


def _keep(repairer: Repairer, row: PageRow) -> bool:
    """Keep a duplicate with its own text, or with that of the old version that it repeats."""
    stored = HeldTexts(repairer.database.read).of_page(row.id)
    source = replace(row).hold(stored)
    if stored is None:
        old = None if row.duplicate_of is None else repairer.store.get(row.duplicate_of)
        if old is None or old.text is None:
            return False
        source = old
        row.payload_digest = None  # read again at its next visit
    row.keep(Verdict(TOO_SHORT if source.fingerprint is None else NEW), source)
    repairer.store.store_verdict(row)
    return True


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
ONCE = Rule(
    "kept-once",
    "pages kept although an earlier page has the same text",
    "makes them duplicates of the first one",
    _make_duplicates,
    Stage.DUPLICATES,
    changes_texts=True,
)
ORIGINAL = Rule(
    "original-held",
    "duplicates of an original whose text is stored nowhere",
    "names another page with the same text, keeps the page, or queues the URL again",
    find_originals,
    Stage.DUPLICATES,
    changes_texts=True,
)
SUPERSEDED = Rule(
    "original-superseded",
    "duplicates of the text that a page had before it changed",
    "keeps one of them for each text",
    find_originals,
    Stage.DUPLICATES,
    changes_texts=True,
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
