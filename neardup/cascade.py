"""The layers of a verdict, the cheapest first: which kept text does this one repeat?"""

from collections.abc import Collection
from dataclasses import dataclass, field

from neardup.candidates import MAX_CANDIDATES, Bitmaps, Candidates
from neardup.document import Document
from neardup.fingerprints.digest import EMPTY_DIGEST
from neardup.indexes.hamming import HammingIndex
from neardup.parameters import Parameters
from neardup.storage.documents import Documents
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


@dataclass(frozen=True, slots=True)
class Funnel:
    """Asks the layers of a verdict, and keeps nothing.

    Attributes:
        parameters: The parameters that decide which texts are the same.
        documents: The kept texts, the truth.
        index: Their fingerprints. It may know what is not stored: that makes no verdict.
        verifier: The measure that confirms candidates.
        bitmaps: The bitmaps of texts that were candidates.
    """

    parameters: Parameters
    documents: Documents
    index: HammingIndex
    verifier: Verifier
    bitmaps: Bitmaps = field(default_factory=Bitmaps)

    def find(self, document: Document, excluded: Collection[int]) -> Verdict:
        """Return the verdict: what the text repeats, or that it is new."""
        if document.payload is not None:
            known = self.find_payload(document.payload, excluded)
            if known is not None:
                return known
        equal = self.documents.find_digest(document.digest, excluded)
        if equal is not None:
            return Verdict(TEXT_DUPLICATE, equal, distance=0, similarity=1.0, tier=TEXT_TIER)
        if document.fingerprint is None:
            return Verdict(NEW)
        return self._find_near(document.text, document.fingerprint, excluded)

    def find_payload(self, digest: bytes, excluded: Collection[int]) -> Verdict | None:
        """Return the verdict on what came from the bytes of a kept text; None: they are new."""
        # Texts of other stores may have been taken from an empty body.
        found = None if digest == EMPTY_DIGEST else self.documents.find_payload(digest, excluded)
        if found is None:
            return None
        return Verdict(EXACT_DUPLICATE, found, distance=0, similarity=1.0, tier=PAYLOAD_TIER)

    def _find_near(self, text: str, fingerprint: int, excluded: Collection[int]) -> Verdict:
        parameters = self.parameters
        candidates = Candidates(text, self.verifier, self.bitmaps, parameters.min_similarity)
        matches = self.index.query(fingerprint, limit=MAX_CANDIDATES + 1)
        for match in matches[:MAX_CANDIDATES]:
            if match.distance > parameters.radius:
                break
            if match.id in excluded or (parameters.verify and not candidates.may_confirm(match.id)):
                continue
            kept = self.documents.text(match.id)
            if kept is None:
                continue
            if not parameters.verify:
                return self._near(match.id, match.distance, None)
            shared = candidates.confirmed(match.id, kept)
            if shared is not None:
                return self._near(match.id, match.distance, shared)
        beyond = sum(match.distance <= parameters.radius for match in matches[MAX_CANDIDATES:])
        return Verdict(NEW, left_out=candidates.left_out + beyond)

    def _near(self, original: int, distance: int, similarity: float | None) -> Verdict:
        is_match = distance <= self.parameters.max_distance
        tier = SIMHASH_TIER if is_match else CANDIDATE_TIER
        return Verdict(NEAR_DUPLICATE, original, distance, similarity, tier)
