"""Decide for pages that repeat another whether they have a file, or which one replaces it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from crawler.mirror.mirror_files import LINK, OWN, SKIP
from crawler.pages.verdicts import NEAR_DUPLICATE

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.mirror.folder import MirrorFolder
    from crawler.mirror.mirror_files import FileTable
    from crawler.storage.database import Database

KEEP = "keep"
HARDLINK, REWRITE = "hardlink", "rewrite"

NEAR_DUPLICATES = {
    KEEP: "each has a file of its own",
    LINK: "links to it lead to the page that it repeats",
    SKIP: "it is left out, links to it lead to the network",
}
"""Treatments of a page that repeats another one in other bytes, with their meanings."""

SHARES = {
    HARDLINK: "a file of each name, the same one on disk",
    REWRITE: "one file, links to the others lead to it",
}
"""Treatments of files with the same bytes, with their meanings."""

# CROSS keeps the order: by the index of all duplicates every batch would look at each of them.
_REPEATING = """
SELECT one.id, other.id, one.url, other.url, one.payload_digest = other.payload_digest,
       one.is_document, pages.verdict, pages.distance, pages.similarity
FROM files AS one
CROSS JOIN pages ON pages.key = one.key AND pages.latest = 1
CROSS JOIN pages AS kept ON kept.id = pages.duplicate_of AND kept.latest = 1
CROSS JOIN files AS other ON other.key = kept.key
WHERE one.id > ? AND one.id <> other.id AND one.is_seed = 0 AND other.state = 'own'
  AND one.is_cut = 0 AND other.is_cut = 0
ORDER BY one.id LIMIT 200
"""

# A page that was not requested since, or gave no answer, while the other one changed.
_REPEATS_NO_MORE = """
UPDATE files SET state = 'skip', stand_in = NULL
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
    is_document: int
    verdict: str
    distance: int | None
    similarity: float | None


class StandIns:
    """Decides for each page that repeats another whether it has a file.

    Args:
        database: The crawl's database.
        table: Table of the mirror's files.
        folder: Folder of the mirror.
        near_duplicates: Treatment of near-duplicates, a key of NEAR_DUPLICATES.
        share: Treatment of the same bytes, a key of SHARES.
        is_one: Predicate for two URLs of one page by the learned rules.
        lead_alike: Predicate for two files of the same bytes with the same link targets.
    """

    def __init__(  # noqa: PLR0913  # what a decision rests on
        self,
        database: Database,
        table: FileTable,
        folder: MirrorFolder,
        *,
        near_duplicates: str,
        share: str,
        is_one: Callable[[str, str], bool],
        lead_alike: Callable[[int, int], bool],
    ) -> None:
        self._database = database
        self._table = table
        self._folder = folder
        self._near_duplicates = near_duplicates
        self._share = share
        self._is_one = is_one
        self._lead_alike = lead_alike

    def settle(self) -> int:
        """Settle all repeated files; return how many URLs have no file of their own then.

        Rows are changed and committed first, files removed afterwards, also those that a killed
        process left behind.
        """
        self._database.write(_REPEATS_NO_MORE)
        last = 0
        while batch := self._database.read(_REPEATING, (last,)).fetchall():
            for repeating in map(RepeatedFile._make, batch):
                self._settle_one(repeating)
                last = repeating.id
        self._database.commit()
        count = 0
        for row in self._table.rows("state <> 'own'"):
            count += 1
            if self._folder.exists(row.path):
                self._folder.remove(row.path)
        return count

    def _settle_one(self, repeating: RepeatedFile) -> None:
        row, kept = self._table.get(repeating.id), self._table.get(repeating.kept)
        if row is None or kept is None or row.state != OWN or kept.state != OWN:
            return
        state = self._decided(repeating)
        if state == OWN:
            return
        row.state = state
        row.stand_in = repeating.kept if state == LINK else None
        row.size = 0
        self._table.put(row)

    def _decided(self, repeating: RepeatedFile) -> str:
        """Return the new state of a file that repeats another one."""
        if repeating.same_bytes and is_same_folder(repeating.url, repeating.kept_url):
            return LINK
        is_kept = repeating.verdict == NEAR_DUPLICATE and self._near_duplicates == KEEP
        if not is_kept and self._is_one(repeating.url, repeating.kept_url):
            return LINK
        if not repeating.same_bytes:
            return OWN if self._near_duplicates == KEEP else self._near_duplicates
        if self._share == HARDLINK:
            return OWN
        if repeating.is_document and not self._lead_alike(repeating.id, repeating.kept):
            return OWN
        return LINK


def is_same_folder(url: str, other: str) -> bool:
    """Return whether one URL is a folder and the other its index: ``/a/`` and ``/a/index.html``."""
    if len(url) > len(other):
        url, other = other, url
    rest = other.removeprefix(url)
    return url.endswith("/") and rest.partition(".")[0] == "index" and "/" not in rest
