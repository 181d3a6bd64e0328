"""The set of request fingerprints that were ever queued: the keys of the table of requests."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Generic, TypeVar

from crawler.storage import meta_names
from crawler.storage.states import DONE
from neardup.bloom import ScalableBloomFilter
from neardup.errors import IndexFileError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from crawler.storage.database import Database

logger = logging.getLogger(__name__)

BLOOM_CAPACITY = 1_000_000
BLOOM_ERROR_RATE = 0.001

MAX_UNWRITTEN = 10_000
"""Keep at most this many keys in memory that wait for a row."""

_MARK = (
    "INSERT INTO requests (state, tries, priority, depth, host, url, key, fixed, request)"  # noqa: S608
    f" VALUES ({DONE}, 0, 0, ?2, 0, '', ?1, 1, x'')"
)
_MARK_ALL = (
    "INSERT OR IGNORE INTO requests"
    " (state, tries, priority, depth, host, url, key, fixed, request)"
    f" SELECT {DONE}, 0, 0, depth, 0, '', key, 1, x'' FROM"
)
_KEYS = "FROM requests WHERE key IS NOT NULL"

RECENT_KEYS = 50_000
"""Keep the depths of the keys of two generations of this size in memory.

A key takes about 100 bytes. Nearly every link of a page was met a moment ago, and a look into
SQLite takes 5 us.
"""


RECENT_URLS = 20_000
"""Remember two generations of this many URLs."""

K = TypeVar("K", bytes, str)


class RecentDepths(Generic[K]):
    """Remembers the depths of keys that were met lately: most links of a page are met again.

    Args:
        size: The number of keys of a generation. Two are remembered, and the older one is forgotten
            as a whole.

    Attributes:
        young: The keys of the younger generation, with their depths.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self.young: dict[K, int] = {}
        self._old: dict[K, int] = {}

    def __contains__(self, key: K) -> bool:
        return self.depth(key) is not None

    def depth(self, key: K) -> int | None:
        """Return the least known depth of a key, None for one that was not met lately."""
        depth = self.young.get(key)
        if depth is None and (depth := self._old.get(key)) is not None:
            self._remember(key, depth)
        return depth

    def is_new(self, key: K, depth: int) -> bool:
        """Return whether a key was not met lately as near to a seed, and remember it."""
        known = self.young.get(key)
        if known is not None and known <= depth:
            return False
        before = self._old.get(key) if known is None else known
        is_new = before is None or before > depth
        self._remember(key, depth if is_new or before is None else before)
        return is_new

    def _remember(self, key: K, depth: int) -> None:
        self.young[key] = depth
        if len(self.young) >= self._size:
            self._old, self.young = self.young, {}

    def _forget(self, key: K) -> None:
        self.young.pop(key, None)
        self._old.pop(key, None)

    def clear(self) -> None:
        self.young.clear()
        self._old.clear()


class SeenKeys(RecentDepths[bytes]):
    """The keys that were queued lately, with their depths: those that were sent to a fleet.

    There the exact set is in Redis, where it is asked and added to in one step. This one knows keys
    that were sent there, or are about to be. A forgotten key is sent once more, and dropped there.
    """

    def __init__(self, size: int = RECENT_KEYS) -> None:
        super().__init__(size)
        self._untaken: dict[bytes, int] = {}

    def add(self, key: bytes, depth: int = 0) -> bool:
        """Add a key with the number of links to its page; return whether it is new."""
        if key in self:
            return False
        self._untaken[key] = depth
        self._remember(key, depth)
        return True

    def lower(self, key: bytes, depth: int) -> None:
        """Note a smaller depth of a page that was queued; the queue changes its row."""
        if key in self._untaken:
            self._untaken[key] = depth
        self._remember(key, depth)

    def take(self, key: bytes) -> bytes | None:
        """Return a key once after it was added, for the request that is queued with it."""
        return None if self._untaken.pop(key, None) is None else key

    def discard(self, key: bytes) -> None:
        """Make a key new again that was just added, because its request cannot be queued."""
        if self.take(key) is not None:
            self._forget(key)

    def clear(self) -> None:
        """Remove every key, for another visit."""
        super().clear()
        self._untaken.clear()

    def save(self) -> None:
        """Save nothing: a process that was killed may not have sent the keys that it added."""

    def __len__(self) -> int:
        return len(self.young.keys() | self._old.keys())


