"""Move the duplicates of captures that are no longer the newest of their page."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.pages.page_row import PageRow
    from crawler.pages.page_store import LastCaptures
    from crawler.storage.database import Database
    from neardup import Verdict


class TextGroup(NamedTuple):
    """Duplicates of one capture with the same text; ``first`` has its text beside it if any has."""

    digest: bytes | None
    first: int


class DuplicateRows:
    """Reads and writes the originals of duplicates, in ``pages`` and ``superseded``.

    Args:
        database: The crawl's database.
        captures: The latest captures that are held, to be told of changes.
    """

    def __init__(self, database: Database, captures: LastCaptures) -> None:
        self._database = database
        self._captures = captures

    def supersede(self, page_id: int) -> bool:
        """Record a capture that is no longer its page's newest, if it has duplicates."""
        noted = self._database.write(
            "INSERT OR IGNORE INTO superseded SELECT ?1 WHERE EXISTS"
            " (SELECT 1 FROM pages WHERE duplicate_of = ?1 AND latest = 1)",
            (page_id,),
        )
        return noted.rowcount > 0

    def superseded(self) -> list[int]:
        """Return the ids of the captures that ``supersede`` recorded."""
        rows = self._database.read("SELECT page FROM superseded ORDER BY page")
        return [int(page_id) for (page_id,) in rows]

    def forget_superseded(self, page_id: int) -> None:
        """Remove a capture from those that ``supersede`` recorded."""
        self._database.write("DELETE FROM superseded WHERE page = ?", (page_id,))

    def texts_of_duplicates(self, page_id: int) -> list[TextGroup]:
        """Group the newest captures that are duplicates of a capture by their texts."""
        rows = self._database.read(
            "SELECT text_digest, coalesce(min(near_texts.page), min(pages.id)) FROM pages"
            " LEFT JOIN near_texts ON near_texts.page = pages.id"
            " WHERE duplicate_of = ? AND latest = 1 GROUP BY text_digest",
            (page_id,),
        )
        return [TextGroup(*row) for row in rows]

    def name_original(self, row: PageRow) -> None:
        """Store the new original of a duplicate, with the distance and similarity."""
        self._database.write(
            "UPDATE pages SET duplicate_of = ?, verdict = ?, distance = ?, similarity = ?,"
            " parameters = ? WHERE id = ?",
            (row.duplicate_of, row.verdict, row.distance, row.similarity, row.parameters, row.id),
        )
        self._captures.note_change(row.key)

    def move_duplicates(
        self, old_id: int, new_id: int, digest: bytes, verdict: Verdict, parameters: int
    ) -> None:
        """Set another original for all duplicates of a capture that have a given text."""
        self._database.write(
            "UPDATE pages SET duplicate_of = ?1, verdict = CASE WHEN verdict = 'exact_duplicate'"
            " AND ?2 = 'text_duplicate' THEN verdict ELSE ?2 END, distance = ?3, similarity = ?4,"
            " parameters = ?5 WHERE duplicate_of = ?6 AND latest = 1 AND text_digest = ?7",
            (
                new_id,
                verdict.kind,
                verdict.distance,
                verdict.similarity,
                parameters,
                old_id,
                digest,
            ),
        )
        self._captures.note_changes()

    def move_unknown(self, old_id: int, new_id: int, *, read_anew: bool) -> None:
        """Set another original for all remaining duplicates of a capture.

        With ``read_anew`` their digests are cleared, so that each is read at its next visit.
        """
        forget = ", payload_digest = NULL, text_digest = NULL" if read_anew else ""
        self._database.write(
            f"UPDATE pages SET duplicate_of = ?{forget} WHERE duplicate_of = ? AND latest = 1",
            (new_id, old_id),
        )
        self._captures.note_changes()

    def note_moved(self, moved: Sequence[tuple[int, int]]) -> None:
        """Update the ids of captures in the groups of the learned URL rules: (old, new).

        Complexity: O(groups), once for all of them.
        """
        self._database.write(
            "UPDATE url_groups SET page = moved.new"
            " FROM (SELECT value ->> 0 AS old, value ->> 1 AS new FROM json_each(?)) AS moved"
            " WHERE url_groups.page = moved.old",
            (json.dumps(moved),),
        )

    def set_original(self, page_id: int, original_id: int) -> None:
        """Store the original of a duplicate that was stored before it."""
        sql = "UPDATE pages SET duplicate_of = ? WHERE id = ?"
        self._database.write(sql, (original_id, page_id))
        self._captures.note_changes()
