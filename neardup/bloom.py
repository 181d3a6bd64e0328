"""Was this key added before? Certainly not, or probably: sets that take 2 bytes a key.

Bloom, Communications of the ACM 13 (7), 1970; Almeida, Baquero, Preguica, Hutchison, "Scalable
Bloom Filters", Information Processing Letters 101 (6), 2007. The bits are set by rbloom. The
grammar of the files is in docs/formats.md.
"""

import math
import operator
import os
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, ClassVar, NamedTuple, Self

import xxhash
from rbloom import Bloom

from neardup.errors import ParameterError
from neardup.files.durable import write_durably
from neardup.files.sealed import CHECKSUM, FileKind, checksum_of, digest_of, sealed, unusable
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

_REMEDY = "restore it from a copy, or delete it and add its keys again"
_KINDS = {1: "BloomFilter", 2: "ScalableBloomFilter"}
_HEADER = struct.Struct("<8sIIIIQdQ")
_FILTER = struct.Struct("<QdQQ")
_FILE = FileKind("Bloom filters", b"NDUPBLM\n", 2, _HEADER.size + CHECKSUM.size, _REMEDY)


class _StoredFilters(NamedTuple):
    """The content of a file.

    Attributes:
        capacity: The capacity given to the constructor.
        error_rate: The error rate given to the constructor.
        filters: The filters, the first one first.
    """

    capacity: int
    error_rate: float
    filters: "Sequence[BloomFilter]"


class _Keys(ABC):
    """The common part of one filter and a stack of filters."""

    _kind: ClassVar[int]

    def __contains__(self, key: bytes) -> bool:
        return self._has(_hashed(key))

    def has_digest(self, digest: bytes) -> bool:
        """Return whether :meth:`add_digest`, or :meth:`add` of its key, was called before.

        Raises:
            ParameterError: The digest has fewer than 16 bytes.
        """
        return self._has(_number(digest))

    @property
    def size_bytes(self) -> int:
        """Bytes of memory that the bits take."""
        return self.bits // 8

    def add(self, key: bytes) -> bool:
        """Hold a key of any length, and return whether it is new. It is hashed with xxh3-128."""
        return self._add(_hashed(key))

    def add_digest(self, digest: bytes) -> bool:
        """Hold a key that is a good hash already, and return whether it is new.

        Args:
            digest: Its first 16 bytes count, and are taken as they are. Bytes that are no hash,
                such as a counter, are taken for one another.

        Raises:
            ParameterError: It has fewer than 16 bytes.
        """
        return self._add(_number(digest))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write all to one file, which is replaced in one step and durable afterwards.

        Raises:
            OSError: The disk is full, or the like; the old file is as it was.
        """
        write_durably(Path(path), _chunks(self._kind, self._stored()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what :meth:`save` wrote.

        Raises:
            IndexFileError: The file is damaged, cut short, foreign, of another version, or its bits
                were set in another way than now.
            OSError: There is no such file, or the like.
        """
        with Path(path).open("rb") as file:
            return cls._from_stored(_read(Path(path), file, cls._kind))

    @property
    @abstractmethod
    def bits(self) -> int:
        """Bits of all filters."""

    @abstractmethod
    def _has(self, number: int) -> bool: ...

    @abstractmethod
    def _add(self, number: int) -> bool: ...

    @abstractmethod
    def _stored(self) -> _StoredFilters: ...

    @classmethod
    @abstractmethod
    def _from_stored(cls, stored: _StoredFilters) -> Self: ...


class BloomFilter(_Keys):
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

    _kind = 1

    def __init__(self, capacity: int, error_rate: float) -> None:
        self.capacity, self.error_rate = _checked(capacity, error_rate)
        self._bits = Bloom(capacity, _rate_for(capacity, error_rate), operator.index)
        self._count = 0

    def __len__(self) -> int:
        """Return the number of keys that were new when they were added."""
        return self._count

    @property
    def bits(self) -> int:
        """Bits of the filter."""
        return self._bits.size_in_bits

    def _has(self, number: int) -> bool:
        return number in self._bits

    def _add(self, number: int) -> bool:
        if number in self._bits:
            return False
        self._bits.add(number)
        self._count += 1
        return True

    def _stored(self) -> _StoredFilters:
        return _StoredFilters(self.capacity, self.error_rate, [self])

    @classmethod
    def _from_stored(cls, stored: _StoredFilters) -> Self:
        (loaded,) = stored.filters
        assert isinstance(loaded, cls)
        return loaded

    def _chunks(self) -> Iterator[bytes]:
        data = self._bits.save_bytes()
        fields = _FILTER.pack(self.capacity, self.error_rate, self._count, len(data))
        yield from (fields, data, checksum_of(fields, data))

    @classmethod
    def _read(cls, path: Path, file: BinaryIO, number: int) -> Self:
        fields = file.read(_FILTER.size)
        if len(fields) < _FILTER.size:
            raise unusable(path, f"filter {number}", "the end of the file", _REMEDY)
        loaded = cls.__new__(cls)
        loaded.capacity, loaded.error_rate, loaded._count, size = _FILTER.unpack(fields)
        left = path.stat().st_size - file.tell()
        # Looked at before reading: a damaged size must not ask for all the memory there is.
        if left < size + CHECKSUM.size:
            raise unusable(path, f"{size} bytes in filter {number}", f"{left} bytes", _REMEDY)
        data = file.read(size)
        if file.read(CHECKSUM.size) != checksum_of(fields, data):
            wanted = f"filter {number} with its checksum"
            raise unusable(path, wanted, "another checksum", _REMEDY)
        if not _fits(loaded, data):
            raise unusable(path, f"filter {number} of a size for its keys", "another", _REMEDY)
        loaded._bits = Bloom.load_bytes(data, operator.index)
        return loaded


