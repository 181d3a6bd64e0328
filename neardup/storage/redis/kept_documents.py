"""The kept texts, with what finds them: their digests, and those of their payloads."""

import logging
import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from neardup.candidates import LruCache
from neardup.indexes.arrays import Ids
from neardup.storage.redis.head_format import (
    HEAD_BYTES,
    OWNER_BYTES,
    Head,
    Heads,
    Record,
    unpack_record,
)
from neardup.storage.redis.record_lists import (
    Addition,
    ListPlace,
    RecordLists,
    list_bits,
    posting,
    unpack,
)
from neardup.storage.redis.server import Command, Server

_logger = logging.getLogger(__name__)

_TEXT_KIND, _PAYLOAD_KIND, _NAME_KIND = b"dpn"
"""The kinds of the lists of text digests, payload digests and names."""

_MARK_BYTES = 4
_MARK_BITS = 8 * _MARK_BYTES
_MAX_NAMESAKES = 4096
_CACHED_BYTES = 32 << 20
_CACHED_HEADS = 1 << 16
"""The number of heads that are held in memory, some 9 MB. A text has the slot of its number's last
bits."""


class DigestOwner(NamedTuple):
    """A kept text that has a digest, with its owner.

    Attributes:
        mark: The first 4 bytes of an owner as a number: most owners differ in it.
        number: The number of the kept text.
    """

    mark: int
    number: int


