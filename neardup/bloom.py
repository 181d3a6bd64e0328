"""Was this key added before? Certainly not, or probably: sets that take 2 bytes a key.

Bloom, Communications of the ACM 13 (7), 1970; Almeida, Baquero, Preguica, Hutchison, "Scalable
Bloom Filters", Information Processing Letters 101 (6), 2007. The bits are set by rbloom.
"""

import math
import operator
import os
from pathlib import Path
from typing import Self

import xxhash
from rbloom import Bloom

from neardup.errors import ParameterError
from neardup.files.bloom_file import (
    KINDS,
    BloomHeader,
    StoredFilter,
    read_filters,
    write_filters,
)
from neardup.fingerprints.digest import DIGEST_BYTES

GROWTH = 2
"""Each filter of a stack is made for this many times the keys of the one before it."""

TIGHTENING = 0.5
"""The error rate of each filter of a stack, as a share of the one before it.

The rates then add up to less than the first one divided by 1 - TIGHTENING (Almeida et al., section
3).
"""

MAX_BITS = 1 << 43
"""The largest number of bits of a filter: one tebibyte."""

_FIXED, _SCALABLE = KINDS


class BloomFilter:
    """A set that forgets which keys it holds: no key is missed, and few others are taken for one.

    Made for ``capacity`` keys: the more are added beyond that, the more often it is wrong.
    :class:`ScalableBloomFilter` grows instead.

    Args:
        capacity: Keys, 1 or more.
        error_rate: The share of keys never added that it takes for added, when full; between 0
            and 1.

    Raises:
        ParameterError: An argument is out of range.

    Memory: 1.44 * log2(1 / error_rate) bits a key of the capacity, at once.
    """

    def __init__(self, capacity: int, error_rate: float) -> None:
        self.capacity, self.error_rate = _checked(capacity, error_rate)
        self._bits = Bloom(capacity, _rate_for(capacity, error_rate), operator.index)
        self._count = 0

    def __len__(self) -> int:
        """Return the number of keys that were new when they were added."""
        return self._count

    def __contains__(self, key: bytes) -> bool:
        return _hashed(key) in self._bits

    def has_digest(self, digest: bytes) -> bool:
        """Return whether :meth:`add_digest`, or :meth:`add` of its key, was called before.

        Raises:
            ParameterError: The digest has fewer than 16 bytes.
        """
        return _number(digest) in self._bits

    @property
    def bits(self) -> int:
        """Bits of the filter."""
        return self._bits.size_in_bits

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that the bits take."""
        return self._bits.size_in_bits // 8

    def add(self, key: bytes) -> bool:
        """Hold a key of any length, and return whether it is new. It is hashed with xxh3-128."""
        return self._add_number(_hashed(key))

    def add_digest(self, digest: bytes) -> bool:
        """Hold a key that is a good hash already, and return whether it is new.

        Args:
            digest: Its first 16 bytes count, and are taken as they are. Bytes that are no hash,
                such as a counter, are taken for one another.

        Raises:
            ParameterError: It has fewer than 16 bytes.
        """
        return self._add_number(_number(digest))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the filter to a file, which is replaced in one step and durable afterwards.

        Raises:
            OSError: The disk is full, or the like; the old file is as it was.
        """
        header = BloomHeader(_FIXED, 1, self.capacity, self.error_rate, _probe())
        write_filters(Path(path), header, [self._stored()])

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a filter that :meth:`save` wrote.

        Raises:
            IndexFileError: The file is damaged, cut short, foreign or of another version.
            OSError: There is no such file, or the like.
        """
        _, filters = read_filters(Path(path), _FIXED, _probe())
        return cls._from_stored(filters[0])

    def _add_number(self, number: int) -> bool:
        if number in self._bits:
            return False
        self._bits.add(number)
        self._count += 1
        return True

    def _stored(self) -> StoredFilter:
        return StoredFilter(self.capacity, self.error_rate, self._count, self._bits.save_bytes())

    @classmethod
    def _from_stored(cls, stored: StoredFilter) -> Self:
        loaded = cls.__new__(cls)
        loaded.capacity, loaded.error_rate = stored.capacity, stored.error_rate
        loaded._bits = Bloom.load_bytes(stored.data, operator.index)
        loaded._count = stored.keys
        return loaded


class ScalableBloomFilter:
    """A Bloom filter that grows: a stack of filters, each made for twice the keys of the last.

    Args:
        capacity: Keys of the first filter, 1 or more.
        error_rate: The share of keys never added that it takes for added, however many it holds;
            between 0 and 1.

    Raises:
        ParameterError: An argument is out of range.

    Memory: at 0.1 %, for 1,000,000 keys in the first filter: 2.0 bytes a key when that is full,
    2.3 when the third is, twice as much just after a step.

    Complexity: O(filters), that is O(log n), an addition or question.
    """

    def __init__(self, capacity: int, error_rate: float) -> None:
        self._first_capacity, self.error_rate = _checked(capacity, error_rate)
        self._filters: list[BloomFilter] = []
        self._newest_first: list[Bloom] = []
        self._grow()

    def __len__(self) -> int:
        """Return the number of keys that were new when they were added."""
        return sum(map(len, self._filters))

    def __contains__(self, key: bytes) -> bool:
        return self._contains_number(_hashed(key))

    def has_digest(self, digest: bytes) -> bool:
        """Return whether :meth:`add_digest`, or :meth:`add` of its key, was called before.

        Raises:
            ParameterError: The digest has fewer than 16 bytes.
        """
        return self._contains_number(_number(digest))

    @property
    def capacity(self) -> int:
        """Keys that the filters of now are made for."""
        return sum(one.capacity for one in self._filters)

    @property
    def bits(self) -> int:
        """Bits of all filters."""
        return sum(one.bits for one in self._filters)

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that the bits take."""
        return sum(one.size_bytes for one in self._filters)

    def add(self, key: bytes) -> bool:
        """Hold a key of any length, and return whether it is new. It is hashed with xxh3-128."""
        return self._add_number(_hashed(key))

    def add_digest(self, digest: bytes) -> bool:
        """Hold a key that is a good hash already, and return whether it is new.

        Args:
            digest: Its first 16 bytes count, and are taken as they are. Bytes that are no hash,
                such as a counter, are taken for one another.

        Raises:
            ParameterError: It has fewer than 16 bytes.
        """
        return self._add_number(_number(digest))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all filters to one file, which is replaced in one step and durable afterwards.

        Raises:
            OSError: The disk is full, or the like; the old file is as it was.
        """
        count = len(self._filters)
        header = BloomHeader(_SCALABLE, count, self._first_capacity, self.error_rate, _probe())
        write_filters(Path(path), header, (one._stored() for one in self._filters))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a filter that :meth:`save` wrote.

        Raises:
            IndexFileError: The file is damaged, cut short, foreign or of another version.
            OSError: There is no such file, or the like.
        """
        header, filters = read_filters(Path(path), _SCALABLE, _probe())
        loaded = cls.__new__(cls)
        loaded._first_capacity, loaded.error_rate = header.capacity, header.error_rate
        loaded._filters, loaded._newest_first = [], []
        for stored in filters:
            loaded._push(BloomFilter._from_stored(stored))
        return loaded

    def _add_number(self, number: int) -> bool:
        if self._contains_number(number):
            return False
        if self._filters[-1]._count >= self._filters[-1].capacity:
            self._grow()
        newest = self._filters[-1]
        newest._bits.add(number)
        newest._count += 1
        return True

    def _contains_number(self, number: int) -> bool:
        # A loop, not any(): that takes twice as long.
        for bits in self._newest_first:  # noqa: SIM110
            if number in bits:
                return True
        return False

    def _grow(self) -> None:
        grown = len(self._filters)
        rate = self.error_rate * (1 - TIGHTENING) * TIGHTENING**grown
        self._push(BloomFilter(self._first_capacity * GROWTH**grown, rate))

    def _push(self, newest: BloomFilter) -> None:
        self._filters.append(newest)
        # The newest filter holds as many keys as all others together.
        self._newest_first.insert(0, newest._bits)


