"""Find the kept texts whose fingerprints are near a given one."""

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.errors import ParameterError
from neardup.features.shingles import distinct
from neardup.indexes.arrays import Ids, Match
from neardup.storage.redis.script import Argument, Call, Question, Script
from neardup.storage.redis.server import Server

_RECORD = np.dtype([("value", "<u8"), ("low", "<u4"), ("high", "u1")])
RECORD_BYTES = _RECORD.itemsize
MAX_NUMBERS = 1 << 40

_PACKAGE = "neardup.storage.redis"
_APPEND = Script.read(_PACKAGE, "lists.lua", "append.lua")
_SPILLED = Script.read(_PACKAGE, "spilled.lua")

_BITS = 64
_FIELD_BITS = 12
"""The number of low bits of a value that are a field of a bucket; the high ones are its key.

64 buckets of 4 blocks are spread well enough over a cluster. With 256 a query sends more commands
and takes its server twice the time.
"""
_MIN_COUNT, _MAX_COUNT = 3, 6

MAX_LIST = 4096
"""The largest number of texts in a list: those that share the value of a block or of a band.

Further ones go to *parts* of the list, which only those read who find it full.
"""

MAX_PART = 1024
"""The largest number of texts in a part."""

MAX_READ_PARTS = 60
"""The number of parts that are read of a list, and the last one: the first 65,536 texts and the
last 1,024. Duplicates in the middle of a longer list are kept, unless another list has both."""

_CACHED_BYTES = 64 << 20
"""The largest size of the full parts that a process holds, in bytes: these never change."""

_LIST_BYTES = 256
"""About what a list takes of that beside its parts, in bytes."""


def append(key: str, field: bytes, record: bytes, most: int = 0) -> Call:
    """Return the call that adds a record to a list, once.

    Args:
        key: The key of the hash.
        field: The field of the list in it.
        record: The record; all of a list have one length.
        most: The largest number of records in the list; a further one is left out. 0: any number.
    """
    return Call(_APPEND, [key], [field, record, most, 0])


def append_spilling(key: str, field: bytes, record: bytes) -> Call:
    """Return the call that adds a record to a list of ``MAX_LIST``, or to a part of it."""
    return Call(_APPEND, [key], [field, record, MAX_LIST, MAX_PART])


def posting(value: int, number: int) -> bytes:
    """Return the record of a value of 64 bits and the number of a text, for ``unpack``."""
    return value.to_bytes(8, "little") + packed_number(number)


def packed_number(number: int) -> bytes:
    """Return the number of a text, below ``MAX_NUMBERS``, as 5 bytes."""
    return number.to_bytes(5, "little")


