"""The queue of a crawl without a directory: requests in memory, gone with the process."""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING

from crawler.frontier.order import QueuedRequest, next_in_turn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawler.frontier.order import Load, NewRequest, ShorterWay


class MemoryQueue:
    """Requests of any kind by host, leased in the order of ``crawler.frontier.order``."""

    def __init__(self) -> None:
        self._hosts: dict[int, list[tuple[int, int, int, QueuedRequest]]] = {}
        # A dict keeps the order in which hosts came to the end of their line.
        self._lines: dict[int, dict[int, None]] = {}
        self._ids = count(1)
        self._waiting = 0
        # Keys of waiting requests; by id, the keys of leased ones, and their successors by key.
        self._by_key: dict[bytes, QueuedRequest] = {}
        self._under_way: dict[int, bytes] = {}
        self._again: dict[bytes, QueuedRequest] = {}
        self._keys: dict[int, bytes] = {}
        self._replaced: set[tuple[int, int]] = set()
        self.is_untouched = True

    def push(self, new: NewRequest) -> None:
        """Queue a request, seen or not. Complexity: O(log n of its host)."""
        queued = QueuedRequest(
            next(self._ids), new.host, new.url, new.priority, new.request, new.depth
        )
        self._push(queued, new.key)

    def _push(self, queued: QueuedRequest, key: bytes | None) -> None:
        self.is_untouched = False
        host, priority = queued.host, queued.priority
        if key is not None:
            self._by_key[key] = queued
            self._keys[queued.id] = key
        requests = self._hosts.setdefault(host, [])
        urgency = -requests[0][0] if requests else None
        if urgency is None or priority > urgency:
            if urgency is not None:
                self._leave(host, urgency)
            self._stand(host, priority)
        heapq.heappush(requests, (-priority, queued.depth, queued.id, queued))
        self._waiting += 1

    def lease(self, load: Load) -> QueuedRequest | None:
        host = next_in_turn(self._in_line(), load)
        if host is None:
            return None
        requests = self._hosts[host]
        queued = heapq.heappop(requests)[3]
        key = self._keys.pop(queued.id, None)
        if key is not None:
            self._by_key.pop(key, None)
            self._under_way[queued.id] = key
        self._leave(host, queued.priority)
        while requests and self._is_replaced(requests[0][3]):
            heapq.heappop(requests)
        if requests:
            self._stand(host, -requests[0][0])
        else:
            del self._hosts[host]
        self._waiting -= 1
        return queued

    def put_back(self, queued: QueuedRequest, *, is_changed: bool = False) -> None:
        """Let a leased request wait again, at the least depth that is known by now."""
        key = self._under_way.pop(queued.id, None)
        again = None if key is None else self._again.pop(key, None)
        if again is not None:
            queued = queued._replace(depth=again.depth)
        self._push(queued, key)

    def _in_line(self) -> Iterator[tuple[int, int]]:
        for priority in sorted(self._lines, reverse=True):
            for host in self._lines[priority]:
                yield host, priority

    def _stand(self, host: int, priority: int) -> None:
        self._lines.setdefault(priority, {})[host] = None

    def _leave(self, host: int, priority: int) -> None:
        del self._lines[priority][host]
        if not self._lines[priority]:
            del self._lines[priority]

    def finish(self, ids: Collection[int], *, failed: bool = False) -> None:
        """End leases; a request that a shorter way was found to is queued again."""
        for number in ids:
            key = self._under_way.pop(number, None)
            queued = None if key is None else self._again.pop(key, None)
            if queued is not None and not failed:
                self._push_again(queued, key)

    def lower(self, way: ShorterWay) -> None:
        """Lower the depth of a page to that of a shorter way; see ``RequestQueue.lower``."""
        waiting = self._by_key.get(way.key)
        if waiting is not None:
            self._waiting -= 1  # the entry that it replaces stays in the heap until it is first
            self._replaced.add((waiting.id, waiting.depth))
            self._push_again(waiting._replace(depth=way.depth), way.key)
        elif way.again is not None:
            number = next(self._ids)
            queued = QueuedRequest(number, way.host, way.url, way.priority, way.again, way.depth)
            if way.key in self._under_way.values():
                self._again[way.key] = queued
            else:
                self._push_again(queued, way.key)

    def _push_again(self, queued: QueuedRequest, key: bytes | None) -> None:
        """Queue a request; its host goes to the end of the line, as on disk."""
        self._push(queued, key)
        urgency = -self._hosts[queued.host][0][0]
        self._leave(queued.host, urgency)
        self._stand(queued.host, urgency)

    def _is_replaced(self, queued: QueuedRequest) -> bool:
        is_replaced = (queued.id, queued.depth) in self._replaced
        self._replaced.discard((queued.id, queued.depth))
        return is_replaced

    def __len__(self) -> int:
        return self._waiting

    def clear(self) -> None:
        self._by_key.clear()
        self._under_way.clear()
        self._again.clear()
        self._keys.clear()
        self._replaced.clear()
        self._hosts.clear()
        self._lines.clear()
        self._waiting = 0
        self.is_untouched = True
