"""A page's way from the bytes that came to the stored verdict."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from crawler.pages import verdicts
from crawler.pages.documents import unpack
from crawler.pages.fetched import Captured, Fetched
from crawler.pages.page import PageRow
from crawler.pages.preference import is_better
from crawler.pages.succession import succeed
from crawler.reading.reading import Extract
from neardup import hamming, jaccard, payload_digest

if TYPE_CHECKING:
    from crawler.pages.store import PageStore
    from crawler.reading.pool import ReadingPool
    from crawler.reading.reading import Reading
    from neardup import Deduplicator, Document


STAGES = ("download", "parse", "extract", "judge and store")


@dataclass(slots=True)
class Archivist:
    """Reads, judges and stores answers, cheapest layer first.

    The judgement and the store are one step without an ``await`` between
    them, so that of two equal pages read at the same time one is kept.
    """

    store: PageStore
    pool: ReadingPool
    deduplicator: Deduplicator
    visit: int
    obey_robots_meta: bool = True
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))

    async def capture(self, fetched: Fetched, *, obey_robots_meta: bool = True) -> Captured:
        """Carry one answer through to its verdict and store it.

        Args:
            fetched: The answer.
            obey_robots_meta: False for what is not a robot's to keep or not, such as an item.
        """
        payload = payload_digest(fetched.body)
        text_needed = self._needs_text(fetched, payload)
        reading = await self._read(fetched, links_only=not text_needed)
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
        return Extract(
            text_zstd=row.text,
            words=row.words,
            digest=row.text_digest,
            fingerprint=row.fingerprint,
        )

    def capture_read(self, fetched: Fetched, reading: Reading) -> Captured:
        """Judge and store what was read by somebody else, such as the text of an item."""
        return self._store(fetched, payload_digest(fetched.body), reading)

    def _store(self, fetched: Fetched, payload: bytes, reading: Reading) -> Captured:
        """Judge and insert, with nothing awaited in between."""
        row = self._row(fetched, payload, reading)
        previous = self.store.previous(fetched.key)
        if previous is not None and self._is_unchanged(previous, fetched, payload, reading):
            return self._unchanged(previous, row, fetched, reading)
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
        elif reading.extract is not None:
            self._judge(row, previous, reading.extract.document, fetched.apart_from)
        else:
            # Loudly, so that the request is tried again: a row without a verdict is a lost page.
            raise RuntimeError(f"{fetched.url}: read for its links alone, and its text is not held")
        return self._insert(row, fetched, reading)

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
        if asks != (previous.verdict == verdicts.NOINDEX):
            return False
        was_file = previous.text_digest is None and previous.verdict != verdicts.NOINDEX
        if was_file != (reading.not_html is not None) and reading.failure is None:
            return False
        same_payload = bool(fetched.body) and previous.payload_digest == payload
        extract = reading.extract
        same_text = extract is not None and previous.text_digest == extract.digest
        return (same_payload or same_text) and self.store.is_held(previous)

    def _insert(self, row: PageRow, fetched: Fetched, reading: Reading) -> Captured:
        kept = self.store.get(row.duplicate_of) if row.duplicate_of is not None else None
        if kept is not None:
            row.better_copy = int(is_better(row, kept))
        if row.verdict in verdicts.KEPT:
            row.text, row.html = reading.text_zstd, reading.html_zstd
        if reading.links_cut:
            row.reason = f"{reading.links_cut:,} links beyond READING_MAX_LINKS not taken"
        previous = self.store.previous(row.key)
        self.store.insert(row, in_place=not fetched.is_cut)
        if previous is not None and previous.text is not None and row.latest:
            succeed(self.store, self.deduplicator, previous)
        return Captured(
            row,
            row.verdict,
            reading.links,
            nofollow=self.obey_robots_meta and _says(fetched, reading, "nofollow"),
            kept_url=None if kept is None else kept.url,
        )

    def _judge(
        self,
        row: PageRow,
        previous: PageRow | None,
        document: Document,
        apart_from: frozenset[int],
    ) -> None:
        row.words, row.text_digest = document.words, document.digest
        row.fingerprint = document.fingerprint
        if previous is not None and previous.text is not None and previous.words:
            # A kept page goes on being kept: what it says now replaces what it said.
            self.deduplicator.add_document(row.id, document)
            row.verdict = verdicts.CHANGED
            _measure_change(row, previous, document)
            return
        own = apart_from if previous is None else apart_from | {previous.id}
        verdict = self.deduplicator.judge_document(row.id, document, exclude=own)
        row.verdict, row.duplicate_of = verdict.kind, verdict.duplicate_of
        row.distance, row.similarity = verdict.distance, verdict.similarity
        if previous is not None and not verdict.is_duplicate:
            was_same = previous.text_digest == document.digest
            row.verdict = verdict.kind if was_same else verdicts.CHANGED

    def _unchanged(
        self, previous: PageRow, row: PageRow, fetched: Fetched, reading: Reading
    ) -> Captured:
        previous.payload_digest, previous.etag = row.payload_digest, row.etag
        previous.last_modified = row.last_modified
        self.store.touch(previous, self.visit, row.fetched_at)
        verdict = verdicts.UNCHANGED
        if previous.visit == self.visit and self.store.is_of_earlier_process(previous):
            # It was stored and not acknowledged when a process was killed: only
            # now its item goes on its way.
            verdict = previous.verdict
        kept = self.store.get(previous.duplicate_of) if previous.duplicate_of else None
        return Captured(
            previous,
            verdict,
            reading.links,
            nofollow=self.obey_robots_meta and _says(fetched, reading, "nofollow"),
            kept_url=None if kept is None else kept.url,
        )

    def _row(self, fetched: Fetched, payload: bytes, reading: Reading) -> PageRow:
        row = self._blank(fetched)
        row.etag, row.last_modified = fetched.etag, fetched.last_modified
        row.title, row.author, row.date = reading.title, reading.author, reading.date
        row.language, row.declared_url = reading.language, reading.canonical_url
        row.payload_digest, row.visible_digest = payload, reading.visible_digest
        return row

    def _blank(self, fetched: Fetched) -> PageRow:
        now = time.time()
        return PageRow(
            id=self.store.new_id(),
            key=fetched.key,
            url=fetched.url,
            canonical_url=fetched.canonical_url,
            latest=1,
            visit=self.visit,
            fetched_at=now,
            seen_visit=self.visit,
            seen_at=now,
            depth=fetched.depth,
            status=fetched.status or None,
            content_type=fetched.content_type,
            body_bytes=len(fetched.body),
        )

    def store_failure(self, fetched: Fetched, verdict: str, reason: str) -> Captured:
        """Store that a URL gave no page, and why; ``fetched.status`` is 0 where no answer came."""
        row = self._blank(fetched)
        row.verdict, row.reason = verdict, reason
        self.store.insert(row)
        return Captured(row, verdict)


def _repeat(row: PageRow, original: PageRow) -> None:
    """Say of a page that it is an original's bytes again."""
    row.verdict, row.distance, row.similarity = verdicts.EXACT_DUPLICATE, 0, 1.0
    row.duplicate_of = original.id
    row.text_digest, row.fingerprint = original.text_digest, original.fingerprint
    row.visible_digest, row.words = original.visible_digest, original.words


def _measure_change(row: PageRow, previous: PageRow, document: Document) -> None:
    if row.fingerprint is not None and previous.fingerprint is not None:
        row.distance = hamming(row.fingerprint, previous.fingerprint)
    if previous.text is not None:
        row.similarity = jaccard(unpack(previous.text), document.text)


def _says(fetched: Fetched, reading: Reading, word: str) -> bool:
    return bool({word, "none"} & (fetched.robots | set(reading.robots)))
