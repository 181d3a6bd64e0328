"""Lists by which kept texts are found: each record is a value and the number of a text."""

import asyncio
import logging
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neardup.storage.redis.commands import Call, Script
from neardup.storage.redis.server import Server

_RECORD = np.dtype([("value", "<u8"), ("low", "<u4"), ("high", "u1")])
RECORD_BYTES = _RECORD.itemsize
MAX_NUMBERS = 1 << 40
NUMBER_BYTES = 5  # of a number below MAX_NUMBERS

_logger = logging.getLogger(__name__)

_PACKAGE = "neardup.storage.redis"
_APPEND = Script.read(_PACKAGE, "lists.lua", "append.lua")
_SPILLED = Script.read(_PACKAGE, "spilled.lua")

_BITS = 64
_MIN_LIST_BITS = 16
_FIELD_BYTES = 4
_CLUSTER_HASHES = 64
"""The number of hashes over which a cluster spreads its lists: each node has its share of them. One
server alone has one, of which a command reads all that a text asks for."""

MAX_LIST = 1024
"""The largest number of records in a list, such as of texts that share the value of a block.

Further ones go to *parts* of the list, which only those read who find it full.
"""

MAX_PART = 1024
"""The largest number of records in a part."""

MAX_READ_PARTS = 63
"""The number of parts that are read of a list, and the last one: the first 65,536 texts and the
last 1,024. Duplicates in the middle of a longer list are kept, unless another list has both."""

_CACHED_BYTES = 64 << 20
"""The largest size of the full parts that a process holds, in bytes: these never change."""

_LIST_BYTES = 256
"""About what a list takes of that beside its parts, in bytes."""


class ListPlace(NamedTuple):
    """The place of a list of records of one length.

    Attributes:
        key: The key of its hash.
        field: Its field in that hash.
        record_bytes: The length of a record.
    """

    key: str
    field: bytes
    record_bytes: int


class Addition(NamedTuple):
    """A record for a list; its last ``NUMBER_BYTES`` are the number of a text."""

    place: ListPlace
    record: bytes


def posting(value: int, number: int) -> bytes:
    """Return the record of a value of 64 bits and the number of a text, for ``unpack``."""
    return value.to_bytes(8, "little") + packed_number(number)


def packed_number(number: int) -> bytes:
    """Return the number of a text, below ``MAX_NUMBERS``, as ``NUMBER_BYTES``."""
    return number.to_bytes(NUMBER_BYTES, "little")


