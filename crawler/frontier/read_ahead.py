"""Hold the head of the line of hosts, and the next requests of some of them, in memory."""

from __future__ import annotations

from bisect import insort
from collections import OrderedDict
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from crawler.storage.states import WAITING

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from crawler.storage.database import Database

    Place = tuple[int, int]
    Row = tuple[int, int, int, str, bytes, bool]
    """Negated priority, depth, id, URL, request, fixed: rows sort in the order of their leases."""

READ_HOSTS = 1_024
"""Read at most this many hosts at a time, where memory cannot hold all."""

MAX_HOSTS = 16_384
"""Hold at most this many hosts in memory, unless more are under way; about 300 bytes each."""

MAX_CHANGES = 4_096
"""Write the moves at the latest after this many, else at the next commit."""

MAX_TURNS = 4_096
"""Copy the log of turns into the table of hosts once it has more than this many."""

_AFTER = (
    "SELECT -priority, turn, host FROM hosts"
    " WHERE priority <= ? AND (priority < ? OR turn > ?) ORDER BY priority DESC, turn LIMIT ?"
)
_FIRST = "SELECT -priority, turn, host FROM hosts ORDER BY priority DESC, turn LIMIT ?"
_PLACE = "SELECT -priority, turn FROM hosts WHERE host = ?"
_STAND = (
    "INSERT INTO hosts VALUES (?, ?, ?) ON CONFLICT (host) DO UPDATE"
    " SET priority = excluded.priority, turn = excluded.turn"
)
_LEAVE = "DELETE FROM hosts WHERE host = ?"
_LOG = "INSERT INTO host_turns VALUES (?, ?)"
_APPLY = (
    "UPDATE hosts SET turn = last.turn"
    " FROM (SELECT host, max(turn) AS turn FROM host_turns GROUP BY host) AS last"
    " WHERE last.host = hosts.host AND last.turn > hosts.turn"
)


