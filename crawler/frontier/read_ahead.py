"""Read ahead the next requests of each host."""

from __future__ import annotations

from bisect import insort
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.storage.states import TODO

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
    f"SELECT -priority, depth, id, url, request FROM requests WHERE state = {TODO} AND host = ?"  # noqa: S608
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
        database: The crawl's database.
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
        """Return the first rows of a host, and whether there are no others."""
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
