"""The queue of requests in ``crawl.db``: todo, leased, done, failed."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawler.pages.database import Database

TODO, LEASED = range(2)

MOST_TRIES = 2
"""A request whose callback breaks is tried once more, by the next process."""

LEASE_BATCH = 64
"""Requests leased at a time: one statement for many, and what a kill hands back."""


@dataclass(frozen=True, slots=True)
class QueuedRequest:
    """One request of the queue; ``request`` is whatever the owner pickled."""

    id: int
    url: str
    priority: int
    request: bytes


class RequestQueue:
    """Requests by priority, then in order of arrival, which is breadth first.

    A request is leased when it is handed out and leaves the queue only when
    ``finish`` says what became of it. Opening the queue returns the leases of
    a process that died, and what broke in it for the first time, so nothing
    that was queued is ever lost; the memory used does not grow with the queue.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._batch: deque[QueuedRequest] = deque()
        self._restore()
        row = database.read("SELECT count(*) FROM requests WHERE state = 0").fetchone()
        self._todo = int(row[0])
        self._next_id = 1 + int(
            database.read("SELECT coalesce(max(id), 0) FROM requests").fetchone()[0]
        )

    def _restore(self) -> None:
        self._database.write(
            "UPDATE requests SET state = 0 WHERE state IN (1, 3) AND tries < ?", (MOST_TRIES,)
        )

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was queued in this visit yet."""
        return self._database.read("SELECT 1 FROM requests LIMIT 1").fetchone() is None

    def push(self, url: str, priority: int, request: bytes) -> None:
        """Queue a request. Complexity: O(log n)."""
        self._database.write(
            "INSERT INTO requests VALUES (?, 0, 0, ?, ?, ?)",
            (self._next_id, priority, url, request),
        )
        self._next_id += 1
        self._todo += 1
        if self._batch and priority > self._batch[-1].priority:
            self._hand_back()

    def lease(self) -> QueuedRequest | None:
        """The next request, which stays leased until ``finish``; None where there is none."""
        if not self._batch:
            self._fill()
        if not self._batch:
            return None
        self._todo -= 1
        return self._batch.popleft()

    def _fill(self) -> None:
        rows = self._database.read(
            "SELECT id, url, priority, request FROM requests WHERE state = 0"
            " ORDER BY priority DESC, id LIMIT ?",
            (LEASE_BATCH,),
        )
        self._batch.extend(QueuedRequest(*row) for row in rows)
        self._mark(LEASED, [request.id for request in self._batch])

    def _hand_back(self) -> None:
        """Return the batch, because something more urgent came."""
        self._mark(TODO, [request.id for request in self._batch])
        self._batch.clear()

    def finish(self, ids: Collection[int], *, failed: bool = False) -> None:
        """End the leases of requests that are through, or of such as broke.

        What is through is emptied: it may hold passwords and cookies.
        """
        if not ids:
            return
        if failed:
            sql = "UPDATE requests SET state = 3, tries = tries + 1 WHERE id = ?"
        else:
            sql = "UPDATE requests SET state = 2, request = x'' WHERE id = ?"
        self._database.write_many(sql, [(request_id,) for request_id in ids])

    def _mark(self, state: int, ids: Collection[int]) -> None:
        if ids:
            self._database.write_many(
                "UPDATE requests SET state = ? WHERE id = ?", [(state, n) for n in ids]
            )

    def __len__(self) -> int:
        """Requests that wait."""
        return self._todo

    def clear(self) -> None:
        """Forget every request, for another visit."""
        self._batch.clear()
        self._todo = 0
        self._database.write("DELETE FROM requests")

    def close(self) -> None:
        """Return what was leased in advance and not handed out."""
        self._hand_back()