def unpack(lists: Iterable[bytes | None]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the values and the numbers of some lists, one after the other: both (records,)."""
    records = np.frombuffer(b"".join(filter(None, lists)), _RECORD)
    numbers = records["low"].astype(np.int64) | (records["high"].astype(np.int64) << 32)
    return records["value"], numbers


def list_bits(blocks: int) -> int:
    """Return how many bits of a hash tell its list: as many as of a block, 16 at least."""
    return max(_BITS // blocks, _MIN_LIST_BITS)


def count_hashes(server: Server) -> int:
    """Return over how many hashes a server spreads its lists."""
    return _CLUSTER_HASHES if server.is_cluster else 1


def by_key(places: Iterable[ListPlace]) -> dict[str, list[int]]:
    """Return which places lie in each hash."""
    found: dict[str, list[int]] = defaultdict(list)
    for index, (key, _, _) in enumerate(places):
        found[key].append(index)
    return found


def in_order(groups: dict[str, list[int]], replies: Sequence[Sequence[Any]]) -> list[Any]:
    """Return replies for each hash in the order of the places that ``by_key`` grouped."""
    found: list[Any] = [None] * sum(map(len, groups.values()))
    for places, reply in zip(groups.values(), replies, strict=True):
        for index, each in zip(places, reply, strict=True):
            found[index] = each
    return found


class RecordLists:
    """Lists of records, all in one hash, or spread over the nodes of a cluster.

    One command reads all lists of a hash that a question needs, and another one writes them: a
    command costs a server more than the bytes of a list. A part that is full never changes, so a
    process reads it once. What it reads for a question is bounded by the last part, unless it meets
    the list for the first time.

    Keys:
        ``l:<hash>``: a hash, kind and value of a list to its records.

    Args:
        server: The server that holds them.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._keys = [f"{server.prefix}l:{number:x}" for number in range(count_hashes(server))]
        self._full: OrderedDict[tuple[str, bytes], bytes] = OrderedDict()
        self._bytes = 0
        self._below = MAX_NUMBERS
        self._meeting = asyncio.Lock()

    def place(self, kind: int, value: int, record_bytes: int = RECORD_BYTES) -> ListPlace:
        """Return the place of the list of a value, below 2**24, of a kind, below 256.

        Neither is checked here: a larger value would be one of another kind.
        """
        key = self._keys[value % len(self._keys)]
        return ListPlace(key, (kind << 24 | value).to_bytes(_FIELD_BYTES), record_bytes)

    @staticmethod
    def limits() -> tuple[int, int]:
        """Return how many records a list and a part may hold, as scripts are told."""
        return MAX_LIST, MAX_PART

    def calls(self, additions: Sequence[Addition]) -> list[Call]:
        """Return the calls that add records to lists, each once; all lists are others."""
        calls = []
        for key, found in by_key(addition.place for addition in additions).items():
            told = [(additions[index].place.field, additions[index].record) for index in found]
            calls.append(Call(_APPEND, [key], [*self.limits(), *chain.from_iterable(told)]))
        return calls

    async def read(self, places: Sequence[ListPlace]) -> list[bytes | None]:
        """Return lists; None: there is none."""
        groups = by_key(places)
        replies = await self._server.pipeline([
            ("HMGET", key, *(places[index].field for index in found))
            for key, found in groups.items()
        ])  # fmt: skip
        return await self.completed(places, in_order(groups, replies))

    async def completed(
        self, places: Sequence[ListPlace], stored: Sequence[bytes | None]
    ) -> list[bytes | None]:
        """Return lists that were read with the parts of those that are full.

        One that another program wrote is left out, with a word: at worst a duplicate is kept.
        """
        lists = list(map(_of_ours, places, stored))
        full = [
            index
            for index, held in enumerate(lists)
            if held is not None and len(held) >= MAX_LIST * places[index].record_bytes
        ]
        if full:
            parts = await self._parts([places[index] for index in full])
            for index, further in zip(full, parts, strict=True):
                lists[index] = (lists[index] or b"") + further
        return lists

    def forget(self) -> None:
        """Forget what was read: the server has lost some of it."""
        # Questions that are under way keep what they knew to themselves.
        self._full = OrderedDict()
        self._bytes = self._below = 0

    def trust(self, below: int) -> None:
        """Hold full parts of numbers below this one from now on, until ``forget``.

        That the server lost a later one would not be noticed, and its part goes on otherwise.
        """
        self._below = below

    async def _parts(self, places: Sequence[ListPlace]) -> list[bytes]:
        if all(place[:2] in self._full for place in places):
            return await self._read_parts(places)
        # Some may be long: of those who meet them at one moment one reads them, for all.
        async with self._meeting:
            return await self._read_parts(places)

    async def _read_parts(self, places: Sequence[ListPlace]) -> list[bytes]:
        full = self._full
        known = [full.get(place[:2], b"") for place in places]
        sizes = [MAX_PART * place.record_bytes for place in places]
        groups = by_key(places)
        args = [
            (place.field, len(held) // size + 1)
            for place, held, size in zip(places, known, sizes, strict=True)
        ]
        replies = await self._server.pipeline([
            Call(_SPILLED, [key], [MAX_READ_PARTS, *(each for i in found for each in args[i])])
            for key, found in groups.items()
        ])  # fmt: skip
        parts_of = in_order(groups, replies)
        found = []
        for place, held, size, (last, *parts) in zip(places, known, sizes, parts_of, strict=True):
            first = parts[:-1] if last > MAX_READ_PARTS else parts
            if self._full is full:
                stay = [
                    len(one or b"") == size and _last_number(one) < self._below for one in first
                ]
                self._hold(place, held + b"".join(first[: [*stay, False].index(False)]))
            further = map(_of_ours, [place] * len(parts), parts)
            found.append(held + b"".join(filter(None, further)))
        return found

    def _hold(self, place: ListPlace, parts: bytes) -> None:
        held = self._full.pop(place[:2], None)
        if held is not None:
            self._bytes -= len(held) + _LIST_BYTES
        self._full[place[:2]] = parts
        self._bytes += len(parts) + _LIST_BYTES
        while self._bytes > _CACHED_BYTES:
            self._bytes -= len(self._full.popitem(last=False)[1]) + _LIST_BYTES


def _last_number(part: bytes) -> int:
    return int.from_bytes(part[-NUMBER_BYTES:], "little")


def _of_ours(place: ListPlace, stored: bytes | None) -> bytes | None:
    if stored is None or len(stored) % place.record_bytes == 0:
        return stored
    field = place.field.hex()
    message = "%s in Redis holds a list of another program at %s, which is left aside"
    _logger.error(message, place.key, field)
    return None
