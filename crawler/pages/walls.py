"""Recognise what answers at many URLs in place of pages: soft 404s and walls.

Several signs must come together, since a page that is taken for a wall is kept no more: the same
text with few words at URLs with different names, in which nothing leads on but the links of the
frame, and a wording or fields that say what it is, or the answer of the host to a URL that cannot
exist. Session ids, orders and print views never make a wall: there the last names are the same, or
the text has no such wording. Each text stays beside its page, so that nothing is lost.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from crawler.pages.page_row import PageRow
from crawler.pages.reasons import Reason
from crawler.pages.verdicts import OF_TEXTS, SOFT_404, WALL, WALLS
from crawler.pages.wall_clusters import MAX_NAMES, HostProbe, WallClusters, host_of, unknown_urls
from crawler.pages.wall_verdicts import Wall, WallVerdicts
from crawler.reading.content_types import WallKind
from crawler.reading.reading import WallSigns

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.pages.page_context import PageContext
    from crawler.pages.page_row import OriginalPage
    from crawler.pages.page_store import PageStore
    from crawler.pages.promotion import Promotion
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
