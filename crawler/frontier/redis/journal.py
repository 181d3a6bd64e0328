"""What was pushed lately, in case the server loses it."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.frontier.redis.request_records import QueuedLink

KEPT_SECS = 5.0
"""A server that syncs its file every second may lose two seconds where it is killed."""


class Journal:
    """Links by the time when they were pushed, of the last seconds.

    On one server nothing hangs on it: where a push is lost, so is the end of its page's lease. In
    a cluster that may be in another node.
    """

    def __init__(self) -> None:
        self._pushed: deque[tuple[float, Sequence[QueuedLink]]] = deque()

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self._pushed)

    def note(self, links: Sequence[QueuedLink], now: float) -> None:
        """Take note of links that the server has."""
        self._pushed.append((now, links))

    def forget(self, now: float) -> None:
        """Forget what was pushed long before ``now``, when the server still had all of it."""
        while self._pushed and self._pushed[0][0] < now - KEPT_SECS:
            self._pushed.popleft()

    def take(self) -> list[QueuedLink]:
        """The links, which are forgotten with that."""
        links = [link for _, some in self._pushed for link in some]
        self._pushed.clear()
        return links
