"""Links on their way from a worker to the frontier that the fleet shares."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from crawler.frontier.redis.request_records import QueuedLink

N = TypeVar("N")

BATCH = 500
"""Links that are sent at a time."""

MAX_WAITING = 5_000
"""Whoever can wait adds no more while so many wait."""


class Outbox(Generic[N]):
    """Holds links until the frontier has them, in the order in which they were found.

    A lease is acknowledged only after everything was sent that was in here when its
    page was through: a worker that dies before loses links, and not their page.

    Attributes:
        added: Links that were ever added.
    """

    def __init__(self) -> None:
        self._links: deque[tuple[QueuedLink, N | None]] = deque()
        self.added = 0

    def add(self, link: QueuedLink, note: N | None = None) -> None:
        """Add a link.

        Args:
            link: What is to be queued.
            note: Given back by ``flush`` where the fleet had it already.
        """
        self._links.append((link, note))
        self.added += 1

    async def flush(
        self, push: Callable[[Sequence[QueuedLink]], Awaitable[Sequence[bool]]]
    ) -> list[N]:
        """Send what is there; one that is stopped in the middle loses nothing.

        Args:
            push: Queues links, and says of each whether it was new; may do so twice.

        Returns:
            The notes of those that were not new.
        """
        known = []
        for _ in range(-(-len(self._links) // BATCH)):
            batch = list(islice(self._links, BATCH))
            is_new = await push([link for link, _ in batch])
            for (_, note), new in zip(batch, is_new, strict=True):
                self._links.popleft()
                if note is not None and not new:
                    known.append(note)
        return known

    @property
    def is_full(self) -> bool:
        """Whether whoever can wait is to add no more."""
        return len(self._links) >= MAX_WAITING

    def __len__(self) -> int:
        return len(self._links)
