"""Find the stored text of a page: in its row, beside it, or with an equal page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.pages.judged_documents import unpack_judged

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable, Sequence

_OWN = "SELECT 1 FROM pages WHERE id = ? AND text IS NOT NULL"
_NEAR = "SELECT 1 FROM near_texts WHERE page = ?"
# Older versions count too: a duplicate may have had the text first. Pages with the same visible
# text may differ in their main text: the number of words must be equal.
_EQUAL = """
SELECT id FROM pages WHERE text_digest = ? AND words IS ? AND text IS NOT NULL ORDER BY id LIMIT 1
"""
_EQUAL_NEAR = """
SELECT near_texts.page FROM pages JOIN near_texts ON near_texts.page = pages.id
WHERE pages.text_digest = ? AND pages.words IS ? AND pages.duplicate_of IS NOT NULL
  AND pages.latest = 1 LIMIT 1
"""


class TextSource(NamedTuple):
    """The place of a text: the row of a page, or ``near_texts``."""

    page: int
    is_near: int


class HeldTexts:
    """Finds texts in a crawl's database, and reads them one at a time.

    Args:
        read: Function that runs a query.
    """

    def __init__(self, read: Callable[[str, Sequence[Any]], sqlite3.Cursor]) -> None:
        self._read = read

    def find(self, page_id: int, digest: bytes | None, words: int | None) -> TextSource | None:
        """Return the place of a page's text, or None if it is stored nowhere."""
        if self._first(_OWN, page_id) is not None:
            return TextSource(page_id, 0)
        if self._first(_NEAR, page_id) is not None:
            return TextSource(page_id, 1)
        for is_near, sql in enumerate((_EQUAL, _EQUAL_NEAR)):
            holder = None if digest is None else self._first(sql, digest, words)
            if holder is not None:
                return TextSource(holder, is_near)
        return None

    def packed(self, source: TextSource) -> bytes:
        """Return a text as it is stored, zstd."""
        sql = "SELECT text FROM near_texts WHERE page = ?"
        if not source.is_near:
            sql = "SELECT text FROM pages WHERE id = ?"
        text: bytes = self._read(sql, (source.page,)).fetchone()[0]
        return text

    def text(self, source: TextSource) -> str:
        """Return a text, decompressed."""
        return unpack_judged(self.packed(source))

    def _first(self, sql: str, *parameters: object) -> int | None:
        row = self._read(sql, parameters).fetchone()
        return None if row is None else int(row[0])
