"""Give the pages of recognised soft 404s and walls their verdict, some between every two captures.

Copies come before their original, so that at any moment, also after a kill, each copy has an
original or the verdict. What a page said before the wall came in its place is its newest text
again.
"""

from __future__ import annotations

import json
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from crawler.pages.stored_texts import HeldTexts, document_of
from crawler.pages.verdicts import (
    KEPT,
    PART_OF_NOTHING,
    RESEMBLE_NOTHING,
    SOFT_404,
    WALLS,
    listed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.pages.page_row import PageRow
    from crawler.pages.page_store import PageStore
    from crawler.pages.promotion import Promotion
    from crawler.pages.reasons import Stored
    from crawler.pages.wall_clusters import WallClusters
    from crawler.reading.content.content_xml import StoredText
    from neardup import Deduplicator

BATCH = 200
"""Give at least this many pages their verdict between two captures, while any wait for it."""

_MEMBERS = f"""
SELECT id FROM wall_pages JOIN pages ON pages.id = page
WHERE cluster = ? AND page > ? AND depth >= ? AND latest = 1
  AND pages.verdict NOT IN ({listed(WALLS)})
"""
_COPIES_FIRST = (
    f"{_MEMBERS} AND duplicate_of IS NOT NULL ORDER BY page LIMIT {BATCH}",
    f"{_MEMBERS} ORDER BY page LIMIT {BATCH}",
)
_HAS_SEED = """
SELECT 1 FROM wall_pages JOIN pages ON pages.id = page
WHERE cluster = ? AND latest = 1 AND depth = 0 LIMIT 1
"""
_AMONG = "IN (SELECT value FROM json_each(?))"
_REPEATING = f"SELECT id FROM pages WHERE latest = 1 AND duplicate_of {_AMONG} ORDER BY id"
_NAME_NONE = (
    f"{RESEMBLE_NOTHING} WHERE latest = 1 AND resembles {_AMONG}",
    f"{PART_OF_NOTHING} WHERE latest = 1 AND part_of {_AMONG}",
    "UPDATE url_groups SET words = NULL, kept = NULL, similarity = NULL, page = NULL, links = NULL"
    f" WHERE page {_AMONG}",
)
_RESTORE = "UPDATE pages SET latest = (id = ?2) WHERE id IN (?1, ?2)"


class Wall(NamedTuple):
    """The verdict on the pages of a cluster, and why."""

    verdict: str
    reason: Stored


@dataclass(slots=True)
class WallVerdicts:
    """Changes stored pages when a wall is recognised.

    Args:
        store: Page store with the captures.
        deduplicator: Deduplicator that forgets the texts of recognised pages.
        promotion: Finds another original for what only resembled such a page.
        clusters: The texts with their pages.
    """

    store: PageStore
    deduplicator: Deduplicator
    promotion: Promotion
    clusters: WallClusters
    _left: deque[Iterator[int]] | None = field(default=None, init=False)

    def may_give(self, cluster: int, wall: Wall) -> bool:
        """Return whether no seed has the text of a soft 404: the others would repeat that page.

        Complexity: O(pages of the cluster) once, then O(1).
        """
        if wall.verdict != SOFT_404:
            return True
        if self.clusters.has_seed(cluster):
            return False
        if self.store.database.read(_HAS_SEED, (cluster,)).fetchone() is None:
            return True
        self.clusters.note_seed(cluster)
        return False

    def give(self, cluster: int, wall: Wall) -> None:
        """Store the verdict on a cluster, and give it to the first of its pages."""
        waiting = self._waiting()
        self.clusters.set_verdict(cluster, *wall)
        waiting.append(self._given(cluster, wall))
        self.go_on()

    def go_on(self, pages: float = BATCH) -> None:
        """Give the verdict to further pages that wait, ``BATCH`` more than ``pages`` at most.

        Call it between two captures: the original of a page under way may be among them.
        """
        waiting, done = self._waiting(), 0
        while waiting and done < pages:
            count = next(waiting[0], None)
            if count is None:
                waiting.popleft()
            else:
                done += count

    def _waiting(self) -> deque[Iterator[int]]:
        """Return the clusters that are not through, those of a killed process first."""
        if self._left is None:
            self._left = deque(
                self._given(cluster, Wall(verdict, reason))
                for cluster, verdict, reason in self.clusters.ungiven()
            )
        return self._left

    def _given(self, cluster: int, wall: Wall) -> Iterator[int]:
        """Give a verdict to the pages of a cluster; yield the number of each batch."""
        if not self.may_give(cluster, wall):
            return
        min_depth = int(wall.verdict == SOFT_404)  # a seed that came meanwhile is none
        for sql in _COPIES_FIRST:
            last = -1
            while rows := self.store.database.read(sql, (cluster, last, min_depth)).fetchall():
                ids = [int(page_id) for (page_id,) in rows]
                self._give(wall, ids)
                last = ids[-1]
                yield len(ids)
        self.clusters.set_given(cluster)

    def _give(self, wall: Wall, ids: list[int]) -> None:
        packed = json.dumps(ids)
        members = list(self._rows(ids))
        found = self.store.database.read(_REPEATING, (packed,)).fetchall()
        repeating = list(self._rows(sorted({page_id for (page_id,) in found} - set(ids))))
        held = HeldTexts(self.store.database.read)
        texts = {row.id: held.of_page(row.id) for row in (*members, *repeating)}
        for row in members:
            self._take(row, wall, texts[row.id])
        self.store.database.settle("url_groups")
        for sql in _NAME_NONE:
            self.store.database.write(sql, (packed,))
        self.store.note_changes()
        for row in members:
            self._restore(row, wall)
        for row in repeating:
            self._judge_anew(row, wall, texts[row.id])
        self.store.note_changes()

    def _rows(self, ids: list[int]) -> Iterator[PageRow]:
        return filter(None, map(self.store.get, ids))

    def _take(self, row: PageRow, wall: Wall, text: StoredText | None) -> None:
        """Give a stored capture the verdict, and move its text beside it; its HTML stays."""
        if row.verdict in KEPT and row.fingerprint is not None:
            self.deduplicator.forget(row.id)
        taken = replace(row, text=None, content=None, duplicate_of=None, distance=None)
        taken.verdict, taken.reason = wall
        taken.similarity, taken.parameters, taken.better_copy = None, None, 0
        taken.resembles = taken.part_of = taken.containment = None
        self.store.store_verdict(taken)
        self._keep_beside(row.id, text)

    def _keep_beside(self, page_id: int, text: StoredText | None) -> None:
        if self.store.near_text(page_id) is None:
            self.store.keep_near_text(page_id, text)

    def _judge_anew(self, row: PageRow, wall: Wall, text: StoredText | None) -> None:
        """Find another original for a page that is no suspect itself, or keep it.

        Of a page whose text is stored nowhere only the text of its original is known: it is read
        at the next visit.
        """
        if text is not None:
            self._keep_beside(row.id, text)
            self.promotion.confirm(row)
            return
        self._take(replace(row, payload_digest=None, text_digest=None), wall, None)
        self.clusters.make_page_due(row.key)

    def _restore(self, row: PageRow, wall: Wall) -> None:
        """Make what a page said before the wall its newest capture again, if it is stored."""
        number = self.clusters.replaced_by(row.id)
        old = None if number is None else self.store.get(number)
        if old is None or not (old.text or (old.duplicate_of and self.store.holds_text_of(old))):
            return
        self.store.database.write(_RESTORE, (row.id, old.id))
        self.store.note_changes()
        self.clusters.note_behind(row.key, row.id, wall.reason)
        if old.duplicate_of is not None:
            if not self.store.is_held(old):
                self.promotion.supersede(old.duplicate_of)
        elif old.text_digest and self.store.find_text(old.text_digest, {old.id}) is not None:
            # A copy of it was kept with its text meanwhile.
            if old.fingerprint is not None:
                self.deduplicator.forget(old.id)
            self._keep_beside(old.id, old.stored_text)
            emptied = replace(old, text=None, content=None, html=None)
            self.store.store_verdict(emptied)
            self.promotion.confirm(replace(emptied))
        elif old.fingerprint is not None and self.store.is_of_earlier_process(row):
            # This process opened the index of signatures while the text was an old version's.
            self.deduplicator.forget(old.id)
            name = self.store.volatile.stable(old.url, old.name)
            self.deduplicator.add_document(old.id, document_of(old, name))
