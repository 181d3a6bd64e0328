"""Write the reports of a mirror: the changes since the last visit, and the duplicates."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crawler.pages.reasons import in_words
from crawler.pages.verdicts import OUTCOMES
from crawler.storage import meta_names

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping

    from crawler.mirror.folder import MirrorFolder
    from crawler.storage.database import Database

CHANGES = "changes.json"
DUPLICATES = "duplicates.json"

_CHANGES = """
SELECT known.outcome, pages.url, files.path, files.state, known.distance, known.similarity,
       known.reason, known.moved_to, files.is_cut
FROM known
JOIN pages ON pages.key = known.key AND pages.latest = 1
LEFT JOIN files ON files.key = known.key
WHERE known.visit = ? AND known.outcome = ?
  AND (pages.verdict NOT IN ('failed', 'unreadable') OR files.is_cut = 1)
ORDER BY pages.id
"""

_DUPLICATES = """
SELECT one.url, other.url AS kept_url, other.path AS kept_path, one.state, pages.verdict,
       pages.distance, pages.similarity
FROM files AS one
LEFT JOIN files AS other ON other.id = one.stand_in
LEFT JOIN pages ON pages.key = one.key AND pages.latest = 1
WHERE one.state <> 'own' ORDER BY one.id
"""


def write_changes(database: Database, folder: MirrorFolder) -> None:
    """Write the changes of the last visit: a list of each outcome, page by page."""
    visit = int(database.meta(meta_names.VISIT) or 0)
    document = {"visit": visit}
    lists = {outcome: _changes(database.read(_CHANGES, (visit, outcome))) for outcome in OUTCOMES}
    folder.write(CHANGES, _object(document, lists))


def _changes(rows: sqlite3.Cursor) -> Iterator[dict[str, Any]]:
    for _, url, path, state, distance, similarity, reason, moved_to, is_cut in rows:
        found = {
            "url": url,
            "path": path if state == "own" else None,
            "distance": distance,
            "similarity": similarity,
            "reason": in_words(reason),
            "moved_to": moved_to,
            "is_part": True if is_cut else None,
        }
        yield {name: value for name, value in found.items() if value is not None}


def write_duplicates(database: Database, folder: MirrorFolder) -> None:
    """Write the URLs without a file of their own, and the files that replace them."""
    rows = (
        {
            "url": url,
            "stands_for_it": kept_url,
            "path": kept_path,
            "why": verdict,
            "distance": distance,
            "similarity": similarity,
        }
        for url, kept_url, kept_path, _, verdict, distance, similarity in database.read(_DUPLICATES)
    )
    folder.write(DUPLICATES, _object({}, {"duplicates": rows}))


def _object(
    values: Mapping[str, Any], lists: Mapping[str, Iterable[dict[str, Any]]]
) -> Iterator[bytes]:
    """Yield a JSON object with a row of each list on a line of its own."""
    yield b"{"
    comma = b"\n"
    for name, value in values.items():
        yield comma + b"  " + _json(name) + b": " + _json(value)
        comma = b",\n"
    for name, rows in lists.items():
        yield comma + b"  " + _json(name) + b": ["
        inner = b"\n    "
        for row in rows:
            yield inner + _json(row)
            inner = b",\n    "
        yield b"]"
        comma = b",\n"
    yield b"\n}\n"


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
