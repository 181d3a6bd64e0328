"""All that is held of kept texts, wherever it is now: in the log, or written elsewhere."""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neardup.candidates import MAX_CANDIDATES, KnownShingles
from neardup.features.shingles import distinct
from neardup.storage.redis.commit_log import Commit, CommitLog, Compared, Look, SideRecords
from neardup.storage.redis.head_format import (
    HAS_FINGERPRINT,
    HAS_PAYLOAD,
    HAS_SKETCH,
    Head,
    Heads,
    Limits,
    Record,
    unpack_record,
)
from neardup.storage.redis.kept_documents import DigestOwner, RedisDocuments, mark_of, owners_in
from neardup.storage.redis.postings import RedisBands, RedisPostings, are_similar, near, sharing
from neardup.storage.redis.record_lists import Addition, RecordLists
from neardup.storage.redis.server import Command, Server

_READ_AT_ONCE = 128


@dataclass(frozen=True, slots=True)
class Findings:
    """The kept texts that have something in common with one that is judged, by number.

    Attributes:
        payload: The texts of the same payload.
        digest: The texts of the same digest.
        near: The texts of other owners within the radius, and those that share a band and may be
            similar, in any order.
    """

    payload: list[DigestOwner]
    digest: list[DigestOwner]
    near: Heads

    def below(self, number: int) -> "Findings":
        """Return the texts that were kept before one."""
        return Findings(
            payload=[stored for stored in self.payload if stored.number < number],
            digest=[stored for stored in self.digest if stored.number < number],
            near=self.near.where(self.near.ids < number),
        )


class TextStore:
    """Finds kept texts and adds to them; decides nothing.

    Args:
        server: The server that holds them.
        blocks: The number of blocks of a fingerprint.

    Attributes:
        known: The shingles of texts that were candidates, by number.
        log: Decides which texts are kept.
    """

    def __init__(self, server: Server, *, blocks: int) -> None:
        self._server = server
        self._lists = RecordLists(server)
        self._documents = RedisDocuments(server, self._lists, blocks=blocks)
        self._postings = RedisPostings(self._lists, blocks=blocks)
        self._bands = RedisBands(self._lists, blocks=blocks)
        self.known = KnownShingles()
        self.log = CommitLog(server, self._forget)
        self.claim = self._documents.claim
        self.beside = self._documents.beside

    def _forget(self) -> None:
        self._documents.forget()
        self._lists.forget()
        # What is judged now may still add to the shingles of before.
        self.known = KnownShingles()

    async def find(self, head: Head, limits: Limits) -> tuple[Look, Findings]:
        """Look into the log, and find after that what has something in common.

        What a sender that died has left in the log is written to where it is found.
        """
        places = [self._documents.digest_question(head.digest)]
        if head.payload is not None:
            places.append(self._documents.payload_question(head.payload))
        first = len(places)
        if head.fingerprint is not None:
            places += self._postings.questions(head.fingerprint, limits.radius)
        first_band = len(places)
        if head.sketch is not None:
            places += self._bands.questions(head.sketch)
        look, stored = await self.log.look_and_ask(places)
        self._lists.trust(look.compared.below)
        if look.left_behind is not None:
            await self.post_entry(look.left_behind)
        lists = await self._lists.completed(places, stored)
        numbers = np.empty(0, np.int64)
        if head.fingerprint is not None:
            numbers, _ = near(lists[first:first_band], head.fingerprint, limits.radius)
            # As in memory: the nearest, and those that share the most bands.
            numbers = numbers[: MAX_CANDIDATES + 1]
        if head.sketch is not None:
            numbers = np.concatenate([numbers, sharing(lists[first_band:], head.sketch)])
        if len(numbers) > MAX_CANDIDATES:
            # On a template of so many texts lists are full, or a copy is not among the first.
            numbers = np.concatenate([numbers, await self._documents.namesakes(head)])
        numbers = distinct(numbers)
        # Parts are read after the look: a commit compares what came between.
        numbers = numbers[numbers < look.compared.below]
        posted = await self._documents.heads(numbers[~np.isin(numbers, look.recent.ids)])
        recent = found_in(look.recent, head, limits)
        return look, Findings(
            payload=_merged(lists[1:first], head.payload or b"", recent.payload),
            digest=_merged(lists[:1], head.digest, recent.digest),
            near=_near_in(posted, head, limits).joined(recent.near),
        )

    async def find_payload(self, digest: bytes) -> list[DigestOwner]:
        """Find the kept texts of this payload, the first first."""
        place = self._documents.payload_question(digest)
        look, stored = await self.log.look_and_ask([place])
        recent = _owners(look.recent, look.recent.has("payload", digest, HAS_PAYLOAD))
        return _merged(await self._lists.completed([place], stored), digest, recent)

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

    async def keep(
        self,
        record: Record,
        compared: Compared,
        limits: Limits,
        beside: Callable[[], bytes],
        *,
        keeps: bool,
    ) -> Commit:
        """Keep a text as ``CommitLog.commit`` does, and write it to where it is found."""
        head, packed = record.head, record.packed()
        if self._server.is_cluster:
            commit = await self.log.commit(head, packed, compared, limits, keeps=keeps)
            if commit.number is not None:
                await self.post(commit.number, packed, beside())
            return commit
        side_records = SideRecords(
            self._documents.text_keys,
            self._documents.beside_keys,
            beside(),
            self._list_additions(head, 0),
        )
        return await self.log.commit(
            head, packed, compared, limits, keeps=keeps, side_records=side_records
        )

    def _list_additions(self, head: Head, number: int) -> list[Addition]:
        """Return the records by which a text is found."""
        additions = self._documents.list_additions(number, head)
        if head.fingerprint is not None:
            additions += self._postings.additions(head.fingerprint, number)
        if head.sketch is not None:
            additions += self._bands.additions(head.sketch, number)
        return additions

    async def post(self, number: int, packed: bytes, beside: bytes = b"") -> None:
        """Write an entry of the log to where it is found; does no harm when it is there already.

        Args:
            number: The number of the entry.
            packed: The entry.
            beside: The bytes that are held beside its text; empty: none are known here.
        """
        head = unpack_record(packed).head
        writes: list[Command] = [self._documents.addition(number, packed)]
        writes += self._lists.calls(self._list_additions(head, number))
        if beside:
            writes.append(self._documents.beside_addition(number, beside))
        await self._server.pipeline(writes)
        await self.log.posted(number)

    async def post_entry(self, number: int, beside: bytes = b"") -> None:
        """Write an entry of the log to where it is found, from what the log holds of it."""
        body = await self.log.body(number)
        if body is not None:
            await self.post(number, body, beside)
        elif beside:
            await self._server.pipeline([self._documents.beside_addition(number, beside)])

    async def all(self) -> AsyncIterator[tuple[int, Record]]:
        """Yield all kept texts by number, those that are kept meanwhile too."""
        first = 0
        while first < (count := await self.log.count()):
            numbers = range(first, min(first + _READ_AT_ONCE, count))
            found = await self.records(numbers)
            for number in sorted(found):
                yield number, found[number]
            first = numbers.stop


