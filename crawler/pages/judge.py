"""Judge a page's text against the pages of this crawl, or by the verdict of a fleet."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING

from crawler.pages import verdicts
from crawler.pages.page_context import is_unchanged
from crawler.pages.page_row import PageRow, times_named
from crawler.pages.reasons import CUTS, SHOWN, Reason, codes, together
from crawler.pages.rendered import has_other_words, lacks_words
from crawler.pages.stored_texts import unpack_judged
from crawler.pages.url_history import Outcome
from crawler.reading.content_types import has_script
from neardup import Verdict, hamming
from neardup.document import analyse
from neardup.fingerprints.digest import EMPTY_DIGEST, words_digest
from neardup.names import difference, unpacked
from neardup.verification import JaccardVerifier, compared_with
from neardup.volatile.slots import masked

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawler.pages.page_context import PageContext
    from crawler.pages.page_row import OriginalPage
    from crawler.pages.page_store import PageStore
    from crawler.pages.shared_verdicts import FleetOriginals, PageVerdict
    from crawler.pages.url_history import KnownUrls
    from crawler.pages.walls import Wall
    from crawler.reading.reading import Extract
    from neardup import Deduplicator, Document, Parameters


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
        text = self.text(previous)
        if text is not None:
            verifier = JaccardVerifier(self.parameters.verify_shingle_size)
            similarity = compared_with(verifier, document.text, min_similarity=0)(
                unpack_judged(text)
            )
        return distance, similarity

    def fingerprint(self, previous: PageRow) -> int | None:
        """Return the fingerprint of the last version, also of a short one; None without a text."""
        text = self.text(previous) if previous.fingerprint is None else None
        if text is None:
            return previous.fingerprint
        return analyse(unpack_judged(text), replace(self.parameters, min_words=1)).fingerprint

    def says_the_same(self, previous: PageRow, document: Document, words: Collection[str]) -> bool:
        """Return whether a page says what its last version said, apart from some words."""
        if previous.text_digest == document.digest:
            return True
        text = self.text(previous)
        if text is None:
            return False
        return masked(unpack_judged(text), words) == masked(document.text, words)

    def text(self, row: PageRow) -> bytes | None:
        """Return the text of a version, also if another page holds it."""
        if row.text is not None or row.text_digest is None:
            return row.text
        said = self.store.find_by_digest(row.text_digest)
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
        if previous is not None and CUTS & codes(previous.reason):
            previous = None  # only parts of it came before
        if row.verdict == verdicts.NOT_HTML and previous is not None:
            return self._outcome_of_file(previous, row)
        if row.verdict == verdicts.UNREADABLE or not row.latest or is_cut:
            nothing = row.reason or Reason.SAYS_NOTHING.stored()
            return Outcome(verdicts.FAILED, Reason.ONLY_A_PART.stored() if is_cut else nothing)
        if previous is None:
            return Outcome(verdicts.NEW)
        if row.verdict == verdicts.NOINDEX:
            return Outcome(verdicts.CHANGED, row.reason or Reason.VERDICT.stored(row.verdict))
        if row.says_what_it_said(previous):
            return Outcome(verdicts.UNCHANGED)
        measures = row.distance, row.similarity
        if row.verdict != verdicts.CHANGED and document is not None:
            measures = self.measure(previous, document)
        return outcome_of_change(*measures, self.parameters)

    def _outcome_of_file(self, previous: PageRow, row: PageRow) -> Outcome:
        """Return the outcome of a page that is a file now: only its bytes can be compared."""
        was_file = previous.last_text_digest is None and previous.verdict != verdicts.NOINDEX
        is_same = was_file and previous.last_payload_digest == row.last_payload_digest
        if is_same or self.known.was_file(previous, row):
            return Outcome(verdicts.UNCHANGED)
        return Outcome(verdicts.CHANGED, row.reason or Reason.VERDICT.stored(row.verdict))


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
    return Outcome(verdicts.CHANGED, distance=distance, similarity=similarity, is_near=is_near)


def is_better(candidate: PageRow, kept: PageRow | OriginalPage) -> bool:
    """Return whether a later copy would have been the better one, in the order of Apache Nutch.

    Nutch compares score, then fetch time, then https before http, then the length of the URL. Our
    score is the nearness to a seed. Copies of one visit count as fetched at the same time: a second
    between them means nothing. Before all that we ask which URL names the language of the text.
    """
    return _rank(candidate, candidate.language) < _rank(kept, candidate.language)


def _rank(row: PageRow | OriginalPage, language: str | None) -> tuple[int, int, int, bool, int]:
    is_plain = not row.url.startswith("https:")
    return -times_named(row.url, language), row.depth, -row.visit, is_plain, len(row.url)


class FleetQuestion(Enum):
    TEXT = "does the text repeat a kept one"
    FILE = "are these the bytes of a kept file"


@dataclass(slots=True)
class Judge:
    """Judges texts against the kept ones.

    Args:
        store: Page store with the captures.
        known: Outcomes of the known URLs.
        deduplicator: Deduplicator of the kept texts of this crawl.
        fleet_originals: Originals that other crawls have.
    """

    store: PageStore
    known: KnownUrls
    deduplicator: Deduplicator
    fleet_originals: FleetOriginals
    comparer: Comparer = field(init=False)
    min_words: int = field(init=False)
    """Minimum number of words of a text that is compared by its fingerprint."""

    def __post_init__(self) -> None:
        self._compare_by(self.deduplicator.parameters)

    def _compare_by(self, parameters: Parameters) -> None:
        self.comparer = Comparer(self.store, self.known, parameters)
        self.min_words = parameters.min_words

    def tune(self, parameters: Parameters) -> None:
        """Judge by other parameters from now on.

        Raises:
            ParameterError: They name other features.
        """
        self.deduplicator.tune(parameters)
        self._compare_by(parameters)

    def note_name(self, page: PageContext, visit: int) -> None:
        """Learn from what a page that was fetched before is called now."""
        previous, document = page.previous, page.document(self.min_words)
        if previous is None:
            return
        if document is not None:
            says_the_same = partial(self.comparer.says_the_same, previous, document)
            self.store.volatile.note(visit, previous, document.name, says_the_same)
        elif previous.payload_digest == page.payload:
            self.store.volatile.note_same(visit, previous)

    def is_less_than_shown(self, page: PageContext, *, is_whole: bool) -> bool:
        """Return whether a browser showed the page before, and what there is of it now is less.

        It is less if words are gone and few others came: an application whose data failed shows its
        frame, and perhaps a word about that. What needs no script any more is never less.

        Args:
            page: The page.
            is_whole: Whether to ask also of a page that a browser showed whole now.
        """
        previous, reading = page.previous, page.reading
        if previous is None or not codes(previous.reason) & SHOWN:
            return False
        if not reading.is_page or page.asks_not_to_be_kept:
            return False
        if page.rendered is None and not has_script(page.fetched.body):
            return False
        if page.rendered is not None and page.is_whole and not is_whole:
            return False
        text, extract = self.comparer.text(previous), reading.extract
        if reading.is_app_shell or text is None or extract is None:
            return reading.is_app_shell
        before, now = unpack_judged(text), extract.text
        return lacks_words(before, now) and not has_other_words(before, now)

    def is_less_at_first(self, page: PageContext) -> bool:
        """Return whether a browser shows less of a page than before, and did not wait for long."""
        if page.rendered is None or page.rendered.is_patient or not page.is_whole:
            return False
        return self.is_less_than_shown(page, is_whole=True)

    def is_unchanged(self, page: PageContext) -> bool:
        """Return whether a page's text is the same, and its name still tells what it told.

        A near-duplicate may be called otherwise now than its original, and a page that only
        resembles another one may be called like it; both are judged again.
        """
        previous = page.previous
        if previous is None or not is_unchanged(page):
            return False
        is_other = previous.resembles is not None
        other = previous.resembles if is_other else previous.duplicate_of
        if not self.deduplicator.parameters.compare_names or other is None:
            return True
        if not is_other and previous.verdict not in verdicts.INEXACT:
            return True
        document = page.document(self.min_words)
        if document is None:
            return True
        name, own = self.store.name(other), self.store.volatile.stable(previous.url, document.name)
        if is_other and self.deduplicator.parameters.ignore_boilerplate:
            # It may say something else outside boilerplate, whatever both are called.
            is_named_as_before = document.name == (previous.name or "")
            return is_named_as_before or _are_other(own, name)
        return _are_other(own, name) == is_other

    def describe(self, row: PageRow, page: PageContext) -> Document | None:
        """Fill in a row's columns of the text; return the text, or None if none was read."""
        document, extract = page.document(self.min_words), page.reading.extract
        if document is None or extract is None:
            return None
        row.is_main = int(extract.is_main)
        row.last_text_digest = _last_digest(page.previous, document, extract)
        row.words, row.text_digest = document.words, document.digest
        row.fingerprint, row.name = document.fingerprint, document.name or None
        row.words_digest = extract.words_digest or words_digest(document.text)
        row.page_type, row.content_source = extract.shown[1:]
        return document

    def describe_wall(
        self,
        row: PageRow,
        page: PageContext,
        wall: Wall,
        original: PageRow | OriginalPage | None,
    ) -> None:
        """Fill in the row of a page that is none, whose text is not judged."""
        row.html = page.reading.html_zstd
        if self.describe(row, page) is None and original is not None:
            repeat(row, original)
            row.distance = row.similarity = None
        row.verdict, row.reason = wall

    def question(self, row: PageRow, page: PageContext, document: Document) -> FleetQuestion | None:
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
        else:
            # The ids of the fleet's texts mean nothing here.
            here = self.fleet_originals.resembled_here(answer.resembled)
            verdict = replace(answer.verdict, duplicate_of=None, resembles=here)
            if answer.original is None:
                self.deduplicator.add_document(row.id, document)
        row.take_verdict(verdict)
        if verdict.left_out:
            row.reason = Reason.NOT_COMPARED.stored()
        previous = page.previous
        is_new_text = previous is not None and not row.says_what_it_said(previous)
        if previous is not None and is_new_text and row.verdict not in verdicts.DUPLICATES:
            row.verdict = verdicts.CHANGED
            row.distance, row.similarity = self.comparer.measure(previous, document)
        if row.resembles is None and answer is not None and answer.resembled is not None:
            url = answer.resembled.url
            row.reason = together(Reason.RESEMBLES.stored(url), row.reason)

    def _judge_here(self, row: PageRow, document: Document, own: frozenset[int]) -> Verdict:
        twin = self._twin(row, own)
        if twin is None:
            name = self.store.volatile.stable(row.url, document.name)
            document = document if name == document.name else replace(document, name=name)
            verdict = self.deduplicator.judge_document(row.id, document, exclude=own)
            self.store.name_container(row, verdict.parts)
            return verdict
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


