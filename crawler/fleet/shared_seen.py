"""Remember the keys and spellings that this worker sent to the fleet lately."""

from __future__ import annotations

from crawler.urls.recent import RecentUrls

GENERATION = 200_000
"""Hold keys of two generations of this size, at about 90 bytes a key."""


class RecentKeys:
    """Replaces ``crawler.frontier.seen`` of a crawl that is alone.

    The exact set is in Redis, where it is asked and added to in one step. This one knows keys that
    were sent there, or are about to be: nearly every link of a page was met a moment ago. A
    forgotten key is sent once more, and dropped there.
    """

    def __init__(self, generation: int = GENERATION) -> None:
        self._generation = generation
        self._young: dict[bytes, int] = {}
        self._old: dict[bytes, int] = {}
        self._untaken: set[bytes] = set()

    def __contains__(self, key: bytes) -> bool:
        return self.depth(key) is not None

    def depth(self, key: bytes) -> int | None:
        """Return the number of links that lead to a page, as far as it is known here, or None."""
        depth = self._young.get(key)
        if depth is None and (depth := self._old.get(key)) is not None:
            self.lower(key, depth)
        return depth

    def add(self, key: bytes, depth: int = 0) -> bool:
        """Add a key with the number of links to its page; return whether it is new here."""
        if key in self:
            return False
        self.lower(key, depth)
        self._untaken.add(key)
        return True

    def lower(self, key: bytes, depth: int) -> None:
        """Remember a key that the fleet has, and the number of links that lead to its page."""
        self._young[key] = depth
        if len(self._young) >= self._generation:
            self._old, self._young = self._young, {}

    def take(self, key: bytes) -> bytes | None:
        """Return a key once after it was added, for the request that is sent with it, else None."""
        if key not in self._untaken:
            return None
        self._untaken.remove(key)
        return key

    def discard(self, key: bytes) -> None:
        """Make a key new again that was just added, because its request cannot be sent."""
        if self.take(key) is not None:
            self._young.pop(key, None)
            self._old.pop(key, None)

    def clear(self) -> None:
        """Forget every key."""
        self._young.clear()
        self._old.clear()
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
        self._recent = RecentUrls()

    def is_wanted(self, key: bytes, url: str) -> bool:
        """Return whether a spelling should be sent; Redis decides whether it is requested."""
        return self._recent.is_new(url, 0)

    def note_asked(self, key: bytes, url: str) -> bool:
        """Return True: Redis knows whether the spelling was requested before."""
        return True

    def clear(self) -> None:
        """Forget the spellings that were sent."""
        self._recent = RecentUrls()