def found_in(heads: Heads, head: Head, limits: Limits) -> Findings:
    """Return which texts have something in common with one, by their heads alone."""
    return Findings(
        payload=_owners(heads, heads.has("payload", head.payload, HAS_PAYLOAD)),
        digest=_owners(heads, heads.has("digest", head.digest)),
        near=_near_in(heads, head, limits),
    )


def _near_in(heads: Heads, head: Head, limits: Limits) -> Heads:
    """Return the texts of other owners that are near by fingerprint or by a band."""
    if head.fingerprint is None or not len(heads.ids):
        return Heads.empty()
    flags = heads.rows["flags"]
    distances = np.bitwise_count(heads.rows["fingerprint"] ^ np.uint64(head.fingerprint))
    are_near = distances <= limits.radius
    if head.sketch is not None:
        similar = are_similar(head.sketch, heads.rows["sketch"], limits.unequal)
        are_near |= similar & ((flags & HAS_SKETCH) != 0)
    are_near &= (flags & HAS_FINGERPRINT) != 0
    return heads.where(are_near & ~heads.has("owner", head.owner))


def _owners(heads: Heads, wanted: NDArray[np.bool_]) -> list[DigestOwner]:
    found = heads.where(wanted)
    return [
        DigestOwner(mark_of(owner.tobytes()), number)
        for number, owner in zip(found.ids.tolist(), found.rows["owner"], strict=True)
    ]


def _merged(
    lists: Sequence[bytes | None], digest: bytes, recent: Iterable[DigestOwner]
) -> list[DigestOwner]:
    found = {owner for stored in lists for owner in owners_in(stored, digest)}
    return sorted(found.union(recent), key=lambda owner: owner.number)