def unpack(lists: Sequence[bytes | None]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the values and the numbers of some lists, one after the other: both (records,)."""
    records = np.frombuffer(b"".join(filter(None, lists)), _RECORD)
    numbers = records["low"].astype(np.int64) | (records["high"].astype(np.int64) << 32)
    return records["value"], numbers


class PostingPlace(NamedTuple):
    """The place of a value of a block: a list in a bucket."""

    block: int
    bucket: int
    field: bytes


class Cutting:
    """The division of a fingerprint into blocks, as even as can be.

    Args:
        blocks: The number of blocks, 3 to 6. Fewer blocks have longer values: their lists are
            shorter, and more of them are asked for.

    Raises:
        ParameterError: The number of blocks is another.
    """

    def __init__(self, blocks: int) -> None:
        if not _MIN_COUNT <= blocks <= _MAX_COUNT:
            raise ParameterError(f"blocks must be {_MIN_COUNT}..{_MAX_COUNT}, got {blocks}")
        ends = [_BITS * block // blocks for block in range(blocks + 1)]
        self._shifts = ends[:-1]
        self._bits = [end - start for start, end in pairwise(ends)]

    def places(self, fingerprint: int) -> list[PostingPlace]:
        """Return where a fingerprint is held, by block."""
        return [self._place(block, value) for block, value in enumerate(self._cut(fingerprint))]

    def probes(self, fingerprint: int, radius: int) -> dict[tuple[int, int], list[bytes]]:
        """Return the lists that hold all fingerprints within the radius: fields by bucket.

        Complexity: O(lists): 4 of a radius of 3, 188 of 8, where there are 4 blocks.
        """
        each, further = divmod(radius, len(self._bits))
        buckets: dict[tuple[int, int], list[bytes]] = defaultdict(list)
        for block, value in enumerate(self._cut(fingerprint)):
            # Those of a radius below the number of blocks need not be asked for; they find what a
            # list that is full left out.
            flipped = each if block <= further else max(each - 1, 0)
            for mask in _masks(self._bits[block], flipped):
                place = self._place(block, value ^ mask)
                buckets[place.block, place.bucket].append(place.field)
        return buckets

    def _cut(self, fingerprint: int) -> list[int]:
        return [
            (fingerprint >> shift) & ((1 << bits) - 1)
            for shift, bits in zip(self._shifts, self._bits, strict=True)
        ]

    @staticmethod
    def _place(block: int, value: int) -> PostingPlace:
        field = value & ((1 << _FIELD_BITS) - 1)
        return PostingPlace(block, value >> _FIELD_BITS, field.to_bytes(2))


@cache
def _masks(bits: int, most: int) -> tuple[int, ...]:
    """Return the values of ``bits`` bits that have at most ``most`` bits set."""
    return tuple(
        sum(1 << place for place in places)
        for count in range(most + 1)
        for places in combinations(range(bits), count)
    )


class SpilledLists:
    """Lists that are longer than ``MAX_LIST``, with their parts.

    A part that is full never changes, so a process reads it once. What it reads for a question is
    bounded by the last part, unless it meets the list for the first time.

    Args:
        server: The server that holds them.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._full: OrderedDict[tuple[Argument, Argument], bytes] = OrderedDict()
        self._bytes = 0
        self._meeting = asyncio.Lock()

    async def completed(
        self, questions: Sequence[Question], replies: Sequence[Any], record_bytes: int
    ) -> list[Any]:
        """Return replies of ``HGET`` and ``HMGET`` with the parts of lists that are full.

        Args:
            questions: The commands that were sent.
            replies: Their replies.
            record_bytes: The length of a record.
        """
        replies = list(replies)
        max_bytes = MAX_LIST * record_bytes
        full = []
        for place, (name, key, *fields) in enumerate(questions):
            lists = replies[place] if name == "HMGET" else [replies[place]]
            full += [
                (place, key, field)
                for field, stored in zip(fields, lists, strict=True)
                if stored is not None and len(stored) >= max_bytes
            ]
        if not full:
            return replies
        parts = await self._parts([(key, field) for _, key, field in full], record_bytes)
        for (place, _, _), further in zip(full, parts, strict=True):
            if isinstance(replies[place], bytes):
                replies[place] += further
            else:
                replies[place] = [*replies[place], further]
        return replies

    def forget(self) -> None:
        """Forget what was read: the server has lost some of it."""
        # Questions that are under way keep what they knew to themselves.
        self._full = OrderedDict()
        self._bytes = 0

    async def _parts(
        self, lists: Sequence[tuple[Argument, Argument]], record_bytes: int
    ) -> list[bytes]:
        if all(each in self._full for each in lists):
            return await self._read(lists, record_bytes)
        # Some may be long: of those who meet them at one moment one reads them, for all.
        async with self._meeting:
            return await self._read(lists, record_bytes)

    async def _read(
        self, lists: Sequence[tuple[Argument, Argument]], record_bytes: int
    ) -> list[bytes]:
        part_bytes, full = MAX_PART * record_bytes, self._full
        known = [full.get(each, b"") for each in lists]
        replies = await self._server.pipeline([
            Call(_SPILLED, [str(key)], [field, len(held) // part_bytes + 1, MAX_READ_PARTS])
            for (key, field), held in zip(lists, known, strict=True)
        ])  # fmt: skip
        found = []
        for each, held, (last, *parts) in zip(lists, known, replies, strict=True):
            first = parts[:-1] if last > MAX_READ_PARTS else parts
            if self._full is full:
                self._hold(each, held + b"".join(one for one in first if len(one) == part_bytes))
            found.append(held + b"".join(parts))
        return found

    def _hold(self, each: tuple[Argument, Argument], parts: bytes) -> None:
        held = self._full.pop(each, None)
        self._bytes += len(parts) - (-_LIST_BYTES if held is None else len(held))
        self._full[each] = parts
        while self._bytes > _CACHED_BYTES:
            self._bytes -= len(self._full.popitem(last=False)[1]) + _LIST_BYTES


class RedisPostings:
    """Block values to the fingerprints that have them, spread by key over a cluster.

    Keys:
        ``b<block>:<bucket>``: a hash, a value of the block to a list of fingerprints, each with the
        number of its text.

    Args:
        server: The server that holds them.
        blocks: The number of blocks of a fingerprint, 3 to 6; the same for all who share it.

    Raises:
        ParameterError: Another number of blocks.
    """

    def __init__(self, server: Server, *, blocks: int = 4) -> None:
        self._server = server
        self._cutting = Cutting(blocks)
        self._lists = SpilledLists(server)

    async def add(self, fingerprint: int, number: int) -> None:
        """Hold a fingerprint; does no harm when it is held already."""
        await self._server.pipeline(self.additions(fingerprint, number))

    async def query(self, fingerprint: int, radius: int) -> list[Match]:
        """Find the fingerprints within the radius, nearest first, then by number.

        Complete but for the middle of lists of more than 65,536 fingerprints.

        Complexity: O(lists asked for + fingerprints in them); one round trip, two where one of them
        is longer than ``MAX_LIST``.
        """
        questions = self.questions(fingerprint, radius)
        replies = await self._server.pipeline(questions)
        replies = await self._lists.completed(questions, replies, RECORD_BYTES)
        numbers, distances = near(replies, fingerprint, radius)
        return list(map(Match, numbers.tolist(), distances.tolist()))

    def additions(self, fingerprint: int, number: int) -> list[Call]:
        """Return the calls that ``add`` makes."""
        return [
            append_spilling(
                self._key(place.block, place.bucket), place.field, posting(fingerprint, number)
            )
            for place in self._cutting.places(fingerprint)
        ]

    def questions(self, fingerprint: int, radius: int) -> list[Question]:
        """Return the commands that ``query`` sends; ``near`` reads their replies."""
        return [
            ("HMGET", self._key(block, bucket), *fields)
            for (block, bucket), fields in self._cutting.probes(fingerprint, radius).items()
        ]

    def _key(self, block: int, bucket: int) -> str:
        return f"{self._server.prefix}b{block}:{bucket:x}"


def near(
    replies: Sequence[Sequence[bytes | None]], fingerprint: int, radius: int
) -> tuple[Ids, Ids]:
    """Return the numbers within the radius and their distances, nearest first, then by number."""
    values, numbers = unpack([stored for reply in replies for stored in reply])
    distances = np.bitwise_count(values ^ np.uint64(fingerprint))
    within = distances <= radius
    # One that is near in several blocks is found in each.
    found = distinct(distances[within].astype(np.int64) * MAX_NUMBERS + numbers[within])
    return found % MAX_NUMBERS, found // MAX_NUMBERS
