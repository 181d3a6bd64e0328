"""Judge a page's text against the pages of this crawl, or by the verdict of a fleet."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from crawler.pages import verdicts
from crawler.pages.reasons import Reason
from crawler.pages.version_comparison import Comparer
from neardup import Verdict
from neardup.fingerprints.digest import EMPTY_DIGEST, words_digest

if TYPE_CHECKING:
    from crawler.pages.page_context import PageContext
    from crawler.pages.page_row import PageRow
    from crawler.pages.page_store import PageStore
    from crawler.pages.shared_verdicts import OriginalPage, PageVerdict
    from crawler.pages.url_history import KnownUrls
    from crawler.reading.reading import Extract
    from neardup import Deduplicator, Document, Parameters


def is_better(candidate: PageRow, kept: PageRow | OriginalPage) -> bool:
    """Return whether a later copy would have been the better one, in the order of Apache Nutch.

    Nutch compares score, then fetch time, then https before http, then the length of the URL. Our
    score is the nearness to a seed. Copies of one visit count as fetched at the same time: a second
    between them means nothing.
    """
    return _rank(candidate) < _rank(kept)


def _rank(row: PageRow | OriginalPage) -> tuple[int, int, bool, int]:
    return row.depth, -row.visit, urlsplit(row.url).scheme != "https", len(row.url)


class FleetQuestion(Enum):
    """A question to the fleet about a page."""

    TEXT = "does the text repeat a kept one"
    FILE = "are these the bytes of a kept file"


@dataclass(slots=True)
class Judge:
    """Judges texts against the kept ones.

    Args:
        store: Page store with the captures.
        known: Outcomes of the known URLs.
        deduplicator: Deduplicator of the kept texts of this crawl.
    """

    store: PageStore
    known: KnownUrls
    deduplicator: Deduplicator
    comparer: Comparer = field(init=False)

    def __post_init__(self) -> None:
        self.comparer = Comparer(self.store, self.known, self.deduplicator.parameters)

    @property
    def min_words(self) -> int:
        """Minimum number of words of a text that is compared by its fingerprint."""
        return self.deduplicator.parameters.min_words

    def tune(self, parameters: Parameters) -> None:
        """Judge by other parameters from now on.

        Raises:
            ParameterError: They name other features.
        """
        self.deduplicator.tune(parameters)
        self.comparer = Comparer(self.store, self.known, parameters)

    def describe(self, row: PageRow, page: PageContext) -> Document | None:
        """Fill in a row's columns of the text; return the text, or None if none was read."""
        document, extract = page.document(self.min_words), page.reading.extract
        if document is None or extract is None:
            return None
        row.is_main = int(extract.is_main)
        row.last_text_digest = _last_digest(page.previous, document, extract)
        row.words, row.text_digest = document.words, document.digest
        row.fingerprint = document.fingerprint
        row.words_digest = words_digest(document.text)
        return document

    def question(self, row: PageRow, page: PageContext, document: Document) -> FleetQuestion | None:
        """Return the question to ask about a text, or None if this crawl's pages decide."""
        if document.digest == EMPTY_DIGEST:
            return None
        own = page.own_ids
        if self._twin(row, own) or self.store.find_text(document.digest, own) is not None:
            return None
        return FleetQuestion.TEXT

    def judge(
        self,
        row: PageRow,
        page: PageContext,
        document: Document,
        answer: PageVerdict | None = None,
    ) -> None:
        """Write the verdict on a text into its row, and keep the text if it repeats none.

        A page that was kept with another text has no privilege: if another page holds its present
        text, it becomes a duplicate of that one.

        Args:
            row: Row filled in by ``describe``.
            page: The page.
            document: Text of the page.
            answer: Verdict of the fleet, or None if it was not asked.
        """
        if answer is None:
            verdict = self._judge_here(row, document, page.own_ids)
            row.duplicate_of = verdict.duplicate_of
        else:
            verdict = answer.verdict
            if answer.original is None:
                self.deduplicator.add_document(row.id, document)
        row.verdict, row.distance, row.similarity = (
            verdict.kind,
            verdict.distance,
            verdict.similarity,
        )
        if verdict.left_out:
            row.reason = Reason.NOT_COMPARED.stored()
        previous = page.previous
        is_new_text = previous is not None and not row.says_what_it_said(previous)
        if previous is not None and is_new_text and row.verdict not in verdicts.DUPLICATES:
            row.verdict = verdicts.CHANGED
            row.distance, row.similarity = self.comparer.measure(previous, document)

    def _judge_here(self, row: PageRow, document: Document, own: frozenset[int]) -> Verdict:
        twin = self._twin(row, own)
        if twin is None:
            return self.deduplicator.judge_document(row.id, document, exclude=own)
        row.text_digest, row.fingerprint = twin.text_digest, twin.fingerprint
        return Verdict(verdicts.TEXT_DUPLICATE, twin.id, distance=0, similarity=1.0)

    def _twin(self, row: PageRow, excluded: frozenset[int]) -> PageRow | None:
        """Return a kept page with the same visible text, judged by another digest of it, or None.

        If ``min_words`` changed, a text of this length was too short before and is not now, or vice
        versa.
        """
        if row.visible_digest is None or not row.is_main:
            return None
        is_long = (row.words or 0) >= self.min_words
        return self.store.find_shown(row, is_long=not is_long, exclude=excluded)


def repeat(row: PageRow, original: PageRow | OriginalPage) -> None:
    """Fill in a row as an exact duplicate of an original."""
    row.verdict, row.distance, row.similarity = verdicts.EXACT_DUPLICATE, 0, 1.0
    row.text_digest, row.fingerprint = original.text_digest, original.fingerprint
    row.last_text_digest = original.text_digest
    row.visible_digest, row.words = original.visible_digest, original.words
    row.is_main = original.is_main
    row.words_digest = original.words_digest


def _last_digest(previous: PageRow | None, document: Document, extract: Extract) -> bytes:
    """Return the digest of a page's text for the comparison at its next visit.

    A text of at least ``min_words`` has another digest than a shorter one, and that bound may have
    changed since the last version: the last digest stays if it is either of the two.
    """
    last = None if previous is None else previous.last_text_digest
    return last if last is not None and last in extract.digests else document.digest
