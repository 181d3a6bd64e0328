"""Which file does a link lead to? Its own, or what stands for it; none leads to the network."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from crawler.mirror.mirror_files import LINK, OWN
from crawler.urls.errors import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.mirror.mirror_files import FileRow, FileTable
    from crawler.storage.database import Database

_RECENT = 50_000
_LONGEST_CHAIN = 20

_REDIRECTS_NOW = "SELECT target FROM redirects WHERE key = ?"
_REDIRECTED_ONCE = "SELECT target FROM file_redirects WHERE key = ?"
# Of a URL that a learned rule skipped, the one that stands for it.
_SKIPPED = (
    "SELECT folds.key FROM requests JOIN folds USING (fold)"
    " WHERE requests.key = ? AND requests.state = 4"
)


class Target(NamedTuple):
    """A file of the mirror."""

    id: int
    path: str


class Targets:
    """Resolves URLs to files; valid as long as no row of ``files`` changes.

    Args:
        database: The crawl's database.
        table: The mirror's files.
        key: Gives the key of a URL; raises MalformedUrl.
    """

    def __init__(self, database: Database, table: FileTable, key: Callable[[str], bytes]) -> None:
        self._database = database
        self._table = table
        self._key = key
        self.find = lru_cache(_RECENT)(self._find)

    def _find(self, url: str) -> Target | None:
        """The file to which a link with this URL leads. Complexity: O(redirects)."""
        try:
            key = self._key(url)
        except MalformedUrl:
            return None
        return self._of_key(key, set())

    def _of_key(self, key: bytes, passed: set[bytes]) -> Target | None:
        """The file to which a key leads: where it redirects now, its own, where it once led.

        Each key is looked at once: redirects of today and of once may go round in circles.
        """
        if key in passed or len(passed) >= _LONGEST_CHAIN:
            return None
        passed.add(key)
        now = self._one(_REDIRECTS_NOW, key)
        found = None if now is None else self._of_key(now, passed)
        if found is not None:
            return found
        row = self._table.of_key(key)
        if row is not None:
            return self._standing(row)
        further = self._one(_REDIRECTED_ONCE, key) or self._one(_SKIPPED, key)
        return None if further is None else self._of_key(further, passed)

    def _standing(self, row: FileRow) -> Target | None:
        for _ in range(_LONGEST_CHAIN):
            if row.state == OWN:
                return Target(row.id, row.path)
            other = None if row.stand_in is None else self._table.get(row.stand_in)
            if row.state != LINK or other is None:
                return None
            row = other
        return None

    def _one(self, sql: str, key: bytes) -> bytes | None:
        row = self._database.read(sql, (key,)).fetchone()
        return None if row is None else bytes(row[0])