def _hashed(key: bytes) -> int:
    return int.from_bytes(xxhash.xxh3_128_digest(key), "little", signed=True)


def _number(digest: bytes) -> int:
    """Return the digest as the signed 128-bit number that rbloom takes its bits from."""
    if len(digest) < DIGEST_BYTES:
        raise ParameterError(
            f"a digest must be at least {DIGEST_BYTES} bytes, got {len(digest)}; "
            "a key that is no hash goes to add"
        )
    return int.from_bytes(digest[:DIGEST_BYTES], "little", signed=True)


def _checked(capacity: int, error_rate: float) -> tuple[int, float]:
    if capacity < 1:
        raise ParameterError(f"capacity must be at least 1, got {capacity}")
    if not 0 < error_rate < 1:
        raise ParameterError(f"error_rate must be between 0 and 1, got {error_rate}")
    bits = capacity * -math.log(error_rate) / math.log(2) ** 2
    if bits > MAX_BITS:
        # rbloom ends the process when it gets no memory.
        raise ParameterError(
            f"capacity and error_rate must ask for at most 2**43 bits, got {bits:.2g} bits"
        )
    return capacity, error_rate


def _rate_for(capacity: int, error_rate: float) -> float:
    """Return the rate to ask of rbloom so that the full filter is wrong at most that often.

    It rounds the number of bits that a key sets down: asked for 0.001 it gives 0.00102, and
    asked for more than 0.5 it sets none, and takes everything for added. And a filter is full
    when it was given ``capacity`` keys that it did not take for added before: up to
    ``capacity / (1 - error_rate)`` keys would set no more bits.
    """
    rate, keys = error_rate, capacity / (1 - error_rate)
    while _rate_given(capacity, rate, keys) > error_rate:
        rate *= 0.995
    return rate


def _rate_given(capacity: int, rate: float, keys: float) -> float:
    """Return the error rate of a filter of rbloom, asked for a rate, when it holds the keys."""
    bits_a_key = -math.log(rate) / math.log(2) ** 2
    set_by_key = int(bits_a_key * math.log(2) * (1 - 1e-12))
    bits = math.ceil(int(capacity * bits_a_key) / 8) * 8
    return float((1 - math.exp(-set_by_key * keys / bits)) ** set_by_key)


def _probe() -> int:
    """Return a digest of the bits that rbloom sets for a key: files with others are of no use."""
    known = Bloom(100, 0.001, operator.index)
    known.add(_hashed(b"a file of neardup"))
    return xxhash.xxh3_64_intdigest(known.save_bytes())
