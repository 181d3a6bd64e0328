"""Fetch texts that a fleet kept but none of its crawls has, in one pass."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from crawler.pages.page_row import to_signed, to_unsigned

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from crawler.maintenance.verify.finding import CheckWatch
    from crawler.pages.page_row import PageRow
    from crawler.pages.shared_verdicts import FleetKeptText
    from crawler.storage.database import Database

SCRATCH = """
CREATE TABLE scratch.wanted (text_digest BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE scratch.kept (
    text_digest BLOB PRIMARY KEY, text BLOB, words INTEGER, is_main INTEGER, visible_digest BLOB,
    fingerprint INTEGER
) WITHOUT ROWID;
"""
_WANT = """
INSERT OR IGNORE INTO scratch.wanted
SELECT text_digest FROM scratch.named WHERE text_digest IS NOT NULL
UNION SELECT pages.text_digest FROM scratch.named JOIN pages ON pages.id = page
WHERE pages.text_digest IS NOT NULL
"""
_IS_WANTED = "SELECT 1 FROM scratch.wanted WHERE text_digest = ?"
_FIND = "SELECT text, words, is_main, visible_digest, fingerprint FROM scratch.kept"


class FleetText(NamedTuple):
    """A text of a fleet with its facts."""

    text: bytes
    words: int | None
    is_main: int | None
    visible_digest: bytes | None
    fingerprint: int | None


@dataclass(frozen=True, slots=True)
class FleetTexts:
    """Fetches the needed texts of a fleet into a table of the scratch file.

    Args:
        database: Database with the scratch file.
        kept: Function that yields all texts that the fleet keeps.
    """

    database: Database
    kept: Callable[[], AsyncIterator[FleetKeptText]]

    def fetch(self, watch: CheckWatch) -> None:
        """Fetch all needed texts. Complexity: O(texts of the fleet); memory of one."""
        self.database.write(_WANT)
        watch.begin("texts of the fleet", 0)
        asyncio.run(self._fetch(watch))

    async def _fetch(self, watch: CheckWatch) -> None:
        async for original, text in self.kept():
            watch.advance()
            wanted = self.database.read(_IS_WANTED, (original.text_digest,)).fetchone()
            if wanted is not None:
                row = (original.text_digest, text, original.words, original.is_main)
                more = (original.visible_digest, to_signed(original.fingerprint))
                sql = "INSERT OR IGNORE INTO scratch.kept VALUES (?, ?, ?, ?, ?, ?)"
                self.database.write(sql, (*row, *more))

    def find(self, digest: bytes | None) -> FleetText | None:
        """Return the text with a digest, or None."""
        row = self.database.read(f"{_FIND} WHERE text_digest = ?", (digest,)).fetchone()
        return None if row is None else FleetText(*row)

    def row(self, digest: bytes | None, like: PageRow) -> PageRow | None:
        """Return a copy of a row with the text of a digest, or None without that text."""
        found = self.find(digest)
        if found is None:
            return None
        return replace(
            like,
            text=found.text,
            text_digest=digest,
            words=found.words,
            is_main=found.is_main,
            visible_digest=found.visible_digest,
            fingerprint=to_unsigned(found.fingerprint),
        )