class SeenSet(SeenKeys):
    """The keys of a crawl that is alone: a Bloom filter, the exact set in ``crawl.db`` after it.

    The filter says "never" for certain and at once; a key that it believes to have
    met is looked up in the table ``requests``, so that no page is ever lost to a
    false positive. At ten million keys it takes about 2 bytes a key for the
    filter, 10 MB for recent keys and 32 MB for SQLite's cache.

    A key waits in memory for the row of its request, which gets it from ``take``:
    queue and set are one INSERT. A key left at the commit, because its request
    is queued elsewhere or never, gets a row that is done from the start, without a URL.

    Args:
        bloom_path: Path of the filter's file, or None.

    Files:
        seen.bloom: The filter, valid only after a clean close: it is removed
            when the set is opened, and rebuilt from the table where it is
            missing, damaged or counts other than the table.
    """

    def __init__(self, database: Database, bloom_path: Path | None) -> None:
        super().__init__()
        self._database = database
        self._bloom_path = bloom_path
        self._count = int(database.read(f"SELECT count(*) {_KEYS}").fetchone()[0])
        self._bloom = self._open_bloom()
        database.before_commit.append(self._write)

    def _open_bloom(self) -> ScalableBloomFilter:
        bloom = None
        if self._bloom_path is not None and self._bloom_path.exists():
            try:
                bloom = ScalableBloomFilter.load(self._bloom_path)
            except IndexFileError as error:
                logger.warning("%s; it is made again from crawl.db", error)
            self._bloom_path.unlink()
        # Not the filter's own count, which lacks each key that it took for a known one.
        saved = self._database.meta(meta_names.BLOOM_KEYS)
        if bloom is not None and saved == str(self._count):
            return bloom
        bloom = ScalableBloomFilter(BLOOM_CAPACITY, BLOOM_ERROR_RATE)
        for (key,) in self._database.read(f"SELECT key {_KEYS}"):
            bloom.add_digest(key)
        return bloom

    def depth(self, key: bytes) -> int | None:
        """Return the least known depth of a page; None where it was never queued."""
        depth = super().depth(key)
        if depth is None and self._bloom.has_digest(key):
            depth = self._stored_depth(key)
            if depth is not None:
                self._remember(key, depth)
        return depth

    def add(self, key: bytes, depth: int = 0) -> bool:
        if len(self._untaken) >= MAX_UNWRITTEN:
            self._write()  # before, since the row of the new key is that of its request
        if not super().add(key, depth):
            return False
        self._bloom.add_digest(key)
        self._count += 1
        return True

    def add_selected(self, select: str, parameters: Sequence[object]) -> None:
        """Add the keys and depths that a query of the crawl's database yields.

        Complexity: O(keys), some microseconds each, in two steps: SQLite's and the filter's.
        """
        self._write()
        self._count += self._database.write(f"{_MARK_ALL} ({select})", parameters).rowcount
        for key, _ in self._database.read(select, parameters):
            self._bloom.add_digest(key)

    def discard(self, key: bytes) -> None:
        """Remove a key that was just added, since its request cannot be queued.

        The filter continues to believe that it met the key. A key with a row stays.
        """
        self._count -= key in self._untaken
        super().discard(key)

    def _write(self) -> None:
        if self._untaken:
            self._database.write_many(_MARK, sorted(self._untaken.items()))
            self._untaken.clear()

    def _stored_depth(self, key: bytes) -> int | None:
        if key in self._untaken:
            return self._untaken[key]
        return self._database.value("SELECT depth FROM requests WHERE key = ?", (key,))

    def __len__(self) -> int:
        return self._count

    def clear(self) -> None:
        """Remove every key, for another visit, after the queue was cleared."""
        super().clear()
        self._database.empty("requests")
        self._count = 0
        self._bloom = ScalableBloomFilter(BLOOM_CAPACITY, BLOOM_ERROR_RATE)

    def save(self) -> None:
        """Commit, and save the filter after it; nothing may be added from then on."""
        if self._bloom_path is not None:
            self._database.set_meta(meta_names.BLOOM_KEYS, str(self._count))
            self._database.commit()
            self._bloom.save(self._bloom_path)
