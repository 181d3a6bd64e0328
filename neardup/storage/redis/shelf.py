"""All that is held of kept texts, wherever it is now: in the log, or written elsewhere."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass

from neardup.candidates import Bitmaps
from neardup.indexes.arrays import Match
from neardup.storage.redis.commit_log import CommitLog, Look
from neardup.storage.redis.head_format import Head, Record, unpack_record
from neardup.storage.redis.kept_documents import DigestOwner, RedisDocuments, mark_of, owners_in
from neardup.storage.redis.postings import RedisPostings, matches
from neardup.storage.redis.server import Command, Server

_READ_AT_ONCE = 128


@dataclass(frozen=True, slots=True)
class Findings:
    """The kept texts that have something in common with one that is judged, by number.

    Attributes:
        payload: The texts of the same payload.
        digest: The texts of the same digest.
        near: The texts within the radius, nearest first, then by number.
    """

    payload: list[DigestOwner]
    digest: list[DigestOwner]
    near: list[Match]


class Shelf:
    """Finds kept texts and adds to them; decides nothing.

    Args:
        server: The server that holds them.
        blocks: The number of blocks of a fingerprint.

    Attributes:
        bitmaps: The bitmaps of texts that were candidates, by number.
        log: Decides which texts are kept.
    """

    def __init__(self, server: Server, *, blocks: int) -> None:
        self._server = server
        self._documents = RedisDocuments(server)
        self._postings = RedisPostings(server, blocks=blocks)
        self.bitmaps = Bitmaps()
        self.log = CommitLog(server, self._forget)
        self.claim = self._documents.claim

    def _forget(self) -> None:
        self._documents.forget()
        self.bitmaps.clear()

    async def find(self, head: Head, look: Look, radius: int) -> Findings:
        """Find what has something in common; after the look, so that nothing is missed."""
        questions = [self._documents.digest_question(head.digest)]
        questions += (
            [] if head.payload is None else [self._documents.payload_question(head.payload)]
        )
        first = len(questions)
        if head.fingerprint is not None:
            questions += self._postings.questions(head.fingerprint, radius)
        replies = await self._server.pipeline(questions)
        near: set[Match] = set()
        if head.fingerprint is not None:
            near.update(matches(replies[first:], head.fingerprint, radius))
            near.update(_near_in(look, head.fingerprint, radius))
        equal = _recent_owners(look, lambda other: other.digest == head.digest)
        same_bytes = _recent_owners(
            look, lambda other: other.payload is not None and other.payload == head.payload
        )
        return Findings(
            payload=_merged(replies[1:first], same_bytes),
            digest=_merged(replies[:1], equal),
            near=sorted(near, key=lambda match: (match.distance, match.id)),
        )

    async def find_payload(self, digest: bytes, look: Look) -> list[DigestOwner]:
        """Find the kept texts of this payload, the first first; after the look."""
        reply = await self._server.pipeline([self._documents.payload_question(digest)])
        return _merged(reply, _recent_owners(look, lambda other: other.payload == digest))

    async def records(self, numbers: Sequence[int]) -> dict[int, Record]:
        """Return the records of some numbers; one that is not held is left out."""
        found = await self._documents.records(numbers)
        for number in [each for each in numbers if each not in found]:
            body = await self.log.body(number)
            if body is not None:
                found[number] = unpack_record(body)
        missing = [number for number in numbers if number not in found]
        # Written elsewhere between the two questions.
        return found | await self._documents.records(missing) if missing else found

    async def post(self, number: int, packed: bytes) -> None:
        """Write an entry of the log to where it is found; does no harm when it is there already."""
        head = unpack_record(packed).head
        writes: list[Command] = self._documents.additions(number, packed, head)
        if head.fingerprint is not None:
            writes += self._postings.additions(head.fingerprint, number)
        await self._server.pipeline(writes)
        await self.log.posted(number)

    async def post_left_behind(self, look: Look) -> None:
        """Write what a sender that died has left in the log."""
        if look.left_behind is not None:
            await self.post_entry(look.left_behind)

    async def post_entry(self, number: int) -> None:
        """Write an entry of the log to where it is found, from what the log holds of it."""
        body = await self.log.body(number)
        if body is not None:
            await self.post(number, body)

    async def all(self) -> AsyncIterator[tuple[int, Record]]:
        """Yield all kept texts by number, those that are kept meanwhile too."""
        first = 0
        while first < (count := await self.log.count()):
            numbers = range(first, min(first + _READ_AT_ONCE, count))
            found = await self.records(numbers)
            for number in sorted(found):
                yield number, found[number]
            first = numbers.stop


def _near_in(look: Look, fingerprint: int, radius: int) -> list[Match]:
    return [
        Match(number, distance)
        for number, other in look.recent.items()
        if other.fingerprint is not None
        and (distance := (other.fingerprint ^ fingerprint).bit_count()) <= radius
    ]


def _recent_owners(look: Look, has: Callable[[Head], bool]) -> list[DigestOwner]:
    return [
        DigestOwner(mark_of(head.owner), number)
        for number, head in look.recent.items()
        if has(head)
    ]


def _merged(replies: Sequence[bytes | None], recent: Iterable[DigestOwner]) -> list[DigestOwner]:
    found = {stored for reply in replies for stored in owners_in(reply)}
    return sorted(found.union(recent), key=lambda stored: stored.number)
