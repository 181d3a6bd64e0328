"""The layers of a shared verdict, the cheapest first: which kept text does this one repeat?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

from neardup.candidates import MAX_CANDIDATES, Candidates
from neardup.fingerprints.digest import EMPTY_DIGEST
from neardup.indexes.match import Match
from neardup.parameters import Parameters
from neardup.storage.redis.head_format import Head, Record
from neardup.storage.redis.kept_documents import DigestOwner, mark_of
from neardup.storage.redis.shelf import Findings, Shelf
from neardup.storage.redis.verdict_records import Original, SharedVerdict
from neardup.verdict import (
    CANDIDATE_TIER,
    EXACT_DUPLICATE,
    NEAR_DUPLICATE,
    NEW,
    PAYLOAD_TIER,
    SIMHASH_TIER,
    TEXT_DUPLICATE,
    TEXT_TIER,
    Verdict,
)
from neardup.verifier import Verifier

_READ_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class SharedFunnel:
    """Asks the layers of a verdict, and keeps nothing.

    Attributes:
        shelf: The kept texts.
        parameters: The parameters that decide which texts are the same.
        verifier: The measure that confirms candidates.
    """

    shelf: Shelf
    parameters: Parameters
    verifier: Verifier

    async def own(self, head: Head, findings: Findings) -> int | None:
        """Return the number of the same text of the same owner; None: it is not kept yet."""
        marked = [held.number for held in findings.digest if held.mark == mark_of(head.owner)]
        for number, record in (await self.shelf.records(marked)).items():
            if (record.head.owner, record.head.digest) == (head.owner, head.digest):
                return number
        return None

    async def find(self, head: Head, text: str, findings: Findings) -> SharedVerdict:
        """Return the verdict: on what repeats another owner's text, or that it is new."""
        return (
            await self.find_payload(head.owner, head.payload, findings.payload)
            or await self._find_digest(head, findings.digest)
            or await self._find_near(head, text, findings.near)
        )

    async def find_payload(
        self, owner: bytes, payload: bytes | None, found: Sequence[DigestOwner]
    ) -> SharedVerdict | None:
        """Return the verdict on what came from the bytes of another owner's text."""
        if payload == EMPTY_DIGEST:
            return None

        def is_original(other: Head) -> bool:
            return other.payload == payload and other.owner != owner

        original = await self._first(found, is_original)
        return None if original is None else _equal(EXACT_DUPLICATE, PAYLOAD_TIER, original)

    async def _find_digest(self, head: Head, found: Sequence[DigestOwner]) -> SharedVerdict | None:
        def is_original(other: Head) -> bool:
            return other.digest == head.digest and other.owner != head.owner

        original = await self._first(found, is_original)
        return None if original is None else _equal(TEXT_DUPLICATE, TEXT_TIER, original)

    async def _first(
        self, found: Sequence[DigestOwner], is_original: Callable[[Head], bool]
    ) -> Original | None:
        for first in range(0, len(found), _READ_AT_ONCE):
            numbers = [held.number for held in found[first : first + _READ_AT_ONCE]]
            records = await self.shelf.records(numbers)
            for number in numbers:
                if number in records and is_original(records[number].head):
                    return original_of(number, records[number])
        return None

    async def _find_near(self, head: Head, text: str, found: Sequence[Match]) -> SharedVerdict:
        parameters, bitmaps = self.parameters, self.shelf.bitmaps
        candidates = Candidates(text, self.verifier, bitmaps, parameters.min_similarity)
        left = iter(found[:MAX_CANDIDATES])
        worth = (m for m in left if not parameters.verify or candidates.may_confirm(m.id))
        while batch := list(islice(worth, _READ_AT_ONCE)):
            records = await self.shelf.records([match.id for match in batch])
            for match in batch:
                record = records.get(match.id)
                if record is None or not _is_candidate(head, record.head, match.distance):
                    continue
                original = original_of(match.id, record)
                if not parameters.verify:
                    return self._near(original, match.distance, None)
                shared = candidates.confirmed(match.id, record.text)
                if shared is not None:
                    return self._near(original, match.distance, shared)
        beyond = len(found[MAX_CANDIDATES:])
        return SharedVerdict(Verdict(NEW, left_out=candidates.left_out + beyond))

    def _near(self, original: Original, distance: int, similarity: float | None) -> SharedVerdict:
        is_match = distance <= self.parameters.max_distance
        tier = SIMHASH_TIER if is_match else CANDIDATE_TIER
        verdict = Verdict(NEAR_DUPLICATE, original.number, distance, similarity, tier)
        return SharedVerdict(verdict, original)


def original_of(number: int, record: Record) -> Original:
    """Return where a kept text is."""
    return Original(number, record.head.owner, record.about, record.head.digest)


def _is_candidate(head: Head, other: Head, distance: int) -> bool:
    if other.owner == head.owner or None in (head.fingerprint, other.fingerprint):
        return False
    # A server that lost its last second gives numbers again: a posting may be of an older text.
    return ((head.fingerprint or 0) ^ (other.fingerprint or 0)).bit_count() == distance


def _equal(kind: str, tier: str, original: Original) -> SharedVerdict:
    verdict = Verdict(kind, original.number, distance=0, similarity=1.0, tier=tier)
    return SharedVerdict(verdict, original)
