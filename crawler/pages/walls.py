"""Recognise what answers at many URLs in place of pages: soft 404s and walls.

Several signs must come together, since a page that is taken for a wall is kept no more: the same
text with few words at URLs with different names, in which nothing leads on but the links of the
frame, and a wording or fields that say what it is, or the answer of the host to a URL that cannot
exist. Session ids, orders and print views never make a wall: there the last names are the same, or
the text has no such wording. Each text stays beside its page, so that nothing is lost.

Some pages get their verdict between every two captures. Copies come before their original, so that
at any moment, also after a kill, each copy has an original or the verdict. What a page said before
the wall came in its place is its newest text again.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from crawler.pages.page_row import PageRow
from crawler.pages.reasons import Reason
from crawler.pages.stored_texts import document_of, text_of_page
from crawler.pages.verdicts import KEPT, OF_TEXTS, SOFT_404, WALL, WALLS
from crawler.pages.wall_clusters import MAX_NAMES, HostProbe, WallClusters, host_of, unknown_urls
from crawler.reading.content_types import WallKind
from crawler.reading.reading import WallSigns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawler.pages.page_context import PageContext
    from crawler.pages.page_row import OriginalPage
    from crawler.pages.page_store import PageStore
    from crawler.pages.promotion import Promotion
    from crawler.pages.reasons import Stored
    from crawler.pages.wall_clusters import WallCluster
    from crawler.reading.content.content_xml import StoredText
    from neardup import Deduplicator

MIN_NAMES = 8
"""A text is a wall at no fewer last names of paths, in two folders and more."""

MIN_NAMES_OF_FOLDER = MAX_NAMES
"""The same, where all of them are in one folder."""

MIN_SUSPECTED_NAMES = 4
"""A host is probed at this many names with a wording; they are enough where the probe agrees.

