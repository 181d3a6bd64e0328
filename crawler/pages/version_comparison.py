"""Compare a page with its last version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.pages import outcomes, verdicts
from crawler.pages.judged_documents import unpack_judged
from crawler.pages.reasons import Reason
from crawler.pages.url_history import Outcome
from neardup import hamming
from neardup.verification import JaccardVerifier
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
        store: Page store with the last versions.
        known: Later answers of known URLs.
        parameters: Parameters whose bound for near-duplicates also marks a change as near none.
    """

    store: PageStore
    known: KnownUrls
    parameters: Parameters

    def measure(self, previous: PageRow, document: Document) -> tuple[int | None, float | None]:
        """Return Hamming distance in bits and Jaccard similarity of a page to its last version.

        Args:
            previous: Last version of the page.
            document: Present text of the page.

        Returns:
            None for an unknown value: a text has no fingerprint, or is not stored.
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
        """Return the text of a version, also if another page holds it."""
        if row.text is not None or row.text_digest is None:
            return row.text
        said = self.store.find_said(row.text_digest)
        return None if said is None else said.text

    def outcome(
        self, previous: PageRow | None, row: PageRow, document: Document | None, *, is_cut: bool
    ) -> Outcome:
        """Return the outcome of a page.

        Args:
            previous: Last version of the page, or None if it was not known.
            row: Capture with its verdict; a changed one with its distance and similarity.
            document: Text of the page, or None without a text.
            is_cut: Whether only a part of it came.
        """
        if row.verdict == verdicts.NOT_HTML and previous is not None and not is_cut:
            return self._outcome_of_file(previous, row)
        if row.verdict == verdicts.UNREADABLE or not row.latest or is_cut:
            nothing = row.reason or Reason.SAYS_NOTHING.stored()
            return Outcome(outcomes.FAILED, Reason.ONLY_A_PART.stored() if is_cut else nothing)
        if previous is None:
            return Outcome(outcomes.NEW)
        if row.verdict == verdicts.NOINDEX:
            return Outcome(outcomes.CHANGED, row.reason or Reason.VERDICT.stored(row.verdict))
        if row.says_what_it_said(previous):
            return Outcome(outcomes.UNCHANGED)
        measures = row.distance, row.similarity
        if row.verdict != verdicts.CHANGED and document is not None:
            measures = self.measure(previous, document)
        return outcome_of_change(*measures, self.parameters)

    def _outcome_of_file(self, previous: PageRow, row: PageRow) -> Outcome:
        """Return the outcome of a page that is a file now: only its bytes can be compared."""
        was_file = previous.last_text_digest is None and previous.verdict != verdicts.NOINDEX
        is_same = was_file and previous.last_payload_digest == row.last_payload_digest
        if is_same or self.known.was_file(previous, row):
            return Outcome(outcomes.UNCHANGED)
        return Outcome(outcomes.CHANGED, row.reason or Reason.VERDICT.stored(row.verdict))


def outcome_of_change(
    distance: int | None, similarity: float | None, parameters: Parameters
) -> Outcome:
    """Return the outcome of a measured change: a new text, or one that is near the old.

    The bounds are those of a near-duplicate. The similarity decides if it is known, since it was
    computed on the texts; else the distance.
    """
    if similarity is not None:
        is_near = similarity >= parameters.min_similarity
    else:
        is_near = distance is not None and distance <= parameters.max_distance
    return Outcome(outcomes.CHANGED, distance=distance, similarity=similarity, is_near=is_near)
