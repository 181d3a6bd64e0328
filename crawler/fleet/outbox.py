"""Hold links on their way from a worker to the fleet."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from crawler.frontier.request_records import QueuedLink

N = TypeVar("N")

BATCH = 500
"""Send at most this many links at a time."""

MAX_WAITING = 5_000
"""Ask producers to pause while at least this many links wait."""


class Outbox(Generic[N]):
    """Holds links until the frontier has them, in the order in which they were found.

    A lease is acknowledged only after every link that was here when its page was finished has been
    sent: a worker that dies before loses links, but not their page.

    Attributes:
        added: Number of links that were ever added.
    """

    def __init__(self) -> None:
        self._links: deque[tuple[QueuedLink, N | None]] = deque()
        self.added = 0

    def add(self, link: QueuedLink, note: N | None = None) -> None:
        """Add a link.

        Args:
            link: Link that is to be queued.
            note: Value that ``flush`` returns if the fleet had the link already.
        """
        self._links.append((link, note))
        self.added += 1

    async def flush(
        self, push: Callable[[Sequence[QueuedLink]], Awaitable[Sequence[bool]]]
    ) -> list[N]:
        """Send the waiting links; an interrupted call loses none.

        Args:
            push: Function that queues links and returns of each whether it was new; it may queue
                a link twice.

        Returns:
            The notes of links that were not new.
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
        """Whether producers that can pause should add no more links."""
        return len(self._links) >= MAX_WAITING

    def __len__(self) -> int:
        return len(self._links)
