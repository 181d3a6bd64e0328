"""Name the pages that merged pages resemble, or are parts of, wherever these were captured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.pages.page_row import to_unsigned
from crawler.pages.reasons import Reason, detail_of, without
from crawler.pages.verdicts import (
    CHANGED,
    CONTAINED,
    KEPT,
    PART_OF_NOTHING,
    SAME_TEMPLATE,
    listed,
)
from neardup import hamming

if TYPE_CHECKING:
    from crawler.storage.database import Database

SCRATCH = """
CREATE TABLE scratch.resembled (page INTEGER PRIMARY KEY, url TEXT NOT NULL);
"""

# Two crawls kept the same text: the later page is a duplicate now, and resembles nothing.
_DUPLICATES_RESEMBLE_NOTHING = f"""
UPDATE pages SET resembles = NULL
WHERE resembles IS NOT NULL AND verdict NOT IN ('{SAME_TEMPLATE}', '{CHANGED}')
"""
_RESEMBLE_ORIGINALS = """
UPDATE pages SET resembles = kept.duplicate_of FROM pages AS kept
WHERE kept.id = pages.resembles AND kept.duplicate_of IS NOT NULL
"""
# Of equal texts one stays, and each part of it is a part of that one.
_PARTS_OF_ORIGINALS = """
UPDATE pages SET part_of = kept.duplicate_of FROM pages AS kept
WHERE kept.id = pages.part_of AND kept.duplicate_of IS NOT NULL
"""
_PARTS_OF_NOTHING = f"""
{PART_OF_NOTHING}
WHERE (part_of IS NOT NULL OR containment IS NOT NULL) AND verdict <> '{CONTAINED}'
  AND (verdict NOT IN ({listed(KEPT)}) OR part_of IS NULL OR part_of = id
       OR key = (SELECT key FROM pages AS whole WHERE whole.id = pages.part_of))
"""
_ELSEWHERE = f"""
SELECT id, reason FROM pages
WHERE verdict = '{SAME_TEMPLATE}' AND resembles IS NULL AND latest = 1 AND reason IS NOT NULL
"""
_HERE = """
SELECT pages.id, pages.reason, pages.distance, pages.fingerprint, kept.id, kept.fingerprint
FROM scratch.resembled JOIN pages ON pages.id = resembled.page
JOIN pages AS kept ON kept.url = resembled.url AND kept.latest = 1 AND kept.text IS NOT NULL
"""


def name_resembled(database: Database) -> None:
    """Set the resembled page of each page that crawls of a fleet knew by its URL alone.

    A page that has another text by now, as its fingerprint tells, is not named. A part of a page
    that is a duplicate now is one of its original.

    Complexity: O(pages * log n).
    """
    for sql in (
        _DUPLICATES_RESEMBLE_NOTHING,
        _RESEMBLE_ORIGINALS,
        _PARTS_OF_ORIGINALS,
        _PARTS_OF_NOTHING,
    ):
        database.write(sql)
    for page, reason in database.read(_ELSEWHERE).fetchall():
        url = detail_of(reason, Reason.RESEMBLES)
        if url is not None:
            database.write("INSERT INTO scratch.resembled VALUES (?, ?)", (page, url))
    for page, reason, distance, fingerprint, kept, other in database.read(_HERE).fetchall():
        one, two = to_unsigned(fingerprint), to_unsigned(other)
        if one is not None and two is not None and hamming(one, two) == distance:
            database.write(
                "UPDATE pages SET resembles = ?, reason = ? WHERE id = ?",
                (kept, without(reason, Reason.RESEMBLES), page),
            )
    database.commit()