class RedisDocuments:
    """Texts by number, and numbers by digest.

    Keys:
        ``t:<number>``: a text with what is known of it (``head_format``).
        ``c:<number>``: the bytes that its owner keeps beside it, if any.
        ``f:<4 hexadecimal digits>``: a hash, payload digest of a file that is no page to its owner
        and the bytes that the owner stored with it.

    Each of the many hashes has few fields, which a server holds without a table. Text digests,
    payload digests and names are in lists (``RecordLists``): the first bits tell the list, and the
    value of a record is the next four bytes of a digest with the mark of the owner, or all of a
    name.

    Args:
        server: The server that holds them.
        lists: The lists of all kinds.
        blocks: The number of blocks of a fingerprint, by which lists are counted.

    Attributes:
        text_keys: The beginning of the key of a text, before its number.
        beside_keys: The same of the bytes beside a text.
    """

    def __init__(self, server: Server, lists: RecordLists, *, blocks: int = 4) -> None:
        self._server = server
        self.text_keys, self.beside_keys = f"{server.prefix}t:", f"{server.prefix}c:"
        self._lists = lists
        self._shift = _MARK_BITS - list_bits(blocks)
        self.forget()

    def addition(self, number: int, packed: bytes) -> Command:
        """Return the command that holds a record; it does no harm when it is held already."""
        return ("SET", f"{self.text_keys}{number}", packed)

    def list_additions(self, number: int, head: Head) -> list[Addition]:
        """Return the records by which a text is found."""
        mark = mark_of(head.owner)
        digests = {self.digest_question(head.digest): head.digest}
        if head.payload is not None:
            digests[self.payload_question(head.payload)] = head.payload
        found = [
            Addition(place, posting(_check_of(digest) << _MARK_BITS | mark, number))
            for place, digest in digests.items()
        ]
        if head.fingerprint is not None and head.name_key is not None:
            key = head.name_key
            record = posting(int.from_bytes(key), number)
            found.append(Addition(self._place(_NAME_KIND, key), record))
        return found

    def beside_addition(self, number: int, beside: bytes) -> Command:
        """Return the command that holds bytes beside a text; the first ones stay."""
        return ("SET", f"{self.beside_keys}{number}", beside, "NX")

    async def beside(self, number: int) -> bytes | None:
        """Return the bytes beside a text; None: there are none."""
        stored: bytes | None = await self._server.run("GET", f"{self.beside_keys}{number}")
        return stored

    async def namesakes(self, head: Head) -> Ids:
        """Return the numbers of texts with a fingerprint that have the marks of a name: int64."""
        key = head.name_key
        if key is None:
            return np.empty(0, np.int64)
        (stored,) = await self._lists.read([self._place(_NAME_KIND, key)])
        values, numbers = unpack([stored])
        same: Ids = numbers[values == np.uint64(int.from_bytes(key))][:_MAX_NAMESAKES]
        return same

    def digest_question(self, digest: bytes) -> ListPlace:
        """Return the list of those who have a text; ``owners_in`` searches it."""
        return self._place(_TEXT_KIND, digest)

    def payload_question(self, digest: bytes) -> ListPlace:
        """Return the list of those who have a payload; ``owners_in`` searches it."""
        return self._place(_PAYLOAD_KIND, digest)

    async def claim(self, digest: bytes, owner: bytes, about: bytes) -> tuple[bytes, bytes] | None:
        """Take a payload digest; return another owner that has it, and the bytes stored with it."""
        key = f"{self._server.prefix}f:{digest[:2].hex()}"
        stored: bytes | None = None
        while stored is None:  # a server that went back in between has it no more
            if await self._server.run("HSETNX", key, digest, owner + about):
                return None
            stored = await self._server.run("HGET", key, digest)
        holder = stored[:OWNER_BYTES]
        return None if holder == owner else (holder, stored[OWNER_BYTES:])

    async def heads(self, numbers: Ids) -> Heads:
        """Return the heads of some numbers; one whose text is not held is left out.

        Those that were asked for lately are not read again.
        """
        cached = self._heads
        slots = numbers & (_CACHED_HEADS - 1)
        is_known = cached.ids[slots] == numbers
        known, missing = Heads(numbers, cached.rows[slots]).where(is_known), numbers[~is_known]
        if not len(missing):
            return known
        replies = await self._server.pipeline([
            ("GETRANGE", f"{self.text_keys}{number}", 0, HEAD_BYTES - 1)
            for number in missing.tolist()
        ])  # fmt: skip
        is_held = np.array([len(packed) == HEAD_BYTES for packed in replies])
        held = [packed for packed in replies if len(packed) == HEAD_BYTES]
        read = Heads.of(missing[is_held].tolist(), held)
        slots = read.ids & (_CACHED_HEADS - 1)
        cached.ids[slots], cached.rows[slots] = read
        return known.joined(read)

    async def records(self, numbers: Sequence[int]) -> dict[int, Record]:
        """Return the records of some numbers; one that is not held is left out.

        So is one that another program wrote, with a word: what repeats it is kept.
        """
        cache = self._cache
        found = {number: stored for number in numbers if (stored := cache.get(number))}
        missing = [number for number in numbers if number not in found]
        read = await self._server.pipeline([("GET", f"{self.text_keys}{each}") for each in missing])
        for number, packed in zip(missing, read, strict=True):
            record = None if packed is None else self._unpacked(number, packed)
            if record is not None:
                found[number] = record
                cache.add(number, record)
        return found

    def _unpacked(self, number: int, packed: bytes) -> Record | None:
        try:
            return unpack_record(packed)
        except (struct.error, UnicodeDecodeError) as error:
            key = f"{self.text_keys}{number}"
            _logger.error("%s in Redis is no kept text, and is left aside: %s", key, error)  # noqa: TRY400
            return None

    def forget(self) -> None:
        """Forget what is cached, so that it is read from the server from now on."""
        self._cache = LruCache[Record](_CACHED_BYTES, lambda record: len(record.frame))
        self._heads = Heads.empty(_CACHED_HEADS)

    def _place(self, kind: int, digest: bytes) -> ListPlace:
        return self._lists.place(kind, int.from_bytes(digest[:_MARK_BYTES]) >> self._shift)


def mark_of(owner: bytes) -> int:
    """Return the number that stands for an owner in lists."""
    return int.from_bytes(owner[:_MARK_BYTES])


def owners_in(stored: bytes | None, digest: bytes) -> Iterable[DigestOwner]:
    """Return the owners of a digest in its list, the first first."""
    values, numbers = unpack([stored])
    are_of_it = values >> np.uint64(_MARK_BITS) == np.uint64(_check_of(digest))
    marks = values[are_of_it] & np.uint64((1 << _MARK_BITS) - 1)
    return map(DigestOwner, marks.tolist(), numbers[are_of_it].tolist())


def _check_of(digest: bytes) -> int:
    return int.from_bytes(digest[_MARK_BYTES : 2 * _MARK_BYTES])
