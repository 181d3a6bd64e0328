"""Hold the head of the line of hosts, and the next requests of some of them, in memory."""

from __future__ import annotations

from bisect import bisect_left, insort
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.storage.states import WAITING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.storage.database import Database

    Place = tuple[int, int]

READ_HOSTS = 1_024
"""Read at most this many hosts at a time."""

MAX_HOSTS = 4_096
"""Hold at most this many hosts in memory, unless more are under way; about 300 bytes each."""

MAX_CHANGES = 4_096
"""Write the moves at the latest after this many, else at the next commit."""

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


class HostLine:
    """Hosts with requests that wait, the most urgent first, in turn where they are equal.

    A place is the negated priority with the turn, so that places sort as the line does.
    The authority is the table ``hosts`` with the changes that ``write`` has yet to make there.
    Memory holds every host up to ``_end``, changed or not; all of
    them where there is no ``_end``.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._turn = int(database.read("SELECT coalesce(max(turn), 0) FROM hosts").fetchone()[0])
        self._changes: dict[int, Place | None] = {}
        self._head = [tuple(row) for row in self._database.read(_FIRST, (READ_HOSTS,))]
        self._places: dict[int, Place] = {host: (less, turn) for less, turn, host in self._head}
        is_cut = len(self._head) == READ_HOSTS
        self._end: Place | None = self._head[-1][:2] if is_cut else None

    @property
    def held(self) -> int | None:
        """The number of hosts in the line, None where there are more than memory holds."""
        return len(self._head) if self._end is None else None

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Yield host and priority, in order; nothing may be changed meanwhile."""
        passed = 0
        while passed < len(self._head) or self._read_more():
            less, _, host = self._head[passed]
            yield host, -less
            passed += 1

    def _read_more(self) -> bool:
        if self._end is None:
            return False
        self.write()
        less, turn = self._end
        rows = self._database.read(_AFTER, (-less, -less, turn, READ_HOSTS)).fetchall()
        self._head += rows
        self._places.update((host, (less, turn)) for less, turn, host in rows)
        self._end = rows[-1][:2] if len(rows) == READ_HOSTS else None
        return bool(rows)

    def stand(self, host: int, priority: int) -> None:
        """Move a host forward for a new request, unless its place is as urgent already.

        Complexity: O(log hosts).
        """
        place = self._place(host)
        if place is None or -priority < place[0]:
            self.move(host, priority)

    def _place(self, host: int) -> Place | None:
        place = self._places.get(host)
        if place is not None or self._end is None:
            return place
        if host in self._changes:
            return self._changes[host]
        found: Place | None = self._database.read(_PLACE, (host,)).fetchone()
        return found

    def move(self, host: int, priority: int) -> None:
        """Send a host to the end of the line of a priority. Complexity: O(log hosts)."""
        self._step_out(host)
        self._turn += 1
        place = (-priority, self._turn)
        self._note(host, place)
        if self._end is None or place <= self._end:
            insort(self._head, (*place, host))
            self._places[host] = place
            if len(self._head) > MAX_HOSTS:
                self._cut()

    def leave(self, host: int) -> None:
        """Take out a host that has no requests any more. Complexity: O(log hosts)."""
        self._step_out(host)
        self._note(host, None)

    def _step_out(self, host: int) -> None:
        place = self._places.pop(host, None)
        if place is not None:
            del self._head[bisect_left(self._head, (*place, host))]

    def _note(self, host: int, place: Place | None) -> None:
        if len(self._changes) >= MAX_CHANGES:
            self.write()
        self._changes[host] = place

    def _cut(self) -> None:
        for _, _, host in self._head[READ_HOSTS:]:
            del self._places[host]
        del self._head[READ_HOSTS:]
        self._end = self._head[-1][:2]

    def write(self) -> None:
        if not self._changes:
            return
        left = [(host,) for host, place in self._changes.items() if place is None]
        stood = [(host, -place[0], place[1]) for host, place in self._changes.items() if place]
        if left:
            self._database.write_many(_LEAVE, left)
        if stood:
            self._database.write_many(_STAND, stood)
        self._changes.clear()


if TYPE_CHECKING:
    from collections.abc import Container

    from crawler.storage.database import Database

    Row = tuple[int, int, int, str, bytes]
    """Negated priority, depth, id, URL, request: rows sort in the order of their leases."""

MAX_OF_A_HOST = 64
MAX_BYTES = 2**23
"""Bytes of all URLs and requests that are held, at most."""

_MIN_COUNT = 2

_ROW_BYTES = 250
"""Bytes of a row beside the characters of its URL and the bytes of its request."""

_NEXT = (
    f"SELECT -priority, depth, id, url, request FROM requests WHERE state = {WAITING} AND host = ?"  # noqa: S608
    " ORDER BY priority DESC, depth, id"
)


@dataclass(slots=True)
class _Head:
    rows: list[Row]
    is_all: bool
    """Whether the host has no other requests."""


class Heads:
    """The first waiting requests of some hosts, bounded in number and bytes.

    Args:
        gone: Ids of requests that wait in the table only.
    """

    def __init__(self, database: Database, gone: Container[int]) -> None:
        self._database = database
        self._gone = gone
        self._heads: dict[int, _Head] = {}
        self._bytes = 0

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
        self._bytes -= _bytes(row)
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
            room -= _bytes(row)
            if len(rows) == most or (room < 0 and len(rows) >= _MIN_COUNT):
                return rows, False
        return rows, True

    def _hold(self, host: int, head: _Head) -> _Head:
        self._heads[host] = head
        self._bytes += sum(map(_bytes, head.rows))
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
            self._bytes -= sum(map(_bytes, head.rows))

    def clear(self) -> None:
        """Drop every host, so that each is read again."""
        self._heads.clear()
        self._bytes = 0


def _bytes(row: Row) -> int:
    return len(row[3]) + len(row[4]) + _ROW_BYTES
