"""Check that each page has one newest capture, and that each text is stored once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.maintenance.verify.finding import Culprits
from crawler.pages.verdicts import DUPLICATES, KEPT, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding

NEWEST = "newest-unique"
VERDICT = "verdict-known"
TEXT = "kept-has-text"
ORIGINAL = "original-held"
SUPERSEDED = "original-superseded"
ONCE = "kept-once"
NEAR_TEXT = "near-text-owned"
ELSEWHERE = "elsewhere-owned"
PARAMETERS = "parameters-known"

_READ_ANEW = "forgets the capture and queues the URL again"
_FETCH_ANEW = "the spider is not one of ours, which could queue it again: crawl into a new JOBDIR"


def reading_anew(directory: CrawlDirectory) -> tuple[str, str]:
    """Return remedy and advice for a lost text: only our own spiders can queue its URL again."""
    return (_READ_ANEW, "") if directory.plan is not None else ("", _FETCH_ANEW)


def listed(words: Collection[str]) -> str:
    """Return words as a list in SQL."""
    return ", ".join(f"'{word}'" for word in sorted(words))


_NOT_NEWEST = "SELECT max(id), url FROM pages GROUP BY key HAVING sum(latest) <> 1"
_UNKNOWN = f"SELECT id, url FROM pages WHERE verdict NOT IN ({listed(VERDICTS)})"
# The original of such a duplicate is in another crawl: scrapy merge finds it there.
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
       OR kept.verdict <> 'not_html' AND NOT (kept.latest = 1 AND kept.text IS NOT NULL))
"""
# Their original has changed, and a visit that was stopped has not requested them.
_WAITING = "kept.text IS NOT NULL AND kept.id IN (SELECT page FROM superseded)"
_SUPERSEDED = f"{ORPHANS} AND {_WAITING}"
_LOST = f"{ORPHANS} AND NOT coalesce({_WAITING}, 0)"
TWICE = """
SELECT later.id, later.url FROM pages AS later
WHERE later.latest = 1 AND later.text IS NOT NULL AND later.words > 0
  AND later.verdict IN ('new', 'changed', 'too_short')
  AND EXISTS (
    SELECT 1 FROM pages AS first
    WHERE first.text_digest = later.text_digest AND first.latest = 1 AND first.text IS NOT NULL
      AND first.id < later.id AND first.url <> later.url)
"""

_NOT_OWNED = """
SELECT near_texts.page, coalesce(pages.url, 'page ' || near_texts.page)
FROM near_texts LEFT JOIN pages ON pages.id = near_texts.page
WHERE pages.id IS NULL OR pages.latest = 0
  OR pages.duplicate_of IS NULL AND NOT EXISTS (
    SELECT 1 FROM elsewhere WHERE elsewhere.page = pages.id)
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

# Rule, query, description, remedy; an empty remedy means that the page must be read again.
_RULES = (
    (
        NEWEST,
        _NOT_NEWEST,
        "URLs with no newest capture, or more than one",
        "makes the last capture that was read the newest",
    ),
    (VERDICT, _UNKNOWN, "captures with a verdict that there is not", ""),
    (TEXT, _NO_TEXT, "kept pages without a text", ""),
    (
        ORIGINAL,
        _LOST,
        "duplicates of an original that nobody holds",
        "names another page that says the same, keeps the page, or queues the URL again",
    ),
    (
        SUPERSEDED,
        _SUPERSEDED,
        "duplicates of what a page said before it changed",
        "keeps one of them for each text",
    ),
    (
        ONCE,
        TWICE,
        "pages kept although an earlier page says the same",
        "makes them duplicates of the first one",
    ),
    (
        NEAR_TEXT,
        _NOT_OWNED,
        "texts beside the pages that are no duplicate's of today",
        "takes them away",
    ),
    (
        ELSEWHERE,
        _NOT_ELSEWHERE,
        "originals of other crawls, named for what is no duplicate of theirs",
        "takes the names away",
    ),
    (
        PARAMETERS,
        _NOT_CHOSEN,
        "verdicts made with parameters that there are not",
        "says that they are not known; scrapy rejudge makes them anew",
    ),
)


def find_misplaced(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Check captures, with one query a rule.

    Complexity: O(pages * log pages).
    """
    watch.begin("captures", len(_RULES))
    for rule, sql, what, remedy in _RULES:
        culprits = Culprits()
        culprits.add_all(directory.connection.execute(sql))
        if culprits.ids:
            remedies = (remedy, "") if remedy else reading_anew(directory)
            found = culprits.finding(rule, what, *remedies)
            yield replace(found, is_leftover=rule == SUPERSEDED)
        watch.advance()
