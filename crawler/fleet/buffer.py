"""Hold the requests that a worker has leased, in its own ``crawl.db``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from crawler.frontier.order import NewRequest, QueuedRequest
from crawler.frontier.request_records import Leased, record_of, unpack
from crawler.storage.states import SKIPPED, WAITING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from crawler.frontier.queue import RequestQueue
    from crawler.storage.database import Database
    from crawler.url_rules.engine import UrlRules

T = TypeVar("T")

_LAST = "SELECT max(id) FROM requests"
_OF_KEY = "DELETE FROM requests WHERE key = ?"
_ROW_OF_KEY = "SELECT id, host, url, priority, request, depth, state FROM requests WHERE key = ?"
_TAKE_OUT = f"DELETE FROM requests WHERE id = ? AND state = {WAITING}"  # noqa: S608
_PARKED = (
    "SELECT id, host, url, priority, request, depth FROM requests"  # noqa: S608
    f" WHERE id > ? AND state = {SKIPPED}"
    " ORDER BY id LIMIT 500"
)
_WAITING = f"SELECT id, host, url, priority, request, depth FROM requests WHERE state = {WAITING}"  # noqa: S608


def _lease_of(queued: QueuedRequest) -> Leased:
    """Return the lease of a request of the queue, which may have another priority by now."""
    return unpack(queued.request)._replace(priority=queued.priority, depth=queued.depth)


class Buffer:
    """Maps each request of the crawl's own queue to its lease from the fleet.

    A request that a learned rule skips is parked: it stays in ``crawl.db``, does not count as
    waiting work, and may be put back by the rules; the buffer notices that.

    Attributes:
        moves: In order, leases that are to be parked in the frontier (True), and parked
            ones that are to be leased again (False).
        hosts: The number of waiting and running requests of each host; not to be changed.
        postponed: Postponed leases that ``forget_postponed`` was not given yet.
    """

    def __init__(self, database: Database, queue: RequestQueue, url_rules: UrlRules) -> None:
        self._database = database
        self._queue = queue
        self._rules = url_rules
        self._waiting: dict[int, Leased] = {}
        self._under_way: dict[int, Leased] = {}
        self._later: dict[int, tuple[Leased, bool]] = {}
        self._ended: dict[bool, list[Leased]] = {False: [], True: []}
        self.hosts: Counter[int] = Counter()
        self.moves: list[tuple[bool, Leased]] = []
        self.postponed: list[Leased] = []

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def is_idle(self) -> bool:
        """Whether no request is held, and nothing is left to report to the frontier."""
        is_told = not (self.moves or self.postponed or any(self._ended.values()))
        return is_told and not (self._waiting or self._under_way)

    @property
    def unacknowledged(self) -> int:
        """The number of ended requests of which the frontier was not told yet."""
        return sum(map(len, self._ended.values()))

    def hold(self, leased: Leased, *, is_fixed: bool) -> None:
        """Take over a leased request, or park it if a rule skips it.

        A lease that replaces one under way is taken over when that one is finished.
        """
        if leased.is_again and self._replace(leased, is_fixed=is_fixed):
            return
        if leased.key is not None:
            self._delete_row(leased.key)
        new = NewRequest(
            leased.host,
            leased.url,
            leased.priority,
            record_of(leased),
            leased.key,
            leased.depth,
            is_fixed,
        )
        is_queued = self._rules.push(new)
        if not is_queued:
            self.moves.append((True, leased))
            return
        row = int(self._database.read(_LAST).fetchone()[0])
        self._waiting[row] = leased
        self.hosts[leased.host] += 1

    def _delete_row(self, key: bytes) -> None:
        """Delete the row of a lease that ended here and was leased again, or of a link to it.

        What the queue has not written yet is written first: the next row may get the same id, and
        would be taken for the one that ended.
        """
        if self._database.read(_ROW_OF_KEY, (key,)).fetchone() is not None:
            self._queue.write()
            self._database.write(_OF_KEY, (key,))

    def _replace(self, leased: Leased, *, is_fixed: bool) -> bool:
        """Replace an earlier lease of the same page; return whether that one is still under way."""
        row = self._database.read(_ROW_OF_KEY, (leased.key,)).fetchone()
        if row is None:
            return False
        before = QueuedRequest(*row[:-1])
        if before.id in self._under_way:
            if before.id in self._later:
                # A still shorter way was found: the lease between the two ends with this one.
                self._ended[False].append(self._later[before.id][0])
            self._later[before.id] = leased, is_fixed
            return True
        if before.id in self._waiting:
            self._queue.count(-self._queue.change(before.host, _TAKE_OUT, [(before.id,)]))
            self._ended[False].append(self._waiting.pop(before.id))
            self._leave(before.host)
        elif row[-1] == SKIPPED:
            self._ended[False].append(_lease_of(before))
        return False

    def hand_out(self, queued: QueuedRequest) -> None:
        """Record that a request left the queue for the downloader."""
        leased = self._waiting.pop(queued.id, None)
        if leased is None:
            leased = self._wake(queued)
        self._under_way[queued.id] = leased

    def _wake(self, queued: QueuedRequest) -> Leased:
        """Return the lease of a request that a rule skipped and put back."""
        leased = _lease_of(queued)
        self.moves.append((False, leased))
        self.hosts[leased.host] += 1
        return leased

    def end(self, rows: Iterable[int], *, failed: bool) -> None:
        for row in rows:
            leased = self._under_way.pop(row, None)
            if leased is not None:
                self._ended[failed].append(leased)
                self._leave(leased.host)
            self._hold_later(row)

    def _hold_later(self, row: int) -> None:
        """Take over the lease that replaces one that is under way no more."""
        if row in self._later:
            later, is_fixed = self._later.pop(row)
            self.hold(later, is_fixed=is_fixed)

    def put_back(self, row: int) -> None:
        """Record that a request returned from the downloader and waits in the queue."""
        self._waiting[row] = self._under_way.pop(row)
        self._hold_later(row)

    def postpone(self, queued: QueuedRequest) -> None:
        """Record that a request must wait in the frontier, with another priority and content."""
        leased = self._under_way.pop(queued.id, None)
        if leased is not None:
            changed = leased._replace(priority=queued.priority, request=queued.request)
            self.postponed.append(changed)
            self._leave(leased.host)
            self._hold_later(queued.id)

    def forget_postponed(self, told: Collection[Leased]) -> None:
        """Forget postponed leases that the frontier has."""
        self.postponed = _without(self.postponed, told)

    def _leave(self, host: int) -> None:
        self.hosts[host] -= 1
        if self.hosts[host] <= 0:
            del self.hosts[host]

    def ended(self) -> tuple[list[Leased], list[Leased]]:
        """Return the finished and the failed leases that ``forget_ended`` was not given yet."""
        return list(self._ended[False]), list(self._ended[True])

    def forget_ended(self, done: Collection[Leased], failed: Collection[Leased]) -> None:
        """Forget ended leases that the frontier has acknowledged.

        ``clear`` may have removed all of them meanwhile, and other leases may have ended.
        """
        for is_failed, told in ((False, done), (True, failed)):
            self._ended[is_failed] = _without(self._ended[is_failed], told)

    def forget_moves(self, told: Collection[tuple[bool, Leased]]) -> None:
        self.moves = _without(self.moves, told)

    def compare(self) -> None:
        """Compare the leases with the queue: rules may have taken requests out or put them back.

        Complexity: O(1) if nothing changed, else O(waiting requests).
        """
        if len(self._queue) == len(self._waiting):
            return
        self._queue.write()
        rows = {row[0]: QueuedRequest(*row) for row in self._database.read(_WAITING).fetchall()}
        for row in [row for row in self._waiting if row not in rows]:
            leased = self._waiting.pop(row)
            self._leave(leased.host)
            self.moves.append((True, leased))
        for row, queued in rows.items():
            if row not in self._waiting:
                self._waiting[row] = self._wake(queued)

    def has_parked(self, host: int) -> bool:
        """Return whether a rule skips requests of a host."""
        sql = f"SELECT 1 FROM requests WHERE host = ? AND state = {SKIPPED} LIMIT 1"  # noqa: S608
        return self._database.read(sql, (host,)).fetchone() is not None

    def parked(self) -> Iterator[list[Leased]]:
        """Yield all leases that rules skip, in batches."""
        last = 0
        while rows := self._database.read(_PARKED, (last,)).fetchall():
            last = rows[-1][0]
            yield [_lease_of(QueuedRequest(*row)) for row in rows]

    def take_out(self, hosts: Collection[int] | None = None) -> list[Leased]:
        """Remove the waiting leases of some hosts, or of all, and return them for the frontier."""
        self.compare()
        chosen: dict[int, list[int]] = {}
        for row, leased in self._waiting.items():
            if hosts is None or leased.host in hosts:
                chosen.setdefault(leased.host, []).append(row)
        found = []
        for host, rows in chosen.items():
            changed = self._queue.change(host, _TAKE_OUT, [(row,) for row in rows])
            self._queue.count(-changed)
            for row in rows:
                found.append(self._waiting.pop(row))
                self._leave(host)
        return found

    def clear(self) -> None:
        """Forget every lease: all of them belong to other workers now."""
        self._waiting.clear()
        self._under_way.clear()
        self._later.clear()
        self.hosts.clear()
        self.moves.clear()
        self.postponed.clear()
        for ended in self._ended.values():
            ended.clear()
        self._queue.clear()


def _without(some: Iterable[T], told: Iterable[T]) -> list[T]:
    """Return the objects that are not among ``told`` by identity: two leases may be equal."""
    those = {id(one) for one in told}
    return [one for one in some if id(one) not in those]
