"""Store the requests that are not made: another one stands for their page, or a trap is closed."""

from __future__ import annotations

import json
from array import array
from typing import TYPE_CHECKING, Final, NamedTuple

from crawler.storage.states import (
    DONE,
    FAILED,
    LEASED,
    SKIPPED,
    UNFINISHED,
    WAITING,
    RequestState,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.frontier.order import Skip
    from crawler.frontier.queue import RequestQueue
    from crawler.storage.database import Database

TRY: Final = "try"
"""The decision to queue a request that tries a rule or replaces one, and that no rule may skip."""


class StandingRequest(NamedTuple):
    """A request in the queue's table; ``is_fixed``: whether no rule may skip it."""

    id: int
    key: bytes | None
    url: str
    is_fixed: int


START: Final = (b"", 0)
"""The address and the number that come before those of every skipped request."""


class SkippedCandidate(NamedTuple):
    """A skipped request that may be made to try rules.

    Attributes:
        rule: The weakest of the rules that skip it.
        depth: Number of links that lead to it from a seed.
        tested: The forms that were fetched of its address, in the format of ``UrlGroup.tested``.
        standing: URL of the request that stands for it.
        standing_depth: Number of links that lead to that one.
    """

    id: int
    url: str
    group: bytes
    rule: int
    depth: int
    tested: str
    standing: str
    standing_depth: int


_CANDIDATES = f"""
WITH slice AS MATERIALIZED (
    SELECT id, url, group_digest, rule, depth FROM requests
    WHERE state = {SKIPPED} AND (group_digest, id) > (?, ?) ORDER BY group_digest, id LIMIT ?
)
SELECT slice.*, tested, standing.url, standing.depth
FROM slice LEFT JOIN url_groups ON url_groups.group_digest = slice.group_digest
LEFT JOIN requests AS standing ON standing.key = url_groups.key
ORDER BY slice.group_digest, slice.id
"""  # noqa: S608

_MAX_OF_GROUP = 200
_OF_GROUP = (
    "SELECT id, url FROM requests"  # noqa: S608
    f" WHERE state = {SKIPPED} AND group_digest = ? LIMIT ?"
)

COUNTS = f"SELECT rule, count(*) FROM requests WHERE state = {SKIPPED} GROUP BY rule"  # noqa: S608

_SKIP = f"UPDATE requests SET state = {SKIPPED}, rule = ?, group_digest = ? WHERE id = ?"  # noqa: S608
_LATE = (
    f"SELECT id, url, priority FROM requests WHERE host = ? AND state = {WAITING}"  # noqa: S608
    " AND priority < -1 AND priority NOT BETWEEN -99 AND -7 AND id > ? ORDER BY id LIMIT ?"
)
_FIX = "UPDATE requests SET fixed = 1 WHERE id = ?"
_PRIORITISE = f"UPDATE requests SET state = {WAITING}, priority = ? WHERE id = ?"  # noqa: S608
_BACK = f"state = {WAITING}, rule = NULL, group_digest = NULL"
_BACK_FOR_GOOD = f"{_BACK}, fixed = 1"
_ALL = f"state = {SKIPPED}"
# By their numbers, and by no index of what is skipped.
_THESE = f"+state = {SKIPPED} AND id IN (SELECT value FROM json_each(?))"  # noqa: S608
_ONE_OF_GROUP = f"id = (SELECT id FROM requests WHERE {_ALL} AND group_digest = ? LIMIT 1)"  # noqa: S608

_WAITING_WITH = f"SELECT host, id FROM requests WHERE key = ? AND state = {WAITING} AND NOT fixed"  # noqa: S608

_COLUMNS = "id, key, url, fixed"

# A partial index is used only if the query has the very words of its condition.
_IN_STATE = {
    WAITING: f"WHERE host = ? AND state = {WAITING}",
    SKIPPED: f"WHERE host = ? AND state = {SKIPPED}",
    DONE: "WHERE host = ? AND url != ''",
    **{
        state: f"INDEXED BY requests_unfinished WHERE host = ? AND state IN ({UNFINISHED})"
        f" AND state = {state}"
        for state in (LEASED, FAILED)
    },
}


class SkippedRequests:
    """Sets requests of a queue aside, whole, and puts them back."""

    def __init__(self, database: Database, queue: RequestQueue) -> None:
        self._database = database
        self._queue = queue

    def ids(self, host: int, state: RequestState) -> array[int]:
        """Return the numbers of a host's requests in a state, eight bytes each.

        No index has those that are done: these are among the numbers of all its requests.
        """
        self._queue.write()
        rows = self._database.read(
            f"SELECT id FROM requests {_IN_STATE[state]}",  # noqa: S608
            (host,),
        )
        return array("q", sorted(number for (number,) in rows))

    def requests(self, ids: Sequence[int], state: RequestState) -> list[StandingRequest]:
        """Return those of some requests that are still in a state."""
        self._queue.write()
        marks = ",".join("?" * len(ids))
        rows = self._database.read(
            f"SELECT {_COLUMNS} FROM requests WHERE id IN ({marks}) AND state = ? ORDER BY id",  # noqa: S608
            (*ids, state),
        )
        return [StandingRequest(*row) for row in rows]

    def counts(self) -> dict[int, int]:
        return dict(self._database.read(COUNTS).fetchall())

    def url(self, key: bytes) -> str | None:
        return self._database.value("SELECT url FROM requests WHERE key = ?", (key,))

    def set_aside(
        self, host: int, skips: Sequence[tuple[int, Skip]], state: RequestState = WAITING
    ) -> None:
        """Set requests of a host aside, so that they are not made.

        Args:
            host: The number of the host.
            skips: The numbers of the requests, with the reasons why they are not made.
            state: That of all of them; skipped ones get another reason.
        """
        sql = f"{_SKIP} AND state = {state}"
        rows = [(skip.rule, skip.group, number) for number, skip in skips]
        changed = self._queue.change(host, sql, rows) if rows else 0
        self._queue.count(-changed if state == WAITING else 0)

    def late(self, host: int, after: int, most: int) -> list[tuple[int, str, int]]:
        """Return number, URL and priority of a host's requests that were given a low one.

        Args:
            host: The number of the host.
            after: The number of a request; those after it are returned.
            most: Return at most this many, in the order of their numbers.

        Complexity: O(late requests of the host), in SQLite.
        """
        self._queue.write()
        return self._database.read(_LATE, (host, after, most)).fetchall()

    def prioritise(
        self, host: int, changed: Sequence[tuple[int, int]], state: RequestState = WAITING
    ) -> None:
        """Let waiting or leased requests of a host wait with other priorities.

        Args:
            host: The number of the host.
            changed: The priorities, each before the number of its request.
            state: That of all of them.
        """
        sql = f"{_PRIORITISE} AND state = {state}"
        found = self._queue.change(host, sql, changed) if changed else 0
        self._queue.count(0 if state == WAITING else found)

    def fix(self, host: int, ids: Sequence[int]) -> None:
        """Let no rule skip some requests of a host from now on."""
        if ids:
            self._queue.change(host, _FIX, [(number,) for number in ids])

    def put_back(self, ids: Sequence[int], *, for_good: bool = False) -> None:
        """Let skipped requests wait again.

        Args:
            ids: The numbers of the requests.
            for_good: Whether no rule may skip them from now on.
        """
        if ids:
            self._queue.let_wait(_BACK_FOR_GOOD if for_good else _BACK, _THESE, json.dumps(ids))

    def of_group(self, group: bytes) -> list[tuple[int, str]]:
        """Return number and URL of the first requests that are skipped at an address."""
        self._queue.write()
        return self._database.read(_OF_GROUP, (group, _MAX_OF_GROUP)).fetchall()

    def put_one_back(self, group: bytes) -> bool:
        """Let another request for an address wait, for good; return whether one was skipped."""
        return self._queue.let_wait(_BACK_FOR_GOOD, _ONE_OF_GROUP, group) > 0

    def put_key_back(self, key: bytes) -> bool:
        """Let the request with a fingerprint wait, for good; return whether it was skipped."""
        return self._queue.let_wait(_BACK_FOR_GOOD, f"{_ALL} AND key = ?", key) > 0

    def keep(self, key: bytes) -> None:
        """Let the request with a fingerprint wait if it is skipped; no rule may skip it then."""
        if not self.put_key_back(key):
            self._queue.write()
            rows = self._database.read(_WAITING_WITH, (key,)).fetchall()
            for host, number in rows:
                self.fix(host, [number])

    def candidates(
        self, after: tuple[bytes, int], most: int
    ) -> tuple[list[SkippedCandidate], tuple[bytes, int] | None]:
        """Return those of some skipped requests for which others stand.

        They are sorted by the digests of their addresses, so in random order.

        Args:
            after: The address and the number of a skipped request; those after it are looked at.
            most: Look at most at this many.

        Returns:
            Those that rules skip, and the last request that was looked at; None where no more
            follow.

        Complexity: O(most * log requests).
        """
        self._queue.write()
        self._database.flush("url_groups")
        rows = self._database.read(_CANDIDATES, (*after, most)).fetchall()
        found = [SkippedCandidate(*row) for row in rows if row[3] > 0 and row[6] is not None]
        return found, (rows[-1][2], rows[-1][0]) if len(rows) == most else None

    def put_back_rule(self, rule: int) -> int:
        """Let all requests that a rule skipped wait again; return how many."""
        return self._queue.let_wait(_BACK, f"{_ALL} AND rule = ?", rule)

    def put_all_back(self) -> int:
        """Let all requests that are skipped wait again; return how many."""
        return self._queue.let_wait(_BACK, _ALL)
