"""Find the traps of a crawl: clusters of URLs to request last, or not at all any more."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import count
from operator import attrgetter
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
from crawler.url_rules.cluster_names import ClusterNames
from neardup.names import NO_NAME, unpacked

if TYPE_CHECKING:
    from crawler.storage.database import Database
    from crawler.url_rules.learning.address import Address

OPEN, SLOW, CLOSED = "open", "slow", "closed"

_LOOKED_AT = 40
_FEW = 2
"""A cluster is slow if at most this many of its last 40 pages were new."""

_MANY = 8
"""A slow cluster is open again if more than this many of its last 40 pages are new."""

NOTED = KEPT | DUPLICATES | WALLS
"""Verdicts that tell whether there was anything new."""

LONG = 300
"""A cluster is closed after this many pages in a row that were not new but led to more of it."""

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

Where one URL in fifty does, so many find one in 99 of 100 cases (``validation.trials_of_all``).
So is one with as many copies of one text that has the wording or the fields of a wall: there the
last names of all paths may be the same, as of ``/reply?id=7``.
"""

_WALLED = f"its last {MIN_WALLS} pages were a wall"
_KIND_OF_WALL = f"""
SELECT 1 FROM wall_pages JOIN wall_clusters ON wall_clusters.id = cluster
WHERE page = ? AND kind IN ({listed({WallKind.LOGIN, WallKind.CONSENT, WallKind.CAPTCHA})})
"""  # noqa: S608

_TRIED_OF = 20
"""One in this many URLs of a closed cluster is fetched: a new page opens the cluster again.

Of one that was closed for its walls so does any page.
"""

_TRIED_OF_BARREN = 15
"""Fetch one URL of a closed cluster in ``barren / 15``, if that is fewer than one in 20.

However many links lead on from each page of a trap, there come to be less than one that is
fetched, and the trap ends.
"""

SLOW_PRIORITY = -100
"""A priority below every other one that a crawl gives by itself."""

MAX_CLUSTERS = 20_000

_NUMBER = re.compile(r"-?\d+")

_COLUMNS = "id, name, fetched, new, barren, met, recent, state, reason, counted, deepest"
_MARKS = ", ".join("?" * len(_COLUMNS.split(", ")))
_SELECT = f"SELECT {_COLUMNS} FROM url_clusters"  # noqa: S608
_WRITE = f"INSERT OR REPLACE INTO url_clusters ({_COLUMNS}) VALUES ({_MARKS})"  # noqa: S608
_stored_part = attrgetter(*_COLUMNS.split(", "))

_ENDING = f"""
state = '{CLOSED}'
AND (barren < {LONG} OR met * iif(counted, {PAGES_A_DEEPER_LINK}, {PAGES_A_LINK}) < barren)
"""
_REOPEN = f"UPDATE url_clusters SET state = '{OPEN}', reason = NULL WHERE {_ENDING}"  # noqa: S608
_REOPENED = f"{_REOPEN} AND (?1 = 0 OR fetched < ?1) AND reason IS NOT '{_WALLED}' RETURNING id"


