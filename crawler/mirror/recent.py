"""URLs that were met a short while ago: most links of a page are those of the page before."""

from __future__ import annotations


class RecentUrls:
    """Remembers between ``size`` and twice as many URLs, the oldest are forgotten first."""

    def __init__(self, size: int = 50_000) -> None:
        self._size = size
        self._young: set[str] = set()
        self._old: set[str] = set()

    def is_new(self, url: str) -> bool:
        """Whether a URL was not met lately; from now on it was."""
        if url in self._young:
            return False
        is_new = url not in self._old
        self._young.add(url)
        if len(self._young) >= self._size:
            self._old, self._young = self._young, set()
        return is_new
