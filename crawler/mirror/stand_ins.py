"""Decide for pages that repeat another whether they have a file, or which one replaces it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.mirror.mirror_files import LINK, OWN
from crawler.pages.verdicts import NEAR_DUPLICATE

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.mirror.folder import MirrorFolder
    from crawler.mirror.mirror_files import FileTable
    from crawler.storage.database import Database

# CROSS keeps the order: by the index of all duplicates every batch would look at each of them.
_REPEATING = """
SELECT one.id, other.id, one.url, other.url, one.payload_digest = other.payload_digest,
       pages.verdict
FROM files AS one
CROSS JOIN pages ON pages.key = one.key AND pages.latest = 1
CROSS JOIN pages AS kept ON kept.id = pages.duplicate_of AND kept.latest = 1
CROSS JOIN files AS other ON other.key = kept.key
WHERE one.id > ? AND one.id <> other.id AND one.is_seed = 0 AND one.state = 'own'
  AND other.state = 'own' AND one.is_cut = 0 AND other.is_cut = 0
ORDER BY one.id LIMIT 200
"""

# A page that was not requested since, or gave no answer, while the other one changed.
_REPEATS_NO_MORE = """
UPDATE files SET stand_in = NULL
WHERE state = 'link' AND NOT EXISTS (
  SELECT 1 FROM pages
  JOIN pages AS kept ON kept.id = pages.duplicate_of AND kept.latest = 1
  JOIN files AS other ON other.key = kept.key
  WHERE pages.key = files.key AND pages.latest = 1 AND other.id = files.stand_in)
"""


class RepeatedFile(NamedTuple):
    """A file, and the one that it repeats.

    Attributes:
        id: Id of the file that repeats.
        kept: Id of the file that it repeats.
        same_bytes: Whether both were served with the same bytes.
    """

    id: int
    kept: int
    url: str
    kept_url: str
    same_bytes: int
    verdict: str


class StandIns:
    """Leaves one file to URLs of one page: by a learned rule, or a folder and its index.

    Any other page keeps its file, whatever it repeats.

    Args:
        database: The crawl's database.
        table: Table of the mirror's files.
        folder: Folder of the mirror.
        is_one: Predicate for two URLs of one page by the learned rules.
    """

    def __init__(
        self,
        database: Database,
        table: FileTable,
        folder: MirrorFolder,
        is_one: Callable[[str, str], bool],
    ) -> None:
        self._database = database
        self._table = table
        self._folder = folder
        self._is_one = is_one

    def settle(self) -> int:
        """Settle all repeated files; return how many URLs have no file of their own then.

        Rows are changed and committed first, files removed afterwards, also those that a killed
        process left behind.
        """
        self._database.write(_REPEATS_NO_MORE)
        last = 0
        while batch := self._database.read(_REPEATING, (last,)).fetchall():
            for repeating in map(RepeatedFile._make, batch):
                if self._is_replaced(repeating):
                    self._replace(repeating)
                last = repeating.id
        self._database.commit()
        count = 0
        for row in self._table.rows("state <> 'own'"):
            count += 1
            if self._folder.exists(row.path):
                self._folder.remove(row.path)
        return count

    def _is_replaced(self, repeating: RepeatedFile) -> bool:
        if repeating.same_bytes and is_same_folder(repeating.url, repeating.kept_url):
            return True
        is_near = repeating.verdict == NEAR_DUPLICATE
        return not is_near and self._is_one(repeating.url, repeating.kept_url)

    def _replace(self, repeating: RepeatedFile) -> None:
        row, kept = self._table.get(repeating.id), self._table.get(repeating.kept)
        # An earlier one of the batch may have taken the file that this one repeats.
        if row is None or kept is None or kept.state != OWN:
            return
        row.state, row.stand_in, row.size = LINK, repeating.kept, 0
        self._table.put(row)


def is_same_folder(url: str, other: str) -> bool:
    """Return whether one URL is a folder and the other its index: ``/a/`` and ``/a/index.html``."""
    if len(url) > len(other):
        url, other = other, url
    rest = other.removeprefix(url)
    return url.endswith("/") and rest.partition(".")[0] == "index" and "/" not in rest
