"""The set of request fingerprints that were ever queued."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from neardup import IndexFileError, ScalableBloomFilter

if TYPE_CHECKING:
    from pathlib import Path

    from crawler.pages.database import Database

logger = logging.getLogger(__name__)

BLOOM_CAPACITY = 1_000_000
BLOOM_ERROR_RATE = 0.001

_SAVED_KEYS = "bloom_keys"

RECENT_KEYS = 200_000
"""Keys of two generations of this size are held as they are, about 90 bytes each:
nearly every link of a page was met a moment ago, and a look into SQLite takes 5 us."""


class SeenSet:
    """Keys of 16 bytes: a Bloom filter first, the exact set in ``crawl.db`` after it.

    The filter says "never" for certain and at once; what it believes to have
    met is looked up in the table ``seen``, so that no page is ever lost to a
    false positive. At ten million keys it takes about 2 bytes a key for the
    filter, 36 MB for recent keys and 32 MB for SQLite's cache.

    Args:
        database: The crawl's database.
        bloom_path: Where the filter is saved at close, or None.

    Files:
        seen.bloom: The filter, valid only after a clean close: it is removed
        when the set is opened, and made again from the table where it is
        missing, damaged or counts other than the table.
    """

    def __init__(self, database: Database, bloom_path: Path | None) -> None:
        self._database = database
        self._bloom_path = bloom_path
        self._young: set[bytes] = set()
        self._old: set[bytes] = set()
        self._count = int(database.read("SELECT count(*) FROM seen").fetchone()[0])
        self._bloom = self._open_bloom()

    def _open_bloom(self) -> ScalableBloomFilter:
        bloom = None
        if self._bloom_path is not None and self._bloom_path.exists():
            try:
                bloom = ScalableBloomFilter.load(self._bloom_path)
            except IndexFileError as error:
                logger.warning("%s; it is made again from crawl.db", error)
            self._bloom_path.unlink()
        # Not the filter's own count, which lacks each key that it took for a known one.
        saved = self._database.meta(_SAVED_KEYS)
        if bloom is not None and saved == str(self._count):
            return bloom
        bloom = ScalableBloomFilter(BLOOM_CAPACITY, BLOOM_ERROR_RATE)
        for (key,) in self._database.read("SELECT key FROM seen"):
            bloom.add(key)
        return bloom

    def __contains__(self, key: bytes) -> bool:
        if key in self._young:
            return True
        if key in self._old or (key in self._bloom and self._is_stored(key)):
            self._remember(key)
            return True
        return False

    def add(self, key: bytes) -> bool:
        """Add a key; say whether it is a new one."""
        if key in self:
            return False
        self._database.write("INSERT INTO seen VALUES (?)", (key,))
        self._bloom.add(key)
        self._count += 1
        self._remember(key)
        return True

    def discard(self, key: bytes) -> None:
        """Forget a key, so that it is new again; the filter goes on believing that it met it."""
        if key in self:
            self._database.write("DELETE FROM seen WHERE key = ?", (key,))
            self._count -= 1
            self._young.discard(key)
            self._old.discard(key)

    def _is_stored(self, key: bytes) -> bool:
        return (
            self._database.read("SELECT 1 FROM seen WHERE key = ?", (key,)).fetchone() is not None
        )

    def _remember(self, key: bytes) -> None:
        self._young.add(key)
        if len(self._young) >= RECENT_KEYS:
            self._old, self._young = self._young, set()

    def __len__(self) -> int:
        return self._count

    def clear(self) -> None:
        """Forget every key, for another visit."""
        self._database.write("DELETE FROM seen")
        self._young, self._old, self._count = set(), set(), 0
        self._bloom = ScalableBloomFilter(BLOOM_CAPACITY, BLOOM_ERROR_RATE)

    def save(self) -> None:
        """Commit, and save the filter after it; nothing may be added from then on."""
        if self._bloom_path is not None:
            self._database.set_meta(_SAVED_KEYS, str(self._count))
            self._database.commit()
            self._bloom.save(self._bloom_path)
