"""How far is what a page says now from what it said at its last visit?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.pages import outcomes, verdicts
from crawler.pages.judged_documents import unpack_judged
from crawler.pages.url_history import Outcome
from neardup import JaccardVerifier, hamming
from neardup.verifier import compared_with

if TYPE_CHECKING:
    from crawler.pages.page_row import PageRow
    from crawler.pages.page_store import PageStore
    from crawler.pages.url_history import KnownUrls
    from neardup import Document, Parameters


@dataclass(frozen=True, slots=True)
class Comparer:
    """Compares a page with its own last version.

    Args:
        store: Where the last versions stand.
        known: What else was answered since.
        parameters: What makes a near-duplicate makes a change next to none.
    """

    store: PageStore
    known: KnownUrls
    parameters: Parameters

    def measure(self, previous: PageRow, document: Document) -> tuple[int | None, float | None]:
        """Hamming distance in bits and Jaccard similarity of a page to its own last version.

        Args:
            previous: The last version.
            document: What the page says now.

        Returns:
            None for what cannot be told: a text without fingerprint, a text not held.
        """
        distance = similarity = None
        if document.fingerprint is not None and previous.fingerprint is not None:
            distance = hamming(document.fingerprint, previous.fingerprint)
        text = self._text(previous)
        if text is not None:
            verifier = JaccardVerifier(self.parameters.verify_shingle_size)
            similarity = compared_with(verifier, document.text, min_similarity=0)(
                unpack_judged(text)
            )
        return distance, similarity

    def _text(self, row: PageRow) -> bytes | None:
        """What a version said, also where another page holds it."""
        if row.text is not None or row.text_digest is None:
            return row.text
        said = self.store.find_said(row.text_digest)
        return None if said is None else said.text

    def outcome(
        self, previous: PageRow | None, row: PageRow, document: Document | None, *, is_cut: bool
    ) -> Outcome:
        """What became of a page.

        Args:
            previous: Its last version, None for a page that was not known.
            row: The capture, with its verdict; "changed" with its measures.
            document: What it says, None for what is no text.
            is_cut: Whether a part of it came only.
        """
        if row.verdict == verdicts.NOT_HTML and previous is not None and not is_cut:
            return self._outcome_of_file(previous, row)
        if row.verdict == verdicts.UNREADABLE or not row.latest or is_cut:
            nothing = row.reason or "it says nothing now"
            return Outcome(outcomes.FAILED, outcomes.ONLY_A_PART if is_cut else nothing)
        if previous is None:
            return Outcome(outcomes.NEW)
        if row.verdict == verdicts.NOINDEX:
            return Outcome(outcomes.CHANGED, row.reason or verdicts.VERDICTS[row.verdict])
        if row.says_what_it_said(previous):
            return Outcome(outcomes.UNCHANGED)
        measures = row.distance, row.similarity
        if row.verdict != verdicts.CHANGED and document is not None:
            measures = self.measure(previous, document)
        return outcome_of_change(*measures, self.parameters)

    def _outcome_of_file(self, previous: PageRow, row: PageRow) -> Outcome:
        """What became of what is no page now: its bytes alone can be compared."""
        was_file = previous.last_text_digest is None and previous.verdict != verdicts.NOINDEX
        is_same = was_file and previous.last_payload_digest == row.last_payload_digest
        if is_same or self.known.was_file(previous, row):
            return Outcome(outcomes.UNCHANGED)
        return Outcome(outcomes.CHANGED, row.reason or verdicts.VERDICTS[row.verdict])


def outcome_of_change(
    distance: int | None, similarity: float | None, parameters: Parameters
) -> Outcome:
    """What a measured change is: one of the text, or of next to nothing.

    The same bounds make a near-duplicate. The similarity decides where it is
    known, since it was counted on the texts; the distance elsewhere.
    """
    if similarity is not None:
        is_near = similarity >= parameters.min_similarity
    else:
        is_near = distance is not None and distance <= parameters.max_distance
    return Outcome(outcomes.CHANGED, distance=distance, similarity=similarity, is_near=is_near)
