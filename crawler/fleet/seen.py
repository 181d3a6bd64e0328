"""What somebody in the fleet has queued already, as far as this worker remembers."""

from __future__ import annotations

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
        self._young: set[bytes] = set()
        self._old: set[bytes] = set()
        self._untaken: set[bytes] = set()

    def __contains__(self, key: bytes) -> bool:
        if key in self._young:
            return True
        if key in self._old:
            self.note(key)
            return True
        return False

    def add(self, key: bytes) -> bool:
        """Add a key; say whether it is new here."""
        if key in self:
            return False
        self.note(key)
        self._untaken.add(key)
        return True

    def note(self, key: bytes) -> None:
        """Remember a key that the fleet has."""
        self._young.add(key)
        if len(self._young) >= self._generation:
            self._old, self._young = self._young, set()

    def take(self, key: bytes) -> bytes | None:
        """The key, for its request that is sent next; None where it was added before."""
        if key not in self._untaken:
            return None
        self._untaken.remove(key)
        return key

    def discard(self, key: bytes) -> None:
        """Make a key new again that was just added, whose request cannot be sent."""
        if self.take(key) is not None:
            self._young.discard(key)
            self._old.discard(key)

    def clear(self) -> None:
        """Forget every key."""
        for keys in (self._young, self._old, self._untaken):
            keys.clear()

    def save(self) -> None:
        """Nothing of it is kept: a process that was killed may not have sent what it added."""

    def __len__(self) -> int:
        return len(self._young | self._old)
