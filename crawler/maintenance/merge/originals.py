"""Whom each duplicate repeats, when the pages of all crawls stand in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.maintenance.verify.capture_checks import TWICE

if TYPE_CHECKING:
    from crawler.storage.database import Database

# What two crawls kept that knew nothing of each other, or one of which was killed.
_MAKE_DUPLICATES = f"""
UPDATE pages SET verdict = 'text_duplicate', distance = 0, similarity = 1.0, text = NULL,
    html = NULL, duplicate_of = (
        SELECT min(first.id) FROM pages AS first
        WHERE first.text_digest = pages.text_digest AND first.latest = 1
          AND first.text IS NOT NULL)
WHERE id IN (SELECT id FROM ({TWICE}))
"""  # noqa: S608

# The very page that was named, where it says what it said then; else one that says the same.
_NAME = """
UPDATE pages SET duplicate_of = (
    SELECT kept.id FROM scratch.named JOIN pages AS kept
      ON kept.text_digest = named.text_digest AND kept.latest = 1 AND kept.text IS NOT NULL
    WHERE named.page = pages.id
    ORDER BY kept.id IS NOT named.original, kept.key IS NOT named.key, kept.id LIMIT 1)
WHERE id IN (SELECT page FROM scratch.named WHERE text_digest IS NOT NULL)
"""

# A file is never held: its copies name one that has the same bytes.
_NAME_FILE = """
UPDATE pages SET duplicate_of = (
    SELECT file.id FROM scratch.named JOIN pages AS file
      ON file.payload_digest = pages.payload_digest
     AND file.verdict IN ('new', 'changed', 'too_short', 'not_html') AND file.verdict = 'not_html'
    WHERE named.page = pages.id
    ORDER BY file.latest DESC, file.id IS NOT named.original, file.key IS NOT named.key, file.id
    LIMIT 1)
WHERE id IN (SELECT page FROM scratch.named WHERE text_digest IS NULL)
"""
_FILES_ALONE = """
UPDATE pages SET verdict = 'not_html', distance = NULL, similarity = NULL,
    reason = coalesce(reason, 'a file like one that no crawl has any more')
WHERE id IN (
    SELECT page FROM scratch.named JOIN pages ON pages.id = page
    WHERE pages.duplicate_of IS NULL AND pages.text_digest IS NULL)
"""


def name_originals(database: Database) -> None:
    """Let each duplicate name the kept page that it repeats, where there is one.

    Complexity: O(duplicates * log n).
    """
    for sql in (_MAKE_DUPLICATES, _NAME, _NAME_FILE, _FILES_ALONE):
        database.write(sql)
        database.commit()