def _are_other(name: str, other: str) -> bool:
    return bool(difference(unpacked(name), unpacked(other)))


def repeat(row: PageRow, original: PageRow | OriginalPage) -> None:
    """Write into a row that its bytes are those of a kept page, whose text is its own."""
    row.verdict, row.distance, row.similarity = verdicts.EXACT_DUPLICATE, 0, 1.0
    row.take_facts(original)
    if isinstance(original, PageRow):
        row.name = _name_of_the_same_bytes(row.name, original.name)
    row.last_text_digest, row.words_digest = original.text_digest, original.words_digest


def _name_of_the_same_bytes(name: str | None, original: str | None) -> str | None:
    """Return the name of a page, with what the text told of an original of the same bytes.

    The text was not read again. The URL resolves a canonical URL, so that one stays.
    """
    ours, theirs = unpacked(name or ""), unpacked(original or "")
    if not original or ours.title != theirs.title:
        return name or original
    own = [one for one in ours.identifiers if one.startswith("canonical:")]
    others = [one for one in theirs.identifiers if not one.startswith("canonical:")]
    return replace(theirs, identifiers=tuple(sorted(own + others))).packed() or None


def _last_digest(previous: PageRow | None, document: Document, extract: Extract) -> bytes:
    """Return the digest of a page's text for the comparison at its next visit.

    A text of at least ``min_words`` has another digest than a shorter one, and that bound may have
    changed since the last version: the last digest stays if it is either of the two.
    """
    last = None if previous is None else previous.last_text_digest
    return last if last is not None and last in extract.digests else document.digest