class ScalableBloomFilter(_Keys):
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

    _kind = 2

    def __init__(self, capacity: int, error_rate: float) -> None:
        self._first_capacity, self.error_rate = _checked(capacity, error_rate)
        self._filters: list[BloomFilter] = []
        self._newest_first: list[Bloom] = []
        self._grow()

    def __len__(self) -> int:
        """Return the number of keys that were new when they were added."""
        return sum(map(len, self._filters))

    @property
    def capacity(self) -> int:
        """Keys that the filters of now are made for."""
        return sum(one.capacity for one in self._filters)

    @property
    def bits(self) -> int:
        """Bits of all filters."""
        return sum(one.bits for one in self._filters)

    def _has(self, number: int) -> bool:
        # A loop, not any(): that takes twice as long.
        for bits in self._newest_first:  # noqa: SIM110
            if number in bits:
                return True
        return False

    def _add(self, number: int) -> bool:
        if self._has(number):
            return False
        if self._filters[-1]._count >= self._filters[-1].capacity:
            self._grow()
        newest = self._filters[-1]
        newest._bits.add(number)
        newest._count += 1
        return True

    def _stored(self) -> _StoredFilters:
        return _StoredFilters(self._first_capacity, self.error_rate, self._filters)

    @classmethod
    def _from_stored(cls, stored: _StoredFilters) -> Self:
        loaded = cls.__new__(cls)
        loaded._first_capacity, loaded.error_rate = stored.capacity, stored.error_rate
        loaded._filters, loaded._newest_first = [], []
        for one in stored.filters:
            loaded._push(one)
        return loaded

    def _grow(self) -> None:
        capacity, rate = self._first_capacity, self.error_rate * (1 - TIGHTENING)
        if self._filters:
            last = self._filters[-1]
            capacity, rate = last.capacity * GROWTH, last.error_rate * TIGHTENING
        self._push(BloomFilter(capacity, rate))

    def _push(self, newest: BloomFilter) -> None:
        self._filters.append(newest)
        # The newest filter holds as many keys as all others together.
        self._newest_first.insert(0, newest._bits)


def _fits(stored: BloomFilter, data: bytes) -> bool:
    """Return whether rbloom can have made a filter: it hangs over others, or ends the process."""
    set_by_key, bits = int.from_bytes(data[:8], "little"), 8 * len(data[8:])
    try:
        needed = _bits_for(*_checked(stored.capacity, stored.error_rate))
    except ParameterError:
        return False
    return 0 < set_by_key < 2048 and needed - 8 <= bits > 0 and stored._count <= MAX_BITS


def _chunks(kind: int, stored: _StoredFilters) -> Iterator[bytes]:
    """Yield a file part by part, so that one copy of a filter at a time is in memory."""
    numbers = (kind, len(stored.filters), 0, stored.capacity, stored.error_rate, _probe())
    yield sealed(_HEADER.pack(_FILE.magic, _FILE.version, *numbers))
    for one in stored.filters:
        yield from one._chunks()


def _read(path: Path, file: BinaryIO, kind: int) -> _StoredFilters:
    fields = _FILE.fields(path, file.read(_FILE.header_bytes))
    _, _, found_kind, count, _, capacity, error_rate, probe = _HEADER.unpack(fields)
    if found_kind != kind:
        found = _KINDS.get(found_kind, f"kind {found_kind}")
        raise unusable(path, f"a {_KINDS[kind]}", f"a {found}", f"load it with {found}.load")
    if probe != _probe():
        raise unusable(
            path,
            f"bits set as rbloom does now (probe {_probe():016x})",
            f"probe {probe:016x}",
            "use the version of rbloom that wrote it, or delete it and add its keys again",
        )
    filters = [BloomFilter._read(path, file, number) for number in range(1, count + 1)]
    if file.read(1):
        raise unusable(path, f"an end after {count} filters", "more bytes", _REMEDY)
    if not filters or (kind == BloomFilter._kind and count > 1):
        raise unusable(path, f"filters of a {_KINDS[kind]}", f"{count}", _REMEDY)
    return _StoredFilters(capacity, error_rate, filters)


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
    bits = _bits_for(capacity, error_rate)
    if bits > MAX_BITS:
        # rbloom ends the process when it gets no memory.
        raise ParameterError(
            f"capacity and error_rate must ask for at most 2**43 bits, got {bits:.2g} bits"
        )
    return capacity, error_rate


def _bits_for(capacity: int, error_rate: float) -> float:
    return capacity * -math.log(error_rate) / math.log(2) ** 2


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
    bits_a_key = _bits_for(1, rate)
    set_by_key = int(bits_a_key * math.log(2) * (1 - 1e-12))
    bits = math.ceil(int(capacity * bits_a_key) / 8) * 8
    return float((1 - math.exp(-set_by_key * keys / bits)) ** set_by_key)


def _probe() -> int:
    """Return a digest of the bits that rbloom sets for a key: files with others are of no use."""
    known = Bloom(100, 0.001, operator.index)
    known.add(_hashed(b"a file of neardup"))
    return digest_of(known.save_bytes())
