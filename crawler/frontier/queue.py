"""The queue of requests in ``crawl.db``: todo, leased, done, failed, skipped."""

from __future__ import annotations

from itertools import count, islice
from typing import TYPE_CHECKING, Any

from crawler.frontier.order import QueuedRequest, next_in_turn
from crawler.frontier.read_ahead import HostHeads, HostLine
from crawler.storage.states import DONE, FAILED, LEASED, SKIPPED, UNFINISHED, WAITING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from crawler.frontier.order import Load, NewRequest, ShorterWay, Skip
    from crawler.storage.database import Database

MAX_TRIES = 2
"""A request that broke is tried once more by the next process, then by ``retry_broken``."""

MAX_UNWRITTEN = 2_000
"""Write leases and their ends at the latest after this many, else at the next commit."""

_PUSH = (
    "INSERT INTO requests (state, tries, priority, depth, host, url, key, fixed, request)"  # noqa: S608
    f" VALUES ({WAITING}, 0, ?, ?, ?, ?, ?, ?, ?)"
)
_PUSH_SKIPPED = (
    "INSERT INTO requests"  # noqa: S608
    " (state, tries, priority, depth, host, url, key, fixed, request, rule, group_digest)"
    f" VALUES ({SKIPPED}, 0, ?, ?, ?, ?, ?, 0, ?, ?, ?)"
)
_LEASED = f"UPDATE requests SET state = {LEASED} WHERE id = ?"  # noqa: S608
_DONE = f"UPDATE requests SET state = {DONE}, request = x'' WHERE id = ?"  # noqa: S608
_FAILED = f"UPDATE requests SET state = {FAILED}, tries = tries + 1 WHERE id = ?"  # noqa: S608
_BACK = f"UPDATE requests SET state = {WAITING} WHERE id = ?"  # noqa: S608
_BACK_CHANGED = f"UPDATE requests SET state = {WAITING}, priority = ?, request = ? WHERE id = ?"  # noqa: S608
_OF_KEY = "SELECT id, host, state FROM requests WHERE key = ? AND depth > ?"
_NEARER = "UPDATE requests SET depth = ? WHERE id = ?"
_FOLLOW_AGAIN = (
    f"UPDATE requests SET state = {WAITING}, depth = ?, host = ?, url = ?, request = ? WHERE id = ?"  # noqa: S608
)
_WAIT_AGAIN = (
    f"UPDATE requests SET state = {WAITING}, request = ? WHERE id = ? AND state = {LEASED}"  # noqa: S608
)

_FIRST = f"SELECT max(priority) FROM requests WHERE state = {WAITING} AND host = ?"  # noqa: S608

_UNFINISHED = f"state IN ({UNFINISHED}) AND tries < ?"
# By the index of what is unfinished, which a comparison with one state alone would not use.
_BROKEN = f"state IN ({UNFINISHED}) AND state = {FAILED}"


