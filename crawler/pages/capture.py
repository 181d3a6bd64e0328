"""A page's way from the bytes that came to the stored verdict."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from crawler.pages import outcomes, verdicts
from crawler.pages.comparing import Comparer
from crawler.pages.fetched import Captured, Fetched, Validators
from crawler.pages.known import Outcome
from crawler.pages.new_rows import blank_row, row_of_reading
from crawler.pages.preference import is_better
from crawler.pages.succession import succeed
from crawler.reading.fingerprinting import extract_of
from crawler.reading.reading import Extract
from neardup import Verdict, payload_digest, words_digest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator

    from crawler.pages.known import KnownUrls
    from crawler.pages.links import LinkStore
    from crawler.pages.page import PageRow
    from crawler.pages.store import PageStore
    from crawler.pages.tuning import Tuned
    from crawler.reading.pool import ReadingPool
    from crawler.reading.reading import Link, Reading
    from neardup import Deduplicator, Document


STAGES = ("download", "parse", "extract", "judge and store")


@dataclass(slots=True)
class Archivist:
    """Reads, judges and stores answers, cheapest layer first.

    The judgement and the store are one step without an ``await`` between
    them, so that of two equal pages read at the same time one is kept.

    Args:
        tuned: The parameters of verdicts.
        keep_versions: Texts of a page that are kept, its newest one among them; 0 keeps all.
        keep_near_texts: Store what near-duplicates say.
        keep_links: Store where pages lead, for visits in which they are not sent again.
    """

    store: PageStore
    pool: ReadingPool
    deduplicator: Deduplicator
    known: KnownUrls
    links: LinkStore
    visit: int
    tuned: Tuned
    obey_robots_meta: bool = True
    keep_versions: int = 0
    keep_near_texts: bool = True
    keep_links: bool = False
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    _comparer: Comparer = field(init=False)

    def __post_init__(self) -> None:
        self._comparer = Comparer(self.store, self.known, self.deduplicator.parameters)

    def tune(self, tuned: Tuned) -> None:
        """Judge by other parameters from now on.

        Raises:
            ParameterError: Their features are other ones.
        """
        self.deduplicator.tune(tuned.parameters)
        self.tuned = tuned
        self._comparer = replace(self._comparer, parameters=tuned.parameters)

    async def capture(
        self,
        fetched: Fetched,
        *,
        obey_robots_meta: bool = True,
        turn: Awaitable[object] | None = None,
    ) -> Captured:
        """Carry one answer through to its verdict and store it.

        Args:
            fetched: The answer.
            obey_robots_meta: False for what is not a robot's to keep or not, such as an item.
            turn: To be awaited between reading and judging, where pages are to be judged in order.
        """
        payload = payload_digest(fetched.body)
        text_needed = self._needs_text(fetched, payload)
        reading = await self._read(fetched, links_only=not text_needed)
        if turn is not None:
            await turn
        if not text_needed and self._needs_text(fetched, payload):
            # Another request captured this very page in the meantime.
            reading = await self._read(fetched, links_only=False)
        started = time.perf_counter()
        if not obey_robots_meta:
            reading = replace(reading, metadata=reading.metadata._replace(robots=()))
        captured = self._store(fetched, payload, reading)
        self.seconds["judge and store"] += time.perf_counter() - started
        return captured

    def _needs_text(self, fetched: Fetched, payload: bytes) -> bool:
        """Whether the bytes alone do not decide."""
        if not fetched.body:
            return True
        previous = self.store.previous(fetched.key)
        if previous is not None:
            # What has no digest was a file, asked not to be kept, or is to be read anew.
            same = previous.payload_digest == payload and previous.text_digest is not None
            return not same or not self.store.is_held(previous)
        return self.store.find_payload(payload) is None

    async def _read(self, fetched: Fetched, *, links_only: bool) -> Reading:
        reading = await self.pool.read(
            fetched.url,
            fetched.body,
            fetched.content_type,
            links_only=links_only,
            known=self._known,
        )
        self.seconds["parse"] += reading.parse_secs
        self.seconds["extract"] += reading.extract_secs
        return reading

    def _known(self, visible_digest: bytes) -> Extract | None:
        row = self.store.find_visible(visible_digest)
        if row is None or row.text is None or row.text_digest is None or row.words is None:
            return None
        if row.is_main and row.fingerprint is None:  # it had too few words for one, then
            return extract_of(row.text, True, visible_digest, self.deduplicator.parameters)
        return Extract(
            text_zstd=row.text,
            words=row.words,
            digest=row.text_digest,
            fingerprint=row.fingerprint,
            is_main=bool(row.is_main),
            visible_digest=visible_digest,
        )

    def capture_read(self, fetched: Fetched, reading: Reading) -> Captured:
        """Judge and store what was read by somebody else, such as the text of an item."""
        return self._store(fetched, payload_digest(fetched.body), reading)

    def _store(self, fetched: Fetched, payload: bytes, reading: Reading) -> Captured:
        """Judge and insert, with nothing awaited in between."""
        row = row_of_reading(self.store.new_id(), fetched, payload, reading, self.visit)
        previous = self.store.previous(fetched.key)
        if previous is not None and self._is_unchanged(previous, fetched, payload, reading):
            return self._unchanged(previous, row, fetched, reading)
        # Unpacked once: it is judged, and compared with what the page said before.
        document = reading.document(self.deduplicator.parameters.min_words)
        original = self._original(previous, fetched, payload, reading)
        asks = self.obey_robots_meta and _says(fetched, reading, "noindex")
        if original is not None and not asks:
            _repeat(row, original)
        elif reading.failure is not None:
            row.verdict, row.reason = verdicts.UNREADABLE, reading.failure
        elif reading.not_html is not None:
            row.verdict, row.reason = verdicts.NOT_HTML, reading.not_html
        elif asks:
            row.verdict = verdicts.NOINDEX
        elif document is not None and reading.extract is not None:
            row.is_main = int(reading.extract.is_main)
            row.last_text_digest = _last_digest(previous, document, reading.extract)
            self._judge(row, previous, document, fetched.apart_from)
        else:
            # Loudly, so that the request is tried again: a row without a verdict is a lost page.
            raise RuntimeError(f"{fetched.url}: read for its links alone, and its text is not held")
        return self._insert(row, fetched, reading, document)

    def _original(
        self, previous: PageRow | None, fetched: Fetched, payload: bytes, reading: Reading
    ) -> PageRow | None:
        """The kept page of which an answer has the very bytes."""
        if previous is not None or not fetched.body:
            return None
        # The same bytes can be a page here and, by another Content-Type, a file there.
        if reading.not_html is not None:
            return self.store.find_file(payload)
        return self.store.find_payload(payload)

    def _is_unchanged(
        self, previous: PageRow, fetched: Fetched, payload: bytes, reading: Reading
    ) -> bool:
        """Whether a page says what it said, and that is still held, by itself or its original."""
        asks = self.obey_robots_meta and _says(fetched, reading, "noindex")
        if asks != (previous.verdict == verdicts.NOINDEX) or not previous.has_own_words:
            return False
        was_file = previous.text_digest is None and previous.verdict != verdicts.NOINDEX
        if was_file != (reading.not_html is not None) and reading.failure is None:
            return False
        same_payload = bool(fetched.body) and previous.payload_digest == payload
        extract = reading.extract
        same_text = extract is not None and previous.text_digest in extract.digests
        return (same_payload or same_text) and self.store.is_held(previous)

    def _insert(
        self, row: PageRow, fetched: Fetched, reading: Reading, document: Document | None
    ) -> Captured:
        kept = self.store.get(row.duplicate_of) if row.duplicate_of is not None else None
        if kept is not None:
            row.better_copy = int(is_better(row, kept))
        if row.verdict in verdicts.OF_TEXTS and row.is_main is not None:
            row.parameters = self.tuned.id
        if row.verdict in verdicts.KEPT:
            row.text, row.html = reading.text_zstd, reading.html_zstd
        nofollow = _says(fetched, reading, "nofollow")
        row.links = 0 if self.obey_robots_meta and nofollow else len(reading.links)
        row.reason = "; ".join(filter(None, (row.reason, *_left_out(reading)))) or None
        previous = self.store.previous(row.key)
        self.store.insert(row, in_place=not fetched.is_cut)
        if row.verdict == verdicts.NEAR_DUPLICATE and row.latest and self.keep_near_texts:
            self.store.keep_near_text(row.id, reading.text_zstd)
        if previous is not None and row.latest:
            if previous.text is not None:
                succeed(self.store, self.deduplicator, previous, self.tuned.id)
            if self.keep_versions:
                self.store.drop_texts(row.key, self.keep_versions - 1)
        outcome = self._comparer.outcome(previous, row, document, is_cut=fetched.is_cut)
        self.known.note(row.key, self.visit, outcome, row.fetched_at)
        if row.latest:
            self._store_links(fetched, reading, nofollow=nofollow)
        return Captured(
            row,
            row.verdict,
            reading.links,
            nofollow=self.obey_robots_meta and nofollow,
            kept_url=None if kept is None else kept.url,
        )

    def _store_links(self, fetched: Fetched, reading: Reading, *, nofollow: bool) -> None:
        is_page = reading.not_html is None and reading.failure is None
        if self.keep_links and is_page and not fetched.is_cut:
            self.links.put(fetched.key, reading.links, nofollow=nofollow)

    def _judge(
        self,
        row: PageRow,
        previous: PageRow | None,
        document: Document,
        apart_from: frozenset[int],
    ) -> None:
        row.words, row.text_digest = document.words, document.digest
        row.fingerprint = document.fingerprint
        row.words_digest = words_digest(document.text)
        is_same = previous is not None and row.says_what_it_said(previous)
        if previous is not None and previous.text is not None and previous.words and not is_same:
            # A kept page goes on being kept: what it says now replaces what it said.
            self.deduplicator.add_document(row.id, document)
            row.verdict = verdicts.CHANGED
            row.distance, row.similarity = self._comparer.measure(previous, document)
            return
        own = apart_from if previous is None else apart_from | {previous.id}
        twin = self._twin(row, own)
        if twin is not None:
            row.text_digest, row.fingerprint = twin.text_digest, twin.fingerprint
            verdict = Verdict(verdicts.TEXT_DUPLICATE, twin.id, distance=0, similarity=1.0)
        else:
            verdict = self.deduplicator.judge_document(row.id, document, exclude=own)
        row.verdict, row.duplicate_of = verdict.kind, verdict.duplicate_of
        row.distance, row.similarity = verdict.distance, verdict.similarity
        if previous is not None and not verdict.is_duplicate:
            row.verdict = verdict.kind if is_same else verdicts.CHANGED
            if not is_same:
                row.distance, row.similarity = self._comparer.measure(previous, document)

    def _twin(self, row: PageRow, excluded: frozenset[int]) -> PageRow | None:
        """A kept page that shows the same, and was judged by another digest of it.

        Before ``min_words`` changed, a text of so many words was too short, or was not.
        """
        if row.visible_digest is None or not row.is_main:
            return None
        is_long = (row.words or 0) >= self.deduplicator.parameters.min_words
        return self.store.find_shown(row, is_long=not is_long, exclude=excluded)

    def _unchanged(
        self, previous: PageRow, row: PageRow, fetched: Fetched, reading: Reading
    ) -> Captured:
        previous.payload_digest = previous.last_payload_digest = row.payload_digest
        previous.etag = row.etag
        previous.last_modified = row.last_modified
        nofollow = _says(fetched, reading, "nofollow")
        self._store_links(fetched, reading, nofollow=nofollow)
        return self._still(previous, Outcome(outcomes.UNCHANGED), reading.links, nofollow=nofollow)

    def not_modified(self, fetched: Fetched) -> Captured | None:
        """Take "not modified" (HTTP 304) for an answer: a page says what it said, and leads there.

        Returns:
            None where that is not enough, because what the page said is no longer held as it was
            when it was asked for: it is to be asked for as a whole.
        """
        previous = self.store.previous(fetched.key)
        asks = self.obey_robots_meta and bool({"noindex", "none"} & fetched.robots)
        if previous is None or asks or not self._may_stay(previous):
            return None
        previous.etag = fetched.etag or previous.etag
        previous.last_modified = fetched.last_modified or previous.last_modified
        links, nofollow = self.links.get(fetched.key) or ((), False)
        outcome = Outcome(outcomes.UNCHANGED, not_sent=True)
        return self._still(previous, outcome, links, nofollow=nofollow)

    def validators(self, key: bytes) -> Validators | None:
        """By what a server can tell whether a page is still the same; None to ask for all of it."""
        previous = self.store.previous(key)
        if previous is None or not self._may_stay(previous):
            return None
        found = Validators(previous.etag, previous.last_modified)
        return found if any(found) else None

    def _may_stay(self, row: PageRow) -> bool:
        """Whether what a page said is held, and where it leads, so that it need not be sent."""
        if not row.has_own_words or row.verdict == verdicts.NOINDEX:
            return False
        is_repeated_file = row.duplicate_of is not None and row.text_digest is None
        if row.verdict == verdicts.NOT_HTML or is_repeated_file:
            return self.store.is_held(row)
        if self.keep_links and row.key not in self.links:
            return False
        return row.text_digest is not None and self.store.is_held(row)

    def _still(
        self, previous: PageRow, outcome: Outcome, links: tuple[Link, ...], *, nofollow: bool
    ) -> Captured:
        now = time.time()
        self.store.touch(previous, self.visit, now)
        self.known.note(previous.key, self.visit, outcome, now)
        verdict = verdicts.UNCHANGED
        if previous.visit == self.visit and self.store.is_of_earlier_process(previous):
            # It was stored and not acknowledged when a process was killed: only
            # now its item goes on its way.
            verdict = previous.verdict
        kept = self.store.get(previous.duplicate_of) if previous.duplicate_of else None
        return Captured(
            previous,
            verdict,
            links,
            nofollow=self.obey_robots_meta and nofollow,
            kept_url=None if kept is None else kept.url,
        )

    def store_failure(self, fetched: Fetched, verdict: str, reason: str) -> Captured:
        """Store that a URL gave no page, and why; ``fetched.status`` is 0 where no answer came."""
        row = blank_row(self.store.new_id(), fetched, self.visit)
        row.verdict, row.reason = verdict, reason
        self.store.insert(row)
        self.store.forget_failures(row.key, before=self.visit)
        unreadable = verdict == verdicts.UNREADABLE
        kind = outcomes.outcome_of_failure(fetched.status, reason, unreadable=unreadable)
        # Seeds, robots.txt and sitemaps are asked for in every visit, due or not.
        if fetched.depth or row.key in self.known:
            self.known.note(row.key, self.visit, Outcome(kind, reason), row.fetched_at)
        return Captured(row, verdict)

    def note_moved(self, key: bytes, target: str, *, status: int, permanent: bool) -> None:
        """Note that a known page sends the reader elsewhere; its text stays as it was."""
        if self.store.previous(key) is not None:
            reason = f"HTTP {status}" if permanent else f"for now (HTTP {status})"
            outcome = Outcome(outcomes.MOVED, reason, moved_to=target)
            self.known.note(key, self.visit, outcome, time.time())


def _repeat(row: PageRow, original: PageRow) -> None:
    """Say of a page that it is an original's bytes again."""
    row.verdict, row.distance, row.similarity = verdicts.EXACT_DUPLICATE, 0, 1.0
    row.duplicate_of = original.id
    row.text_digest, row.fingerprint = original.text_digest, original.fingerprint
    row.last_text_digest = original.text_digest
    row.visible_digest, row.words = original.visible_digest, original.words
    row.is_main = original.is_main
    row.words_digest = original.words_digest


def _last_digest(previous: PageRow | None, document: Document, extract: Extract) -> bytes:
    """The digest of what a page said, by which it can be told from what it says next time.

    Of a text as long as ``min_words`` it is another one than of a shorter one, and that may have
    changed since the last version: which said the same where it has either.
    """
    last = None if previous is None else previous.last_text_digest
    return last if last is not None and last in extract.digests else document.digest


def _left_out(reading: Reading) -> Iterator[str]:
    """Which links of a page were not taken, and why."""
    if reading.links_cut:
        yield f"{reading.links_cut:,} links beyond READING_MAX_LINKS not taken"
    if reading.links_too_long:
        yield f"{reading.links_too_long:,} links longer than URLLENGTH_LIMIT not taken"


def _says(fetched: Fetched, reading: Reading, word: str) -> bool:
    return bool({word, "none"} & (fetched.robots | set(reading.robots)))
