"""The queue of a crawl that keeps nothing: requests as they are, gone with the process."""

from __future__ import annotations

import heapq
from itertools import count
from typing import TYPE_CHECKING, Any

from crawler.frontier.order import QueuedRequest, next_in_turn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from crawler.frontier.order import Load


class MemoryQueue:
    """Requests of any kind by host, handed out as ``crawler.frontier.order`` says."""

    def __init__(self) -> None:
        self._hosts: dict[int, list[tuple[int, int, int, QueuedRequest]]] = {}
        # A dict keeps the order in which hosts came to the end of their line.
        self._lines: dict[int, dict[int, None]] = {}
        self._ids = count(1)
        self._waiting = 0
        self.is_untouched = True

    def push(  # noqa: PLR0913  # what a request consists of
        self,
        host: int,
        url: str,
        priority: int,
        request: Any,
        key: bytes | None = None,
        *,
        depth: int = 0,
        is_fixed: bool = False,
    ) -> None:
        """Queue a request; what is seen is not known here. Complexity: O(log n of its host)."""
        self.is_untouched = False
        queued = QueuedRequest(next(self._ids), host, url, priority, request, depth)
        requests = self._hosts.setdefault(host, [])
        urgency = -requests[0][0] if requests else None
        if urgency is None or priority > urgency:
            if urgency is not None:
                self._leave(host, urgency)
            self._stand(host, priority)
        heapq.heappush(requests, (-priority, depth, queued.id, queued))
        self._waiting += 1

    def lease(self, load: Load) -> QueuedRequest | None:
        """The next request of a host with room, None where there is none."""
        host = next_in_turn(self._in_line(), load)
        if host is None:
            return None
        requests = self._hosts[host]
        queued = heapq.heappop(requests)[3]
        self._leave(host, queued.priority)
        if requests:
            self._stand(host, -requests[0][0])
        else:
            del self._hosts[host]
        self._waiting -= 1
        return queued

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
        """Nothing is held of what was handed out."""

    def __len__(self) -> int:
        """Requests that wait."""
        return self._waiting

    def clear(self) -> None:
        """Forget every request."""
        self._hosts.clear()
        self._lines.clear()
        self._waiting = 0
        self.is_untouched = True