class RequestQueue:
    """Requests leased in the order of ``crawler.frontier.order``.

    A request is leased when it is handed out and leaves the queue only when
    ``finish`` reports its outcome. Opening the queue returns the leases of
    a process that died, and the requests that broke there for the first time, so no
    request is ever lost.

    The lines of hosts are the table ``hosts`` with ``host_turns``, the queue of a host is a range
    of the index ``requests_todo``. Memory holds the heads of both, the leases,
    and the changes until the next commit, all of it bounded, so it grows
    neither with the queue nor with the hosts.

    Attributes:
        at_least: The least priority of requests that are leased; None for any.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.at_least: int | None = None
        # Leased, and still todo in the table: most are through before the next commit.
        self._gone: set[int] = set()
        self._done: list[int] = []
        self._failed: list[int] = []
        # Queued again when the leases of these end.
        self._again: dict[int, ShorterWay] = {}
        self._line = HostLine(database)
        self._heads = HostHeads(database, self._gone)
        database.before_commit.append(self.write)
        sql = f"SELECT count(*) FROM requests WHERE state = {WAITING}"  # noqa: S608
        self._todo = database.value(sql) or 0
        # Another process leased them, or they broke there.
        self.let_wait(f"state = {WAITING}", _UNFINISHED, MAX_TRIES)

    def let_wait(self, change: str, which: str, *values: object) -> int:
        """Let some requests wait again, and their hosts stand in line; return how many they are.

        Args:
            change: What is set in their rows, in SQL.
            which: The condition that they meet, in SQL.
            values: The parameters of that.
        """
        self.write()
        hosts = self._database.read(
            f"SELECT host, max(priority) FROM requests WHERE {which}"  # noqa: S608
            " GROUP BY host ORDER BY min(id)",
            values,
        ).fetchall()
        for host, priority in hosts:
            self._heads.drop(host)
            self._line.stand(host, priority)
        sql = f"UPDATE requests SET {change} WHERE {which}"  # noqa: S608
        found = self._database.write(sql, values).rowcount if hosts else 0
        self._todo += found
        return found

    def retry_broken(self) -> int:
        """Let requests that broke at every try wait again, as new ones; return how many they are.

        Complexity: O(requests that are leased or broke).
        """
        return self.let_wait(f"state = {WAITING}, tries = 0", _BROKEN)

    @property
    def is_untouched(self) -> bool:
        # A key that was seen without a request of its own has no URL.
        sql = "SELECT 1 FROM requests WHERE url != '' LIMIT 1"
        return self._database.value(sql) is None

    def push(self, new: NewRequest) -> None:
        """Queue a request; no other one can be queued under its key. Complexity: O(log n)."""
        host, url, priority, request, key, depth, is_fixed, _ = new
        row = (priority, depth, host, url, key, is_fixed, request)
        found = self._database.write(_PUSH, row)
        self._line.stand(host, priority)
        self._heads.offer(host, (-priority, depth, found.lastrowid or 0, url, request, is_fixed))
        self._todo += 1

    def push_skipped(self, new: NewRequest, skip: Skip) -> None:
        """Store a request that is not made because another one stands for its page."""
        host, url, priority, request, key, depth, _, _ = new
        row = (priority, depth, host, url, key, request, skip.rule, skip.group)
        self._database.write(_PUSH_SKIPPED, row)

    def lease(self, load: Load) -> QueuedRequest | None:
        """Lease the next request of a host with room until ``finish``; None where there is none.

        Complexity: O(log n + hosts that are under way).
        """
        host = next_in_turn(self._line, load, self.at_least)
        if host is None:
            return None
        first, following = self._heads.take(host, self._heads.most(self._line.held))
        less, depth, request_id, url, request, is_fixed = first
        if following is None:
            self._line.leave(host)
        else:
            self._line.move(host, following)
        self._gone.add(request_id)
        self._todo -= 1
        if len(self._gone) > MAX_UNWRITTEN:
            self.write()
        return QueuedRequest(request_id, host, url, -less, request, depth, bool(is_fixed))

    def has_urgent(self, priority: int) -> bool:
        return any(found >= priority for _, found in islice(self._line, 1))

    def finish(self, ids: Collection[int], *, failed: bool = False) -> None:
        """End the leases of requests that are through, or that broke.

        A request that is through is emptied: it may hold passwords and cookies.
        """
        if self._again and not failed:
            ids = [one for one in ids if not self._follow_later(one)]
        (self._failed if failed else self._done).extend(ids)
        self._database.count_work(len(ids))
        if len(self._done) + len(self._failed) > MAX_UNWRITTEN:
            self.write()

    def lower(self, way: ShorterWay) -> bool:
        """Lower the depth of a page to that of a shorter way, whatever state its request is in.

        A request that waits moves forward in the queue of its host. One that is done waits again,
        so that its links are followed at their new depth; one that is leased does so when its lease
        ends.

        Returns:
            Whether ``way.again`` is queued for that, now or then.

        Complexity: O(log n), and one more read of the head of the host's queue.
        """
        self.write()
        row = self._database.read(_OF_KEY, (way.key, way.depth)).fetchone()
        if row is None:
            return False
        number, host, state = row
        if state == DONE and way.again is not None:
            values = (way.depth, way.host, way.url, way.again, number)
            self.count(self.change(way.host, _FOLLOW_AGAIN, [values]))
            return True
        if state == WAITING:
            self.change(host, _NEARER, [(way.depth, number)])
            return False
        self._database.write(_NEARER, (way.depth, number))
        if state != LEASED or way.again is None:
            return False
        self._again[number] = way
        return True

    def _follow_later(self, number: int) -> bool:
        """Let a request whose lease ends wait again, if a shorter way was found meanwhile."""
        way = self._again.pop(number, None)
        if way is not None:
            self._database.count_work(1)
            self.count(self.change(way.host, _WAIT_AGAIN, [(way.again, number)]))
        return way is not None

    def put_back(self, queued: QueuedRequest, *, is_changed: bool = False) -> None:
        """Let a leased request wait again.

        Args:
            queued: The request that ``lease`` returned.
            is_changed: Whether its priority and ``request`` have changed.

        Complexity: O(log n), and one more read of the head of the host's queue.
        """
        self._gone.discard(queued.id)
        self._again.pop(queued.id, None)  # its depth is in the table
        if is_changed:
            self._database.write(_BACK_CHANGED, (queued.priority, queued.request, queued.id))
        else:
            self._database.write(_BACK, (queued.id,))
        self._heads.drop(queued.host)
        self._line.stand(queued.host, queued.priority)
        self._todo += 1

    def write(self) -> None:
        """Write leases, their ends, and the line of hosts to the tables.

        The next process that opens the queue returns the leases that are written.
        """
        leased = self._gone.difference(self._done, self._failed)
        for sql, ids in ((_LEASED, leased), (_DONE, self._done), (_FAILED, self._failed)):
            if ids:
                self._database.write_many(sql, [(request_id,) for request_id in sorted(ids)])
        self._gone.clear()
        self._done.clear()
        self._failed.clear()
        self._line.write()

    def change(self, host: int, sql: str, rows: Sequence[Sequence[Any]]) -> int:
        """Change which requests of a host wait, in the table; return how many were changed.

        The caller passes the difference to ``count``.
        """
        self.write()
        self._heads.drop(host)
        changed = self._database.write_many(sql, rows)
        first = self._database.value(_FIRST, (host,))
        if first is None:
            self._line.leave(host)
        else:
            self._line.move(host, first)
        return changed

    def count(self, more: int) -> None:
        """Add to the number of requests that wait; a negative number subtracts."""
        self._todo += more

    def line_up(self) -> None:
        """Rebuild the line of hosts from the requests that wait. Complexity: O(n)."""
        self.write()
        self._database.write("DELETE FROM hosts")
        self._database.empty("host_turns")
        self._database.write(
            "INSERT INTO hosts SELECT host, max(priority), min(id) FROM requests"  # noqa: S608
            f" WHERE state = {WAITING} GROUP BY host"
        )
        self._line = HostLine(self._database)
        self._heads.clear()

    def __len__(self) -> int:
        return self._todo

    def clear(self) -> None:
        self.write()
        self._todo = 0
        self._again.clear()
        self._database.empty("requests")
        self._database.empty("hosts")
        self._database.empty("host_turns")
        self._line = HostLine(self._database)
        self._heads.clear()


class MemoryQueue(RequestQueue):
    """Requests of any kind, which need not be stored: the table has their numbers instead."""

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._numbers = count(1)
        self._requests: dict[bytes, Any] = {}

    def _number_of(self, request: Any) -> bytes:
        number = b"%d" % next(self._numbers)
        self._requests[number] = request
        return number

    def push(self, new: NewRequest) -> None:
        super().push(new._replace(request=self._number_of(new.request)))

    def lease(self, load: Load) -> QueuedRequest | None:
        queued = super().lease(load)
        return queued and queued._replace(request=self._requests.pop(queued.request))

    def put_back(self, queued: QueuedRequest, *, is_changed: bool = False) -> None:
        super().put_back(queued._replace(request=self._number_of(queued.request)), is_changed=True)

    def lower(self, way: ShorterWay) -> bool:
        again = None if way.again is None else self._number_of(way.again)
        is_queued = super().lower(way._replace(again=again))
        if again is not None and not is_queued:
            del self._requests[again]
        return is_queued

    def clear(self) -> None:
        super().clear()
        self._requests.clear()
