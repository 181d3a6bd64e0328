"""Find the traps of a crawl: clusters of URLs to request last, or not at all any more."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import xxhash

from crawler.pages.verdicts import (
    DUPLICATES,
    EXACT_DUPLICATE,
    KEPT,
    SAME_TEMPLATE,
    WALL,
    WALLS,
    listed,
)
from crawler.reading.content_types import WallKind
from crawler.url_rules.kinds import (
    CLOSED,
    MAX_HELD,
    NEW_TEXT,
    OPEN,
    SLOW,
    WINDOW,
    ClusterNames,
    Kind,
    Kinds,
    upper_bound,
)
from neardup.names import NO_NAME, unpacked

if TYPE_CHECKING:
    from crawler.storage.database import Database
    from crawler.url_rules.learning.address import Address

LEVELS = (0.5, 0.25, 0.12)
"""A kind is one level later for each of these shares of new pages that it hardly reaches."""

FLOOR_OF = 20
"""One URL in this many is requested in the first level, whatever its kind: kinds may change."""

LEVEL_PRIORITIES = (0, -2, -4, -6)
"""The priorities of the first level and of the others."""

_FEW = 2
"""A cluster is slow if at most this many of its last 40 pages were new."""

_MANY = 8
"""A slow cluster is open again if more than this many of its last 40 pages are new."""

NOTED = KEPT | DUPLICATES | WALLS
"""Verdicts that tell whether there was anything new."""

PAGES_A_LINK = 2
"""A cluster is endless if at most this many barren pages lead to one new URL of it.

Otherwise its URLs come to an end by themselves, and one of them may be a page yet.
"""

PAGES_A_DEEPER_LINK = 20
"""A cluster with barren pages that were kept is endless if at most this many of them lead to one
deeper URL. A calendar has 13 months at each depth where its pages lead to the next month and year.
"""

MIN_WALLS = 231
"""A cluster is closed after this many walls in a row, until one of its URLs gives a page.

Where one URL in fifty does, that many find one in 99 of 100 cases (``validation.trials_of_all``).
So is one with as many copies of one text that has the wording or the fields of a wall: there the
last names of all paths may be the same, as of ``/reply?id=7``.
"""

_WALLED = f"its last {MIN_WALLS} pages were a wall"
_KIND_OF_WALL = f"""
SELECT 1 FROM wall_pages JOIN wall_clusters ON wall_clusters.id = cluster
WHERE page = ? AND kind IN ({listed({WallKind.LOGIN, WallKind.CONSENT, WallKind.CAPTCHA})})
"""  # noqa: S608

SLOW_PRIORITY = -100
"""A priority below every other one that a crawl gives by itself."""

_NUMBER = re.compile(r"-?\d+")

_ENDING = f"""
question = '{NEW_TEXT.name}' AND state = '{CLOSED}' AND (barren < {NEW_TEXT.enough}
    OR met * iif(unclear, {PAGES_A_DEEPER_LINK}, {PAGES_A_LINK}) < barren)
