"""Store the originals that other crawl directories have: the table ``elsewhere``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.pages.verdicts import DUPLICATES, NOT_HTML

if TYPE_CHECKING:
    from crawler.pages.page_row import PageRow
    from crawler.pages.page_store import PageStore
    from crawler.pages.shared_verdicts import OriginalPage
    from crawler.storage.database import Database


class Elsewhere:
    """Remembers the original of each duplicate that another crawl of the fleet keeps."""

    def __init__(self, database: Database, store: PageStore) -> None:
        self._database = database
        self._store = store

    def name(self, row: PageRow, original: OriginalPage) -> None:
        """Store the original of a duplicate: by its id if it is here, else in the table."""
        here = self._store.previous(original.key)
        if here is not None and _holds(here, original, row):
            row.duplicate_of = here.id
            return
        self._database.write(
            "INSERT INTO elsewhere VALUES (?, ?, ?, ?)",
            (row.id, original.key, original.url, original.text_digest),
        )

    def take_home(self, row: PageRow) -> None:
        """Set the id of a kept page in the rows of duplicates that were stored before it.

        If two equal pages are asked about at the same time, the answer on the second may come
        first.
        """
        is_file = row.verdict == NOT_HTML
        found = self._database.read(
            "SELECT page FROM elsewhere JOIN pages ON pages.id = page"
            " WHERE elsewhere.key = ?1 AND elsewhere.text_digest IS ?2"
            " AND (NOT ?3 OR pages.payload_digest = ?4)",
            (row.key, row.text_digest, is_file, row.payload_digest),
        ).fetchall()
        for (page,) in found:
            self._store.duplicates.set_original(page, row.id)
            self._database.write("DELETE FROM elsewhere WHERE page = ?", (page,))

    def kept_url(self, row: PageRow) -> str | None:
        """Return the URL of a duplicate's original, here or elsewhere, or None."""
        if row.duplicate_of is not None:
            kept = self._store.get(row.duplicate_of)
            return None if kept is None else kept.url
        if row.verdict not in DUPLICATES:
            return None
        sql = "SELECT url FROM elsewhere WHERE page = ?"
        found = self._database.read(sql, (row.id,)).fetchone()
        return None if found is None else str(found[0])


def _holds(here: PageRow, original: OriginalPage, row: PageRow) -> bool:
    if original.text_digest is None:
        return here.verdict == NOT_HTML and here.payload_digest == row.payload_digest
    return here.text is not None and here.text_digest == original.text_digest