A text without a wording needs ``MIN_NAMES`` for that.
"""

MAX_OWN_LINKS = 3
"""Links of a page beyond those of the first one with its text; a page with more leads on."""

BATCH = 200
"""Give at least this many pages their verdict between two captures, while any wait for it."""


class Suspect(NamedTuple):
    """A page whose text is that of a cluster.

    Attributes:
        cluster: The cluster, without the page.
        url: URL of the page.
        skeleton: Digest of its text without what repeats its URL.
        text: The text, with its content.
        is_seed: Whether the crawl began there.
        replaced: ``pages.id`` of the capture with the text that the page had before; None for none.
        replaced_text: The text beside that one.
    """

    cluster: WallCluster
    url: str
    skeleton: bytes
    text: StoredText | None
    is_seed: bool
    replaced: int | None
    replaced_text: StoredText | None


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
        return wall.verdict != SOFT_404 or not self.clusters.has_seed(cluster)

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
        for copies_only in (True, False):
            last = -1
            while ids := self.clusters.members(
                cluster, last, BATCH, min_depth=min_depth, copies_only=copies_only
            ):
                self._give(wall, ids)
                last = ids[-1]
                yield len(ids)
        self.clusters.set_given(cluster)

    def _give(self, wall: Wall, ids: list[int]) -> None:
        members = list(self._rows(ids))
        repeating = list(self._rows(sorted(self.clusters.duplicates_of(ids) - set(ids))))
        texts = {
            row.id: text_of_page(self.store.database.read, row.id) for row in (*members, *repeating)
        }
        for row in members:
            self._take(row, wall, texts[row.id])
        self.store.database.flush("url_groups")
        self.clusters.name_nowhere(ids)
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
        self.clusters.restore(old.id, row.id)
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


@dataclass(slots=True)
class Walls:
    """Recognises walls and soft 404s of one crawl, and gives their pages the verdict.

    All that is known of them is committed with the pages.

    Args:
        store: Page store with the captures.
        deduplicator: Deduplicator that forgets the texts of recognised pages.
        promotion: Finds another original for what only resembled such a page.
        is_on: Whether any page is a suspect at all.

    Attributes:
        verdicts: Gives the pages of recognised texts their verdict.
    """

    store: PageStore
    deduplicator: Deduplicator
    promotion: Promotion
    is_on: bool = True
    _clusters: WallClusters = field(init=False)
    verdicts: WallVerdicts = field(init=False)
    _unprobed: set[int] = field(default_factory=set, init=False)
    _asked: set[int] = field(default_factory=set, init=False)
    _opened: set[int] = field(default_factory=set, init=False)

    def __post_init__(self) -> None:
        self._clusters = WallClusters(self.store.database)
        self.verdicts = WallVerdicts(self.store, self.deduplicator, self.promotion, self._clusters)

    def begin_visit(self) -> None:
        """Forget what was replaced, and ask each host again what it says of unknown URLs."""
        self._clusters.begin_visit()
        self._asked.clear()
        few, many = MIN_SUSPECTED_NAMES, MIN_NAMES
        self._unprobed = self._clusters.suspected_hosts(few, many) if self.is_on else set()

    def suspect(self, page: PageContext, original: PageRow | OriginalPage | None) -> Suspect | None:
        """Return a page as a suspect, None for one that has a text of its own.

        Args:
            page: The page, read.
            original: The kept page with the same bytes, whose text was not read again.
        """
        reading, url = page.reading, page.fetched.url
        if not self.is_on or not page.is_whole:
            return None
        if page.asks_not_to_be_kept or not reading.is_page:
            return None
        kept = original if isinstance(original, PageRow) else None
        signs = reading.signs
        if signs is None and kept is not None:
            found = self._clusters.signs_of(kept.id)
            signs = None if found is None else WallSigns(*found)
        if signs is None or signs.kind == WallKind.SHELL:
            return None
        cluster = self._clusters.find(host_of(url), signs.skeleton)
        if cluster is None:
            cluster = self._clusters.begin(url, signs, reading.links)
        if cluster.is_page or cluster.kind != signs.kind:
            return None
        if cluster.count_own(reading.links, url) > MAX_OWN_LINKS:
            return None
        # Taken now: its original may lose it to the verdict.
        text = reading.stored_text or (None if kept is None else kept.stored_text)
        replaced = self._replaced(page.previous)
        beside = None if replaced is None or not cluster.kind else self.store.near_text(replaced)
        is_seed = page.fetched.depth == 0
        return Suspect(cluster, url, signs.skeleton, text, is_seed, replaced, beside)

    def _replaced(self, previous: PageRow | None) -> int | None:
        """Return the capture whose place a suspect takes, the last one that is none itself."""
        if previous is None or previous.verdict in WALLS or not previous.words:
            return None
        return self._clusters.replaced_by(previous.id) or previous.id

    def judge(self, suspect: Suspect | None) -> Wall | None:
        """Return the verdict on a suspect; None where a page is to be judged by its text.

        The page that completes the signs gives its verdict to all earlier ones of its cluster.

        Args:
            suspect: The page, not stored yet.
        """
        if suspect is None:
            return None
        cluster = suspect.cluster
        if cluster.verdict is not None and cluster.reason is not None:
            is_spared = cluster.verdict == SOFT_404 and suspect.is_seed
            return None if is_spared else Wall(cluster.verdict, cluster.reason)
        cluster = self._clusters.count(cluster, suspect.url)
        wall = self._recognised(cluster, suspect)
        if wall is None or not self.verdicts.may_give(cluster.id, wall):
            return None
        self.verdicts.give(cluster.id, wall)
        return wall

    def _recognised(self, cluster: WallCluster, suspect: Suspect) -> Wall | None:
        if not _is_suspected(cluster):
            return None
        host = host_of(suspect.url)
        probe, wall = self._clusters.probe(host), None
        if probe is None or probe.skeleton is None:
            self._unprobed.add(host)
        elif probe.skeleton == suspect.skeleton:
            wall = _wall(cluster.kind, is_probed=True)
        enough = MIN_NAMES if cluster.has_folders else MIN_NAMES_OF_FOLDER
        if wall is None and cluster.kind and cluster.name_count >= enough:
            wall = _wall(cluster.kind)
        return None if wall is None or (wall.verdict == SOFT_404 and suspect.is_seed) else wall

    def note(self, row: PageRow, suspect: Suspect | None, previous: PageRow | None) -> None:
        """Store that a capture belongs to a cluster, and the text of a recognised one beside it.

        Where a page came at a URL of a wall, all its URLs are fetched at the next visit.

        Args:
            row: The page, stored.
            suspect: The page as a suspect.
            previous: What the URL gave before.
        """
        self._note_opened(row, previous)
        if suspect is None:
            return
        if row.verdict in WALLS:
            self._clusters.put_page(row.id, suspect.cluster.id)
            self.store.keep_near_text(row.id, suspect.text)
            self._clusters.forget_walls(row.key, row.id)
        elif row.latest:
            self._clusters.put_page(row.id, suspect.cluster.id, suspect.replaced)
            if suspect.replaced is not None and self.store.near_text(suspect.replaced) is None:
                self.store.keep_near_text(suspect.replaced, suspect.replaced_text)

    def _note_opened(self, row: PageRow, previous: PageRow | None) -> None:
        if previous is None or previous.verdict not in WALLS or row.verdict not in OF_TEXTS:
            return
        cluster = self._clusters.cluster_of(previous.id)
        if cluster is not None and cluster not in self._opened:
            self._opened.add(cluster)
            self._clusters.make_due(cluster)

    def wanted_probe(self, url: str, may_ask: Callable[[str], bool]) -> str | None:
        """Return the URL by which the host of a page is to be probed, None for no reason to.

        A process that was killed may have taken its request with it: each process asks once, by the
        same URL, and a request that is stored is not made twice.

        Args:
            url: URL of a page that was just captured.
            may_ask: Tells whether a URL is within the scope.
        """
        host = host_of(url)
        if host not in self._unprobed:
            return None
        self._unprobed.remove(host)
        probe = self._clusters.probe(host)
        wanted = (*unknown_urls(url),) if probe is None else (probe.url,)
        chosen = next(filter(may_ask, wanted), None)
        if chosen is not None and host not in self._asked:
            self._asked.add(host)
            self._clusters.put_probe(HostProbe(chosen))
            return chosen
        return None

    def note_probe(self, url: str, signs: WallSigns | None) -> None:
        """Store what a host answered to a URL that cannot exist, and judge what says the same.

        Args:
            url: The URL.
            signs: Signs of the answer; None where no page came, or one with many words.
        """
        self._clusters.put_probe(HostProbe(url, b"" if signs is None else signs.skeleton))
        cluster = None if signs is None else self._clusters.find(host_of(url), signs.skeleton)
        if cluster is None or cluster.verdict is not None:
            return
        wall = _wall(cluster.kind, is_probed=True)
        if _is_suspected(cluster) and self.verdicts.may_give(cluster.id, wall):
            self.verdicts.give(cluster.id, wall)


def _is_suspected(cluster: WallCluster) -> bool:
    return cluster.name_count >= (MIN_SUSPECTED_NAMES if cluster.kind else MIN_NAMES)


def _wall(kind: str, *, is_probed: bool = False) -> Wall:
    """Return the verdict on a text of a kind."""
    if kind and kind != WallKind.NOT_FOUND:
        return Wall(WALL, Reason.WALL.stored(kind))
    reason = Reason.AS_UNKNOWN if is_probed else Reason.NO_SUCH_PAGE
    return Wall(SOFT_404, reason.stored())
