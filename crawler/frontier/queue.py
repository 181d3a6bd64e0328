"""The queue of requests in ``crawl.db``: todo, leased, done, failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.frontier.order import QueuedRequest, next_in_turn

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawler.frontier.order import Load
    from crawler.pages.database import Database

MOST_TRIES = 2
"""A request whose callback breaks is tried once more, by the next process."""

_STAND = (
    "INSERT INTO hosts VALUES (?, ?, ?) ON CONFLICT (host) DO UPDATE"
    " SET priority = excluded.priority, turn = excluded.turn"
    " WHERE excluded.priority > priority"
)
_UNFINISHED = "state IN (1, 3) AND tries < ?"


class RequestQueue:
    """Requests handed out as ``crawler.frontier.order`` says.

    A request is leased when it is handed out and leaves the queue only when
    ``finish`` says what became of it. Opening the queue returns the leases of
    a process that died, and what broke in it for the first time, so nothing
    that was queued is ever lost.

    The lines of hosts are the table ``hosts``, the queue of a host is a stretch
    of the index ``requests_todo``; memory holds the leases and nothing else, so
    it grows neither with the queue nor with the hosts.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        # Handed out, and still todo in the table: most are through before the next commit.
        self._unmarked: set[int] = set()
        database.before_commit.append(self._mark_leases)
        self._turn = self._number("SELECT coalesce(max(turn), 0) FROM hosts")
        self._restore()
        self._todo = self._number("SELECT count(*) FROM requests WHERE state = 0")
        self._last_id = self._number("SELECT coalesce(max(id), 0) FROM requests")

    def _number(self, sql: str) -> int:
        return int(self._database.read(sql).fetchone()[0])

    def _restore(self) -> None:
        """Put back what was leased, or broke, in another process; its hosts stand in line again."""
        hosts = self._database.read(
            f"SELECT host, max(priority) FROM requests WHERE {_UNFINISHED}"  # noqa: S608
            " GROUP BY host ORDER BY min(id)",
            (MOST_TRIES,),
        )
        while some := hosts.fetchmany(1000):
            self._database.write_many(
                _STAND, [(host, priority, self._next_turn()) for host, priority in some]
            )
        self._database.write(
            f"UPDATE requests SET state = 0 WHERE {_UNFINISHED}",  # noqa: S608
            (MOST_TRIES,),
        )

    def _next_turn(self) -> int:
        self._turn += 1
        return self._turn

    @property
    def is_untouched(self) -> bool:
        """Whether nothing was queued in this visit yet."""
        return self._database.read("SELECT 1 FROM requests LIMIT 1").fetchone() is None

    def push(self, host: int, url: str, priority: int, request: bytes) -> None:
        """Queue a request. Complexity: O(log n)."""
        self._last_id += 1
        self._database.write(
            "INSERT INTO requests VALUES (?, 0, 0, ?, ?, ?, ?)",
            (self._last_id, priority, host, url, request),
        )
        self._database.write(_STAND, (host, priority, self._next_turn()))
        self._todo += 1

    def lease(self, load: Load) -> QueuedRequest | None:
        """The next request of a host with room, which stays leased until ``finish``.

        Complexity: O(log n + hosts that are under way).
        """
        line = self._database.read("SELECT host, priority FROM hosts ORDER BY priority DESC, turn")
        host = next_in_turn(line, load)
        line.close()
        if host is None:
            return None
        (request_id, priority), following = self._first_two(host)
        self._move_on(host, following)
        self._unmarked.add(request_id)
        self._todo -= 1
        url, request = self._database.read(
            "SELECT url, request FROM requests WHERE id = ?", (request_id,)
        ).fetchone()
        return QueuedRequest(request_id, host, url, priority, request)

    def _first_two(self, host: int) -> tuple[tuple[int, int], tuple[int, int] | None]:
        """Id and priority of the request to lease, and of the one that the host has after it."""
        rows = self._database.read(
            "SELECT id, priority FROM requests WHERE state = 0 AND host = ?"
            " ORDER BY priority DESC, id",
            (host,),
        )
        waiting: Any = (row for row in rows if row[0] not in self._unmarked)
        first, second = next(waiting), next(waiting, None)
        rows.close()
        return first, second

    def _move_on(self, host: int, following: tuple[int, int] | None) -> None:
        """Send a host that is served to the end of the line of its next request."""
        if following is None:
            self._database.write("DELETE FROM hosts WHERE host = ?", (host,))
        else:
            self._database.write(
                "UPDATE hosts SET priority = ?, turn = ? WHERE host = ?",
                (following[1], self._next_turn(), host),
            )

    def _mark_leases(self) -> None:
        """Note what is handed out, so that whoever opens the queue next puts it back."""
        if self._unmarked:
            ids = [(request_id,) for request_id in sorted(self._unmarked)]
            self._database.write_many("UPDATE requests SET state = 1 WHERE id = ?", ids)
            self._unmarked.clear()

    def finish(self, ids: Collection[int], *, failed: bool = False) -> None:
        """End the leases of requests that are through, or of such as broke.

        What is through is emptied: it may hold passwords and cookies.
        """
        if failed:
            sql = "UPDATE requests SET state = 3, tries = tries + 1 WHERE id = ?"
        else:
            sql = "UPDATE requests SET state = 2, request = x'' WHERE id = ?"
        self._database.write_many(sql, [(request_id,) for request_id in ids])
        self._unmarked.difference_update(ids)
        self._database.count_work(len(ids))

    def __len__(self) -> int:
        """Requests that wait."""
        return self._todo

    def clear(self) -> None:
        """Forget every request, for another visit."""
        self._unmarked.clear()
        self._todo = 0
        self._database.write("DELETE FROM requests")
        self._database.write("DELETE FROM hosts")
