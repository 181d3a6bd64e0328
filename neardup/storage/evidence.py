"""Find what is known of kept texts in memory and SQLite, for ``cascade.decide``."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from neardup.candidates import MAX_CANDIDATES, Bitmaps, Candidates
from neardup.cascade import Evidence, NearText
from neardup.document import Document
from neardup.fingerprints.digest import EMPTY_DIGEST
from neardup.indexes.hamming import HammingIndex
from neardup.parameters import Parameters
from neardup.storage.documents import Documents
from neardup.verifier import Verifier


@dataclass(frozen=True, slots=True)
class EvidenceSource:
    """Looks for kept texts layer by layer, and keeps nothing.

    Attributes:
        parameters: The parameters that decide which texts are the same.
        documents: The kept texts, the truth.
        index: Their fingerprints. It may know what is not stored: that is no evidence.
        verifier: The measure that confirms candidates.
        bitmaps: The bitmaps of texts that were candidates.
    """

    parameters: Parameters
    documents: Documents
    index: HammingIndex
    verifier: Verifier
    bitmaps: Bitmaps = field(default_factory=Bitmaps)

    def find(self, document: Document, excluded: Collection[int]) -> Evidence:
        """Return the kept texts that a text may repeat, of the first layer that has any."""
        if document.payload is not None:
            same_bytes = self.find_payload(document.payload, excluded)
            if same_bytes is not None:
                return Evidence(payload=same_bytes)
        equal = self.documents.find_digest(document.digest, excluded)
        if equal is not None:
            return Evidence(text=equal)
        if document.fingerprint is None:
            return Evidence()
        return Evidence(near=self._near(document.text, document.fingerprint, excluded))

    def find_payload(self, digest: bytes, excluded: Collection[int]) -> int | None:
        """Return the first kept text that was taken from bytes of this digest; None: none was."""
        # Texts of other stores may have been taken from an empty body.
        return None if digest == EMPTY_DIGEST else self.documents.find_payload(digest, excluded)

    def _near(self, text: str, fingerprint: int, excluded: Collection[int]) -> Sequence[NearText]:
        matches = self.index.query(fingerprint, limit=MAX_CANDIDATES + 1)
        if not matches:
            return ()
        candidates = Candidates(
            text, matches, self.parameters, self.verifier, self.bitmaps, excluded=excluded
        )
        while unread := candidates.unread():
            for match in unread:
                kept = self.documents.text(match.id)
                if kept is not None:
                    candidates.compare(match, kept)
        return candidates.near