class HostLine:
    """Hosts with requests that wait, the most urgent first, in turn where they are equal.

    A place is the negated priority with the turn, so that places sort as the line does.
    The authority is the table ``hosts``, with the turns in ``host_turns`` and the changes that
    ``write`` has yet to make there. Most moves only change a turn. They are appended to
    ``host_turns``, since in ``hosts`` and its index each would change pages of its own.
    Memory holds every host up to ``_end``, changed or not; all of
    them where there is no ``_end``.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._changes: dict[int, Place | None] = {}
        self._turns: dict[int, int] = {}
        # The hosts of each line, in turn, and the line of each host.
        self._lines: dict[int, OrderedDict[int, int]] = {}
        self._line_of: dict[int, int] = {}
        self._end: Place | None = None
        self._apply_turns()
        self._turn = int(database.read("SELECT coalesce(max(turn), 0) FROM hosts").fetchone()[0])
        self._hold(database.read(_FIRST, (MAX_HOSTS,)).fetchall(), MAX_HOSTS)

    @property
    def held(self) -> int | None:
        """The number of hosts in the line, None where there are more than memory holds."""
        return len(self._line_of) if self._end is None else None

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield host and priority, in order; nothing may be changed meanwhile."""
        for less in sorted(self._lines):
            for host in self._lines[less]:
                yield host, -less
        while self._end is not None:
            for less, _, host in self._read_more(self._end):
                yield host, -less

    def _read_more(self, end: Place) -> list[tuple[int, int, int]]:
        self.write()
        self._apply_turns()
        less, turn = end
        rows = self._database.read(_AFTER, (-less, -less, turn, READ_HOSTS)).fetchall()
        self._hold(rows, READ_HOSTS)
        return rows

    def _hold(self, rows: list[tuple[int, int, int]], most: int) -> None:
        for less, turn, host in rows:
            self._lines.setdefault(less, OrderedDict())[host] = turn
            self._line_of[host] = less
        self._end = rows[-1][:2] if len(rows) == most else None

    def stand(self, host: int, priority: int) -> None:
        """Move a host forward for a new request, unless its place is as urgent already.

        Complexity: O(log hosts).
        """
        less = self._less(host)
        if less is None or -priority < less:
            self.move(host, priority)

    def _less(self, host: int) -> int | None:
        """Return the negated priority of a host, None where it is not in the line."""
        less = self._line_of.get(host)
        if less is not None or self._end is None:
            return less
        if host in self._changes:
            place = self._changes[host]
        else:
            place = self._database.read(_PLACE, (host,)).fetchone()
        return None if place is None else place[0]

    def move(self, host: int, priority: int) -> None:
        """Send a host to the end of the line of a priority. Complexity: O(log hosts)."""
        before, less = self._step_out(host), -priority
        self._turn += 1
        if before == less and host not in self._changes:
            self._turns[host] = self._turn
        else:
            self._changes[host] = (less, self._turn)
            self._turns.pop(host, None)
        if self._end is None or less < self._end[0]:
            self._lines.setdefault(less, OrderedDict())[host] = self._turn
            self._line_of[host] = less
            if len(self._line_of) > MAX_HOSTS:
                self._cut()
        self._write_if_due()

    def leave(self, host: int) -> None:
        """Take out a host that has no requests any more. Complexity: O(log hosts)."""
        self._step_out(host)
        self._changes[host] = None
        self._turns.pop(host, None)
        self._write_if_due()

    def _step_out(self, host: int) -> int | None:
        less = self._line_of.pop(host, None)
        if less is not None:
            line = self._lines[less]
            del line[host]
            if not line:
                del self._lines[less]
        return less

    def _cut(self) -> None:
        """Hold the first hosts only; half, since new hosts may be as many as those served."""
        kept = list(islice(self._places(), MAX_HOSTS // 2))
        self._lines.clear()
        self._line_of.clear()
        self._hold(kept, len(kept))

    def _places(self) -> Iterator[tuple[int, int, int]]:
        for less in sorted(self._lines):
            for host, turn in self._lines[less].items():
                yield less, turn, host

    def _write_if_due(self) -> None:
        if len(self._changes) + len(self._turns) >= MAX_CHANGES:
            self.write()

    def write(self) -> None:
        left = [(host,) for host, place in self._changes.items() if place is None]
        stood = [(host, -place[0], place[1]) for host, place in self._changes.items() if place]
        turns = [(turn, host) for host, turn in self._turns.items()]
        for sql, rows in ((_LEAVE, left), (_STAND, stood), (_LOG, turns)):
            if rows:
                self._database.write_many(sql, rows)
        self._logged += len(turns)
        self._changes.clear()
        self._turns.clear()
        if self._logged > MAX_TURNS:
            self._apply_turns()

    def _apply_turns(self) -> None:
        """Copy the turns of the log into the table ``hosts``."""
        self._database.write(_APPLY)
        self._database.empty("host_turns")
        self._logged = 0


MAX_OF_A_HOST = 64
MAX_BYTES = 2**25
"""Bytes of all URLs and requests that are held, at most."""

_MIN_COUNT = 2

_ROW_BYTES = 250
"""Bytes of a row beside the characters of its URL and the bytes of its request."""

_MEAN_OF = 1_000
"""Requests that the mean size of a request is of, about."""

_NEXT = (
    "SELECT -priority, depth, id, url, request, fixed FROM requests"  # noqa: S608
    f" WHERE state = {WAITING} AND host = ? ORDER BY priority DESC, depth, id"
)


@dataclass(slots=True)
class _Head:
    rows: list[Row]
    is_all: bool
    """Whether the host has no other requests."""


class HostHeads:
    """The first waiting requests of some hosts, bounded in number and bytes.

    Args:
        gone: Ids of requests that wait in the table only.
    """

    def __init__(self, database: Database, gone: Container[int]) -> None:
        self._database = database
        self._gone = gone
        self._heads: dict[int, _Head] = {}
        self._bytes = 0
        self._mean_bytes: float = _ROW_BYTES

    def most(self, hosts: int | None) -> int:
        """Return how many requests of a host to read at a time.

        Args:
            hosts: The number of hosts that take turns; None where it is large.
        """
        if hosts is None:
            return _MIN_COUNT
        room = int(MAX_BYTES / self._mean_bytes) // max(1, hosts)
        return max(_MIN_COUNT, min(MAX_OF_A_HOST, room))

    def take(self, host: int, most: int) -> tuple[Row, int | None]:
        """Remove and return a host's first request, with the priority of the one after it.

        Args:
            host: A host that has requests.
            most: The number of rows to read, where some must be read. With 2, one row to lease
                and one for the host's next place in line, nothing more is held.

        Complexity: O(log n + ``most``).
        """
        head = self._heads.get(host)
        if head is None:
            rows, is_all = self._read(host, most)
            if most == _MIN_COUNT:
                return rows[0], -rows[1][0] if len(rows) == _MIN_COUNT else None
            head = self._hold(host, _Head(rows, is_all))
        row = head.rows.pop(0)
        size = _bytes(row)
        self._bytes -= size
        self._mean_bytes += (size - self._mean_bytes) / _MEAN_OF
        following = -head.rows[0][0] if head.rows else None
        if not head.rows or not (head.is_all or len(head.rows) >= _MIN_COUNT):
            self.drop(host)
        return row, following

    def _read(self, host: int, most: int) -> tuple[list[Row], bool]:
        rows: list[Row] = []
        room = MAX_BYTES // 2
        for row in self._database.read(_NEXT, (host,)):
            if row[2] in self._gone:
                continue
            rows.append(row)
            room -= len(row[3]) + len(row[4]) + _ROW_BYTES
            if len(rows) == most or (room < 0 and len(rows) >= _MIN_COUNT):
                return rows, False
        return rows, True

    def _hold(self, host: int, head: _Head) -> _Head:
        self._heads[host] = head
        self._bytes += _bytes(*head.rows)
        self._make_room(host)
        return head

    def offer(self, host: int, row: Row) -> None:
        """Hold a new request if it is among the first of its host."""
        head = self._heads.get(host)
        if head is None:
            return
        if not head.is_all and row > head.rows[-1]:
            return
        insort(head.rows, row)
        self._bytes += _bytes(row)
        if len(head.rows) > MAX_OF_A_HOST:
            self._bytes -= _bytes(head.rows.pop())
            head.is_all = False
        self._make_room(host)

    def _make_room(self, host: int) -> None:
        """Drop the hosts that were read first, and rows of this host if its requests are huge."""
        while self._bytes > MAX_BYTES and len(self._heads) > 1:
            oldest = next(iter(self._heads))
            if oldest == host:
                self._heads[host] = self._heads.pop(host)
            else:
                self.drop(oldest)
        head = self._heads[host]
        while self._bytes > MAX_BYTES and len(head.rows) > _MIN_COUNT:
            self._bytes -= _bytes(head.rows.pop())
            head.is_all = False

    def drop(self, host: int) -> None:
        """Drop a host, so that it is read again when it is served."""
        head = self._heads.pop(host, None)
        if head is not None:
            self._bytes -= _bytes(*head.rows)

    def clear(self) -> None:
        """Drop every host, so that each is read again."""
        self._heads.clear()
        self._bytes = 0


def _bytes(*rows: Row) -> int:
    return sum([len(row[3]) + len(row[4]) + _ROW_BYTES for row in rows])