@dataclass(slots=True)
class UrlCluster:
    """URLs of one kind: the same kinds of host, path and names of arguments.

    Attributes:
        name: As people read it.
        new: Those of them whose text was new.
        barren: Pages since the last new one.
        met: Its URLs that were found since then, while it was not open. Where a barren page was
            kept (``counted``), only those that its own pages lead to, and deeper than all before:
            a calendar leads from month to month without an end. The parts of a catalogue are
            listed by other pages, and those that name each other are few links apart.
        recent: The last of them, a bit each, the newest last; 1 for a new one.
        state: "open"; "slow", after all others; or "closed".
        counted: Barren pages that were kept since the last new one: their names count on.
        deepest: The largest number of links that lead to one of ``met``.
        shape: Hashes of the name of the last page, without its numbers and whole; not stored.
        walls: Walls since the last page, or copies of one text; not stored.
        original: Page that has this text; not stored.
    """

    id: int
    name: str
    fetched: int = 0
    new: int = 0
    barren: int = 0
    met: int = 0
    recent: int = 0
    state: str = OPEN
    reason: str | None = None
    counted: int = 0
    deepest: int = 0
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
        self.fetched += is_first
        self.new += is_new
        self.barren = 0 if is_new else self.barren + 1
        self.counted += is_counted
        if is_new:
            self.met = self.counted = self.deepest = 0
        self.recent = (self.recent << 1 | is_new) & ((1 << _LOOKED_AT) - 1)
        before = self.state
        self.state, self.reason = self._judged(budget)
        return self.state != before

    def _judged(self, budget: int) -> tuple[str, str | None]:
        if budget and self.fetched >= budget:
            return CLOSED, f"its budget of {budget:,} pages is spent"
        if self.walls >= MIN_WALLS or (self.walls and self.is_walled):
            return CLOSED, _WALLED
        return self._closed() or self._slow()

    def _closed(self) -> tuple[str, str | None] | None:
        if self.state == CLOSED and self.barren and not self.is_walled:
            return CLOSED, self.reason
        if self.counted and self.barren >= LONG and self.met * PAGES_A_DEEPER_LINK >= self.barren:
            return CLOSED, f"its last {LONG} pages differ in numbers alone, and each leads on"
        if not self.counted and self.barren >= LONG and self.met * PAGES_A_LINK >= self.barren:
            return CLOSED, f"none of its last {LONG} pages was new"
        return None

    def _slow(self) -> tuple[str, str | None]:
        few = _FEW if self.state == OPEN else _MANY
        is_known = self.state != OPEN or self.fetched >= _LOOKED_AT
        if is_known and self.recent.bit_count() <= few:
            return SLOW, f"of its last {_LOOKED_AT} pages {few} or fewer were new"
        return OPEN, None

    @property
    def is_walled(self) -> bool:
        """Whether it is closed for its walls."""
        return self.state == CLOSED and self.reason == _WALLED

    def note_met(self, depth: int) -> None:
        """Count a URL that is found for the first time, at a number of links from a seed."""
        if not self.counted or depth > self.deepest:
            self.met += 1
        self.deepest = max(self.deepest, depth)

    def is_tried(self, number: int, budget: int = 0) -> bool:
        """Return whether a URL is fetched although the cluster is closed.

        Args:
            number: A hash of the URL.
            budget: Pages that may be fetched of each cluster, 0 for any number; then nothing is.
        """
        if budget and self.fetched >= budget:
            return False
        if self.is_walled:
            return number % _TRIED_OF == 0
        return number % max(_TRIED_OF, self.barren // _TRIED_OF_BARREN) == 0


class UrlTraps:
    """The table ``url_clusters``, with the clusters that were met lately in memory.

    Args:
        budget: Pages that may be fetched of each cluster in a visit, 0 for any number.

    Attributes:
        reopened: Clusters that a smaller budget had closed; their requests are to be put back.
    """

    def __init__(self, database: Database, budget: int) -> None:
        self._database = database
        self._budget = budget
        self._names = ClusterNames()
        self._changed: dict[int, UrlCluster] = {}
        self._hosts: set[str] = set()
        reopened = database.write(_REOPENED, (budget,)).fetchall()
        self.reopened = [number for (number,) in reopened]
        self._load()
        self._numbers = count((database.value("SELECT max(id) FROM url_clusters") or 0) + 1)
        rows = database.read("SELECT name, state FROM url_clusters WHERE state != ?", (OPEN,))
        for name, _ in rows.fetchall():
            self._names.remember(name)
            self._hosts.add(name.partition("/")[0])
        database.before_commit.append(self._save)

    def _load(self) -> None:
        """Read the newest clusters into memory, all of them where they are few."""
        rows = self._database.read(
            f"{_SELECT} ORDER BY id DESC LIMIT ?", (MAX_CLUSTERS,)
        ).fetchall()
        self._clusters = {row[1]: UrlCluster(*row) for row in reversed(rows)}
        self._are_all_held = len(rows) < MAX_CLUSTERS

    def __bool__(self) -> bool:
        return bool(self._hosts)

    def __contains__(self, host: object) -> bool:
        """Return whether a host has any cluster that is not open."""
        return bool(self._hosts) and isinstance(host, str) and self._names.host(host) in self._hosts

    def cluster(self, address: Address) -> UrlCluster:
        """Return the cluster of an address, after the learned rules."""
        name = self._names(address)
        cluster = self._clusters.pop(name, None) or self._stored(name)
        self._clusters[name] = cluster
        if len(self._clusters) > MAX_CLUSTERS:
            self._save()
            self._are_all_held = False
            del self._clusters[next(iter(self._clusters))]
        return cluster

    def _stored(self, name: str) -> UrlCluster:
        row = None
        if not self._are_all_held:
            row = self._database.read(f"{_SELECT} WHERE name = ?", (name,)).fetchone()
        return UrlCluster(next(self._numbers), name) if row is None else UrlCluster(*row)

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
        before = cluster.state
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
        self._changed[cluster.id] = cluster
        if not changed:
            return None
        self._hosts.add(cluster.name.partition("/")[0])
        return before

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
            address: The address after the learned rules.
            depth: The number of links that lead to it from a seed.
            source: The address of the page that links to it; None where that is not known.
        """
        if address.host not in self:
            return
        cluster = self.cluster(address)
        if cluster.state == OPEN:
            return
        if source is None or not cluster.counted or self._names(source) == cluster.name:
            cluster.note_met(depth)
            self._changed[cluster.id] = cluster

    def closed(self, address: Address) -> int | None:
        """Return the number of the closed cluster for which an address is not fetched, or None."""
        if address.host not in self:
            return None
        cluster, number = self.cluster(address), int.from_bytes(address.digest[4:8])
        is_fetched = cluster.state != CLOSED or cluster.is_tried(number, self._budget)
        return None if is_fetched else cluster.id

    def priority(self, address: Address, wanted: int) -> int:
        """Return the priority with which an address is queued."""
        if address.host not in self or self.cluster(address).state == OPEN:
            return wanted
        return min(wanted, SLOW_PRIORITY)

    def clear(self) -> None:
        """Reset the counts for another visit; slow and closed clusters stay so.

        Clusters that were closed because their budget was spent are opened: each visit has a new
        one.
        """
        self._save()
        self._database.write("UPDATE url_clusters SET fetched = 0, new = 0")
        self._database.write(_REOPEN)
        self._load()

    def _save(self) -> None:
        rows = list(map(_stored_part, self._changed.values()))
        self._changed.clear()
        if rows:
            self._database.write_many(_WRITE, rows)


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
