"""Find what is known of the kept texts of many processes, for ``cascade.decide``."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from neardup.candidates import Candidates
from neardup.cascade import Evidence, decide
from neardup.document import Document
from neardup.fingerprints.digest import EMPTY_DIGEST
from neardup.kept_facts import Siblings, ordered
from neardup.names import NO_NAME, unpacked
from neardup.parameters import Parameters
from neardup.storage.redis.head_format import Head, Heads, Record
from neardup.storage.redis.kept_documents import DigestOwner, mark_of
from neardup.storage.redis.text_store import Findings, TextStore
from neardup.verdict import Verdict
from neardup.verification import Verifier

_READ_AT_ONCE = 8  # the first original ends the search


@dataclass(frozen=True, slots=True)
class Original:
    """A kept text, wherever its page is.

    Attributes:
        number: The position among the kept texts of the fleet; -1 for a file that is no page.
        owner: The key of its page, 16 bytes.
        about: The bytes that its owner stored with it.
        text_digest: 16 bytes; of a file that is no page, empty.
    """

    number: int
    owner: bytes
    about: bytes
    text_digest: bytes


@dataclass(frozen=True, slots=True)
class SharedVerdict:
    """A verdict with the kept text that it names.

    Attributes:
        verdict: Its ``duplicate_of`` is the original's number, its ``resembles`` the other's.
        original: The kept text that the text repeats; None where it repeats none.
        resembled: The kept text of another name that the text resembles, for ``same_template``;
            None otherwise.
    """

    verdict: Verdict
    original: Original | None = None
    resembled: Original | None = None


@dataclass(frozen=True, slots=True)
class KeptText:
    """A kept text.

    Attributes:
        original: The page and the number of the text.
        text: The text, as it came.
    """

    original: Original
    text: str = field(repr=False)


class SharedEvidence(NamedTuple):
    """The kept texts that a text may repeat.

    Attributes:
        evidence: The kept texts by layers; ids are numbers of kept texts.
        originals: Where each of them is, by number.
    """

    evidence: Evidence
    originals: dict[int, Original]

    def joined(self, later: "SharedEvidence") -> "SharedEvidence":
        """Return it with what was found among texts that were kept later."""
        near = sorted([*self.evidence.near, *later.evidence.near], key=attrgetter("distance", "id"))
        return SharedEvidence(
            later.evidence._replace(near=near), {**self.originals, **later.originals}
        )

    def decided(self, words: int, parameters: Parameters) -> SharedVerdict:
        """Return the verdict of ``cascade.decide`` with the kept text that it names."""
        verdict = decide(words, self.evidence, parameters)
        original, resembled = (
            None if number is None else self.originals[number]
            for number in (verdict.duplicate_of, verdict.resembles)
        )
        return SharedVerdict(verdict, original, resembled)


@dataclass(frozen=True, slots=True)
class SharedEvidenceSource:
    """Looks for kept texts layer by layer, and keeps nothing.

    Attributes:
        text_store: The kept texts.
        parameters: The parameters that decide which texts are the same.
        verifier: The measure that confirms candidates.
    """

    text_store: TextStore
    parameters: Parameters
    verifier: Verifier

    async def own(self, head: Head, findings: Findings) -> int | None:
        """Return the number of the same text of the same owner; None: it is not kept yet."""
        marked = [stored.number for stored in findings.digest if stored.mark == mark_of(head.owner)]
        for number, record in (await self.text_store.records(marked)).items():
            if (record.head.owner, record.head.digest) == (head.owner, head.digest):
                return number
        return None

    async def find(self, head: Head, document: Document, findings: Findings) -> SharedEvidence:
        """Return the texts of other owners that a text may repeat."""
        if head.payload is not None:
            original = await self.find_payload(head.owner, head.payload, findings.payload)
            if original is not None:
                evidence = Evidence(payload=original.number)
                return SharedEvidence(evidence, {original.number: original})
        original = await self._first(
            findings.digest,
            lambda other: other.digest == head.digest and other.owner != head.owner,
        )
        if original is not None:
            return SharedEvidence(Evidence(text=original.number), {original.number: original})
        if head.fingerprint is None or not len(findings.near.ids):
            return NO_EVIDENCE
        return await self._find_near(head, document, self._siblings(document, findings.near))

    async def find_payload(
        self, owner: bytes, payload: bytes, found: Sequence[DigestOwner]
    ) -> Original | None:
        """Return the first text of another owner that was taken from these bytes."""
        if payload == EMPTY_DIGEST:
            return None
        return await self._first(
            found, lambda other: other.payload == payload and other.owner != owner
        )

    async def _first(
        self, found: Sequence[DigestOwner], is_original: Callable[[Head], bool]
    ) -> Original | None:
        for first in range(0, len(found), _READ_AT_ONCE):
            numbers = [stored.number for stored in found[first : first + _READ_AT_ONCE]]
            records = await self.text_store.records(numbers)
            for number in numbers:
                if number in records and is_original(records[number].head):
                    return original_of(number, records[number])
        return None

    def _siblings(self, document: Document, near: Heads) -> Siblings:
        name = unpacked(document.name) if self.parameters.compare_names else NO_NAME
        fingerprints = near.rows["fingerprint"].astype(np.uint64)
        marks = near.rows["marks"].astype(np.uint32)
        return ordered(near.ids, fingerprints, marks, document.fingerprint or 0, name)

    async def _find_near(self, head: Head, document: Document, found: Siblings) -> SharedEvidence:
        originals: dict[int, Original] = {}
        candidates = Candidates(
            document.text,
            found.possible(),
            self.parameters,
            self.verifier,
            self.text_store.known,
            name=document.name,
            others=found.others(),
        )
        while unread := candidates.unread(_READ_AT_ONCE):
            records = await self.text_store.records([match.id for match in unread])
            for match in unread:
                record = records.get(match.id)
                if record is None or not _is_candidate(head, record.head, match.distance):
                    continue
                if candidates.is_needed(match, record.name):
                    originals[match.id] = original_of(match.id, record)
                    candidates.compare(match, record.text, record.name)
        return SharedEvidence(Evidence(near=candidates.near), originals)


NO_EVIDENCE = SharedEvidence(Evidence(), {})


def original_of(number: int, record: Record) -> Original:
    """Return where a kept text is."""
    return Original(number, record.head.owner, record.about, record.head.digest)


def _is_candidate(head: Head, other: Head, distance: int) -> bool:
    if other.owner == head.owner or None in (head.fingerprint, other.fingerprint):
        return False
    # A server that lost its last second gives numbers again: a posting may be of an older text.
    return ((head.fingerprint or 0) ^ (other.fingerprint or 0)).bit_count() == distance
