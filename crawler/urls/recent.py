"""Remember URLs that were met a short while ago, since most links of a page are met again."""

from __future__ import annotations


class RecentUrls:
    """Remembers between ``size`` and twice as many URLs; the oldest are forgotten first."""

    def __init__(self, size: int = 50_000) -> None:
        self._size = size
        self._young: dict[str, int] = {}
        self._old: dict[str, int] = {}

    def is_new(self, url: str, depth: int) -> bool:
        """Return whether a URL was not met lately as near to a seed, and remember it."""
        known = self._young.get(url)
        if known is not None and known <= depth:
            return False
        before = self._old.get(url) if known is None else known
        is_new = before is None or before > depth
        self._young[url] = depth if is_new or before is None else before
        if len(self._young) >= self._size:
            self._old, self._young = self._young, {}
        return is_new
