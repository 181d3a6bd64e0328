"""Hold links on their way from a worker to the fleet, and remember what was sent lately."""

from __future__ import annotations

from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar

from crawler.frontier.seen import RECENT_KEYS, RECENT_URLS, RecentDepths

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from crawler.frontier.request_records import QueuedLink

N = TypeVar("N")

BATCH = 500
"""Send at most this many links at a time."""

MAX_WAITING = 5_000
"""Ask producers to pause while at least this many links wait."""


class RecentKeys(RecentDepths[bytes]):
    """Replaces ``crawler.frontier.seen.SeenSet`` of a crawl that is alone.

    The exact set is in Redis, where it is asked and added to in one step. This one knows keys that
    were sent there, or are about to be. A forgotten key is sent once more, and dropped there.
    """

    def __init__(self, generation: int = RECENT_KEYS) -> None:
        super().__init__(generation)
        self._untaken: set[bytes] = set()

    def add(self, key: bytes, depth: int = 0) -> bool:
        """Add a key with the number of links to its page; return whether it is new here."""
        if key in self:
            return False
        self._remember(key, depth)
        self._untaken.add(key)
        return True

    def lower(self, key: bytes, depth: int) -> None:
        self._remember(key, depth)

    def take(self, key: bytes) -> bytes | None:
        """Return a key once after it was added, for the request that is sent with it, else None."""
        if key not in self._untaken:
            return None
        self._untaken.remove(key)
        return key

    def discard(self, key: bytes) -> None:
        """Make a key new again that was just added, because its request cannot be sent."""
        if self.take(key) is not None:
            self._forget(key)

    def clear(self) -> None:
        super().clear()
        self._untaken.clear()

    def save(self) -> None:
        """Save nothing: a process that was killed may not have sent the keys that it added."""

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())


class RecentSpellings:
    """Replaces ``crawler.frontier.spellings.StoredSpellings`` of a crawl that is alone.

    Spellings are stored in Redis beside the queue, in the step in which one is chosen. This one
    remembers the spellings that were sent there lately.
    """

    def __init__(self) -> None:
        self._recent = RecentDepths[str](RECENT_URLS)

    def is_wanted(self, key: bytes, url: str) -> bool:
        """Return whether a spelling should be sent; Redis decides whether it is requested."""
        return self._recent.is_new(url, 0)

    def note_asked(self, key: bytes, url: str) -> bool:
        """Return True: Redis knows whether the spelling was requested before."""
        return True

    def clear(self) -> None:
        self._recent.clear()


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
