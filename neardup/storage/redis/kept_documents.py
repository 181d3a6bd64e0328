"""The kept texts, with what finds them: their digests, and those of their payloads."""

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from neardup.storage.redis.head_format import OWNER_BYTES, Head, Record, unpack_record
from neardup.storage.redis.postings import append, unpack
from neardup.storage.redis.script import Script
from neardup.storage.redis.server import Command, Server

_CLAIM = Script.read("neardup.storage.redis", "claim.lua")
_CACHED_BYTES = 32 << 20


class DigestOwner(NamedTuple):
    """A kept text that has a digest, with its owner.

    Attributes:
        mark: The first 8 bytes of an owner as a number: most owners differ in it.
        number: The number of the kept text.
    """

    mark: int
    number: int


class RedisDocuments:
    """Texts by number, and numbers by digest.

    Keys:
        ``t:<number>``: a text with what is known of it (``head_format``).
        ``d:<4 hexadecimal digits>``: a hash, text digest to the numbers that have it.
        ``p:<4 hexadecimal digits>``: a hash, payload digest to the numbers that have it.
        ``f:<4 hexadecimal digits>``: a hash, payload digest of a file that is no page to its owner
        and the bytes that the owner stored with it.

    Each of these many hashes has few fields, which a server holds without a table.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._cache = _Cache()

    def additions(self, number: int, packed: bytes, head: Head) -> list[Command]:
        """Return the commands that hold a record; they do no harm when it is held already."""
        mark = mark_of(head.owner)
        commands: list[Command] = [
            ("SET", self._text_key(number), packed),
            append(self._key("d", head.digest), head.digest, mark, number),
        ]
        if head.payload is not None:
            commands.append(append(self._key("p", head.payload), head.payload, mark, number))
        return commands

    def digest_question(self, digest: bytes) -> Command:
        """Return the command that asks who has a text; ``owners_in`` reads its reply."""
        return ("HGET", self._key("d", digest), digest)

    def payload_question(self, digest: bytes) -> Command:
        """Return the command that asks who has a payload; ``owners_in`` reads its reply."""
        return ("HGET", self._key("p", digest), digest)

    async def claim(self, digest: bytes, owner: bytes, about: bytes) -> tuple[bytes, bytes] | None:
        """Take a payload digest; return another owner that has it, and the bytes stored with it."""
        keys = [self._key("f", digest)]
        stored: bytes | None = await self._server.call(_CLAIM, keys, [digest, owner, about])
        return None if stored is None else (stored[:OWNER_BYTES], stored[OWNER_BYTES:])

    async def records(self, numbers: Sequence[int]) -> dict[int, Record]:
        """Return the records of some numbers; one that is not held is left out."""
        found = {number: stored for number in numbers if (stored := self._cache.get(number))}
        missing = [number for number in numbers if number not in found]
        read = await self._server.pipeline([("GET", self._text_key(each)) for each in missing])
        for number, packed in zip(missing, read, strict=True):
            if packed is not None:
                found[number] = unpack_record(packed)
                self._cache.add(number, found[number])
        return found

    def forget(self) -> None:
        """Forget the cached records, so that they are read from the server from now on."""
        self._cache = _Cache()

    def _text_key(self, number: int) -> str:
        return f"{self._server.prefix}t:{number}"

    def _key(self, kind: str, digest: bytes) -> str:
        return f"{self._server.prefix}{kind}:{digest[:2].hex()}"


class _Cache:
    """Records that were read last."""

    def __init__(self) -> None:
        self._records: OrderedDict[int, Record] = OrderedDict()
        self._bytes = 0

    def get(self, number: int) -> Record | None:
        record = self._records.get(number)
        if record is not None:
            self._records.move_to_end(number)
        return record

    def add(self, number: int, record: Record) -> None:
        if number in self._records:
            return
        self._records[number] = record
        self._bytes += len(record.frame)
        while self._bytes > _CACHED_BYTES:
            self._bytes -= len(self._records.popitem(last=False)[1].frame)


def mark_of(owner: bytes) -> int:
    """Return the number that stands for an owner in lists."""
    return int.from_bytes(owner[:8])


def owners_in(reply: bytes | None) -> Iterable[DigestOwner]:
    """Return the owners of a digest, the first first."""
    marks, numbers = unpack([reply])
    return map(DigestOwner, marks.tolist(), numbers.tolist())
