"""What somebody in the fleet has queued already, as far as this worker remembers."""

from __future__ import annotations

from crawler.urls.recent import RecentUrls

GENERATION = 200_000
"""Keys of two generations of this size are held, about 90 bytes each."""


class RecentKeys:
    """Stands where a crawl that is alone has ``crawler.frontier.seen``.

    The exact set is in Redis, where it is asked and added to in one step. This one
    knows keys that were sent there, or are about to be: nearly every link of a page
    was met a moment ago. What it has forgotten is sent once more, and dropped there.
    """

    def __init__(self, generation: int = GENERATION) -> None:
        self._generation = generation
        self._young: dict[bytes, int] = {}
        self._old: dict[bytes, int] = {}
        self._untaken: set[bytes] = set()

    def __contains__(self, key: bytes) -> bool:
        return self.depth(key) is not None

    def depth(self, key: bytes) -> int | None:
        """Return how many links lead to a page, as far as it is known here; None: not met."""
        depth = self._young.get(key)
        if depth is None and (depth := self._old.get(key)) is not None:
            self.lower(key, depth)
        return depth

    def add(self, key: bytes, depth: int = 0) -> bool:
        """Add a key, and how many links lead to its page; say whether it is new here."""
        if key in self:
            return False
        self.lower(key, depth)
        self._untaken.add(key)
        return True

    def lower(self, key: bytes, depth: int) -> None:
        """Remember a key that the fleet has, and how many links lead to its page."""
        self._young[key] = depth
        if len(self._young) >= self._generation:
            self._old, self._young = self._young, {}

    def take(self, key: bytes) -> bytes | None:
        """The key, for its request that is sent next; None where it was added before."""
        if key not in self._untaken:
            return None
        self._untaken.remove(key)
        return key

    def discard(self, key: bytes) -> None:
        """Make a key new again that was just added, whose request cannot be sent."""
        if self.take(key) is not None:
            self._young.pop(key, None)
            self._old.pop(key, None)

    def clear(self) -> None:
        """Forget every key."""
        self._young.clear()
        self._old.clear()
        self._untaken.clear()

    def save(self) -> None:
        """Nothing of it is kept: a process that was killed may not have sent what it added."""

    def __len__(self) -> int:
        return len(self._young.keys() | self._old.keys())


class RecentSpellings:
    """Stands where a crawl that is alone has ``crawler.frontier.spellings.StoredSpellings``.

    Spellings are stored in Redis beside the queue, in the step in which one is chosen. This one
    knows which were sent there lately.
    """

    def __init__(self) -> None:
        self._recent = RecentUrls()

    def is_wanted(self, key: bytes, url: str) -> bool:
        """Whether a spelling is to be sent: Redis decides what becomes of it."""
        return self._recent.is_new(url, 0)

    def note_asked(self, key: bytes, url: str) -> bool:
        """Let Redis tell whether it was asked before."""
        return True

    def clear(self) -> None:
        """Forget what was sent."""
        self._recent = RecentUrls()