"""
_REOPEN = f"UPDATE url_kinds SET state = '{OPEN}', reason = NULL WHERE {_ENDING}"  # noqa: S608
_REOPENED = f"{_REOPEN} AND (?1 = 0 OR tried < ?1) AND reason IS NOT '{_WALLED}' RETURNING id"
_CLEAR = f"UPDATE url_kinds SET tried = 0, gained = 0 WHERE question = '{NEW_TEXT.name}'"  # noqa: S608
_NOT_OPEN = f"SELECT name FROM url_kinds WHERE state != '{OPEN}'"  # noqa: S608
_BEHIND_WALL = NEW_TEXT._replace(is_endless=False)
"""The question where one wall stands before all URLs: one that it lets through opens the kind."""


@dataclass(slots=True)
class UrlCluster(Kind):
    """URLs of one kind: the same kinds of host, path and names of arguments.

    A gain is a page whose text was new.

    Attributes:
        met: Its URLs that were found since the last new page, while it was not open. Where a barren
            page was kept (``unclear``), only those that its own pages lead to, and deeper than all
            before: a calendar leads from month to month without an end. The parts of a catalogue
            are listed by other pages, and those that name each other are few links apart.
        unclear: Barren pages that were kept since the last new one: their names count on.
        shape: Hashes of the name of the last page, without its numbers and whole; not stored.
        walls: Walls since the last page, or copies of one text; not stored.
        original: Page that has this text; not stored.
    """

    shape: tuple[int, int] | None = None
    walls: int = 0
    original: int | None = None

    def note(
        self,
        *,
        is_new: bool,
        is_counted: bool = False,
        is_first: bool = True,
        budget: int = 0,
    ) -> bool:
        """Take a page into account; return whether the state changed.

        Args:
            is_new: Whether its text was new.
            is_counted: Whether it is kept although it is not new, as its name counts on.
            is_first: Whether it was not taken into account before.
            budget: Pages that may be fetched of each cluster, 0 for any number.
        """
        self.count(is_gain=is_new, is_first=is_first)
        self.unclear += is_counted
        if is_new:
            self.met = self.unclear = self.deepest = 0
        before = self.state
        self.state, self.reason = self._judged(budget)
        return self.state != before

    def _judged(self, budget: int) -> tuple[str, str | None]:
        if budget and self.tried >= budget:
            return CLOSED, f"its budget of {budget:,} pages is spent"
        if self.walls >= MIN_WALLS or (self.walls and self.is_walled):
            return CLOSED, _WALLED
        return self._closed() or self._slow()

    def _closed(self) -> tuple[str, str | None] | None:
        if self.state == CLOSED and self.barren and not self.is_walled:
            return CLOSED, self.reason
        pages_a_link = PAGES_A_DEEPER_LINK if self.unclear else PAGES_A_LINK
        if self.barren < NEW_TEXT.enough or self.met * pages_a_link < self.barren:
            return None
        if self.unclear:
            return (
                CLOSED,
                f"its last {NEW_TEXT.enough} pages differ in numbers alone, and each leads on",
            )
        return CLOSED, f"none of its last {NEW_TEXT.enough} pages was new"

    def _slow(self) -> tuple[str, str | None]:
        few = _FEW if self.state == OPEN else _MANY
        if self.lately_tried == WINDOW and self.lately_gained <= few:
            return SLOW, f"of its last {WINDOW} pages {few} or fewer were new"
        return OPEN, None

    @property
    def is_walled(self) -> bool:
        """Whether it is closed for its walls."""
        return self.state == CLOSED and self.reason == _WALLED

    @property
    def level(self) -> int:
        """The number of ``LEVELS`` that its share of new pages does not reach at best.

        A bandit with upper confidence bounds: a kind begins in the first level, and falls as far as
        its best estimate allows.

        Source: Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit
        problem", 2002.
        """
        gained, tried = self.lately_gained, self.lately_tried
        share = 1.0 if 2 * gained >= tried else upper_bound(gained, tried)
        return sum(share < one for one in LEVELS)

    def note_met(self, depth: int) -> None:
        """Count a URL that is found for the first time, at a number of links from a seed."""
        if not self.unclear or depth > self.deepest:
            self.met += 1
        self.deepest = max(self.deepest, depth)


class UrlTraps:
    """The clusters of URLs of a crawl: which come late, and which are closed as traps.

    What comes late is told by finer kinds: clusters with the words that arguments have as values.

    Args:
        budget: Pages that may be fetched of each cluster in a visit, 0 for any number.
        is_breadth_first: Whether only slow clusters come late.

    Attributes:
        reopened: Clusters that a smaller budget had closed; their requests are to be put back.
        better: Hosts of kinds that are to come earlier than their requests were queued.
    """

    def __init__(self, database: Database, budget: int, *, is_breadth_first: bool = False) -> None:
        self._database = database
        self._budget = budget
        self._is_breadth_first = is_breadth_first
        self._names = ClusterNames()
        self._hosts: set[str] = set()
        self.better: set[str] = set()
        reopened = database.write(_REOPENED, (budget,)).fetchall()
        self.reopened = [number for (number,) in reopened]
        self._kinds = Kinds(database, NEW_TEXT, UrlCluster)
        for kind in self._kinds:
            self._note_host(kind)
        for (name,) in database.read(_NOT_OPEN).fetchall():
            self._names.remember(name)
            self._hosts.add(name.partition("/")[0])

    def __contains__(self, host: object) -> bool:
        """Return whether a host has any cluster that comes late or is closed."""
        return bool(self._hosts) and isinstance(host, str) and self._names.host(host) in self._hosts

    def _note_host(self, kind: UrlCluster) -> None:
        if kind.state != OPEN or (kind.level and len(self._hosts) < MAX_HELD):
            self._hosts.add(kind.name.partition("/")[0])

    def cluster(self, address: Address) -> UrlCluster:
        """Return the cluster of an address, after the learned rules."""
        return self._kinds[self._names(address)]

    def note(
        self,
        address: Address,
        verdict: str,
        name: str = "",
        *,
        original: int | None = None,
        is_first: bool = True,
    ) -> str | None:
        """Take a page into account; return the former state of its cluster if it changed.

        Only a page that is fetched for the first time in a visit shows whether there is anything
        new: neither one that is unchanged since the last visit does, nor one that failed. Soft 404s
        and walls are not new, and may lead on without end, as a calendar's do. A page of
        nearly the words of another is not new if its name counts on from that of the last page:
        the months of a calendar have no end. Such pages end their kind only where they form a
        chain (``UrlCluster.met``).

        Args:
            address: The address after the learned rules.
            verdict: The verdict on the page.
            name: Name of the page, packed.
            original: The page with its text; None for its own.
            is_first: Whether the page was not noted before, with another verdict.
        """
        if verdict not in NOTED:
            return None
        cluster = self.cluster(address)
        finer = self._finer(address, cluster)
        before, level = cluster.state, self._level(finer)
        shape = _shape(name)
        counts_on = verdict == SAME_TEMPLATE and is_first and _counts_on(cluster.shape, shape)
        cluster.shape = shape
        is_new = verdict in KEPT and not counts_on
        cluster.walls = self._count_walls(cluster, verdict, original)
        changed = cluster.note(
            is_new=is_new,
            is_counted=counts_on,
            is_first=is_first,
            budget=self._budget,
        )
        if finer is not cluster and is_first:
            finer.count(is_gain=is_new)
        if self._level(finer) < level or (changed and cluster.state == OPEN):
            self.better.add(address.hostname)
        for kind in {cluster.name: cluster, finer.name: finer}.values():
            self._kinds.note_change(kind)
            self._note_host(kind)
        return before if changed else None

    def _count_walls(self, cluster: UrlCluster, verdict: str, original: int | None) -> int:
        if verdict == WALL:
            return cluster.walls + 1
        if verdict != EXACT_DUPLICATE or original is None:
            return 0
        walls = cluster.walls + 1 if cluster.original == original else 1
        cluster.original = original
        is_asked = walls % MIN_WALLS == 0 or (walls == 1 and cluster.is_walled)
        is_wall = not is_asked or self._database.value(_KIND_OF_WALL, (original,)) is not None
        return walls if is_wall else 0

    def note_led(self, address: Address, verdict: str, original: int | None) -> str | None:
        """Take a redirect into account as ``note`` does a page, where it leads to walls, or did."""
        cluster = self.cluster(address)
        is_wall = verdict in {WALL, EXACT_DUPLICATE}
        if not is_wall and not (cluster.walls or cluster.is_walled):
            return None
        return self.note(address, verdict, original=original, is_first=False)

    def note_met(self, address: Address, depth: int = 0, source: Address | None = None) -> None:
        """Count a URL that is found for the first time, and that no rule skips.

        Args:
            address: The address after the learned rules, as in ``priority``.
            depth: The number of links that lead to it from a seed.
            source: The address of the page that links to it; None where that is not known.
        """
        cluster = self.cluster(address)
        if cluster.state == OPEN:
            return
        if source is None or not cluster.unclear or self._names(source) == cluster.name:
            cluster.note_met(depth)
            self._kinds.note_change(cluster)

    def closed(self, address: Address) -> int | None:
        """Return the number of the closed cluster for which an address is not fetched, or None."""
        if address.host not in self:
            return None
        cluster, number = self.cluster(address), int.from_bytes(address.digest[4:8])
        if cluster.state != CLOSED:
            return None
        is_spent = 0 < self._budget <= cluster.tried
        question = _BEHIND_WALL if cluster.is_walled else NEW_TEXT
        is_tried = not is_spent and cluster.is_sampled(question, number)
        return None if is_tried else cluster.id

    def is_slow(self, address: Address) -> bool:
        """Return whether an address comes after all others, if at all."""
        return self.cluster(address).state != OPEN

    def _finer(self, address: Address, cluster: UrlCluster) -> UrlCluster:
        name = self._names.with_words(cluster.name, address)
        return cluster if name == cluster.name else self._kinds[name]

    def _level(self, kind: UrlCluster) -> int:
        return 0 if self._is_breadth_first else kind.level

    def priority(self, address: Address) -> int:
        """Return the priority of an address: the lower, the fewer of its kind are new.

        Ask it of hosts that are ``in`` the traps: all addresses of others have the highest one.
        """
        cluster = self.cluster(address)
        is_sample = int.from_bytes(address.digest[8:12]) % FLOOR_OF == 0
        late = LEVEL_PRIORITIES[0 if is_sample else self._level(self._finer(address, cluster))]
        return late + SLOW_PRIORITY * (cluster.state != OPEN)

    def clear(self) -> None:
        """Reset the counts for another visit; slow and closed clusters stay so.

        Clusters that were closed because their budget was spent are opened: each visit has a new
        one.
        """
        self._kinds.save()
        self._database.write(_CLEAR)
        self._database.write(_REOPEN)
        self._kinds.load()


def _counts_on(last: tuple[int, int] | None, shape: tuple[int, int] | None) -> bool:
    """Return whether two names differ in numbers, and in nothing else."""
    if last is None or shape is None:
        return False
    return last[0] == shape[0] and last[1] != shape[1]


def _shape(name: str) -> tuple[int, int] | None:
    """Return the hashes of a name without its numbers and whole; None for none, or one with ids."""
    found = unpacked(name)
    if found == NO_NAME or any(
        not identifier.startswith("canonical:") for identifier in found.identifiers
    ):
        return None
    said = (found.title, found.heading, found.subheading, found.opening)
    whole = " | ".join(said)
    shape = _NUMBER.sub("0", whole)
    first, second = (
        xxhash.xxh3_64_intdigest(one.encode("utf-8", "surrogatepass")) for one in (shape, whole)
    )
    return first, second
