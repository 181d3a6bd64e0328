"""A page's way from the bytes that came to the stored verdict."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from crawler.pages import outcomes, verdicts
from crawler.pages.answer import Answer, blank_row
from crawler.pages.ask_fleet import Asking
from crawler.pages.fetched import Captured, Fetched, Validators
from crawler.pages.judge import Judge, describe, is_better, repeat
from crawler.pages.known_content import KnownContent
from crawler.pages.page_row import PageRow
from crawler.pages.promotion import Promoted, Promotion
from crawler.pages.url_history import Outcome
from crawler.reading.fingerprinting import extract_of
from crawler.reading.reading import Extract
from neardup import payload_digest

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from crawler.pages.live_parameters import Tuned
    from crawler.pages.page_links import LinkStore
    from crawler.pages.page_store import PageStore
    from crawler.pages.remote_originals import Elsewhere
    from crawler.pages.shared_verdicts import OriginalPage, PageVerdict, SharedVerdicts
    from crawler.pages.url_history import KnownUrls
    from crawler.reading.pool import ReadingPool
    from crawler.reading.reading import Link, Reading
    from neardup import Deduplicator, Document


STAGES = ("download", "parse", "extract", "judge and store")


@dataclass(slots=True)
class Archivist:
    """Reads, judges and stores answers, cheapest layer first.

    The judgement and the store are one step without an ``await`` between
    them, so that of two equal pages read at the same time one is kept. In a
    fleet the judgement is one step of all crawls, and the store comes after.

    Args:
        elsewhere: Which pages of other crawls are the originals of duplicates.
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
    elsewhere: Elsewhere
    visit: int
    tuned: Tuned
    obey_robots_meta: bool = True
    keep_versions: int = 0
    keep_near_texts: bool = True
    keep_links: bool = False
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    _judge: Judge = field(init=False)
    _held: KnownContent = field(init=False)
    _asking: Asking | None = field(default=None, init=False)
    _promotion: Promotion = field(init=False)
    _promoted: list[Promoted] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        self._judge = Judge(self.store, self.known, self.deduplicator)
        self._held = KnownContent(self.store, self.obey_robots_meta)
        self._promotion = Promotion(self.store, self.deduplicator)

    def settle(self) -> None:
        """Let a duplicate be kept for each text that only an older version of its original holds.

        For the end of a visit: until then such a duplicate may still be asked for, and say
        something else as well.
        """
        for promoted in self._promotion.settle(self.tuned.id, self.keep_versions):
            self._note_promoted(promoted)

    def share(self, verdicts: SharedVerdicts) -> None:
        """Let a fleet decide from now on."""
        self._asking = Asking(verdicts, self._held, self._judge)

    def tune(self, tuned: Tuned) -> None:
        """Judge by other parameters from now on.

        Raises:
            ParameterError: Their features are other ones.
        """
        self._judge.tune(tuned.parameters)
        if self._asking is not None:
            self._asking.shared.tune(tuned.parameters)
        self.tuned = tuned

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
        known = await self._asking.payload(fetched, payload) if self._asking else None
        is_known = known is not None
        links_only = self._held.is_enough(fetched, payload, elsewhere=is_known)
        reading = await self._read(fetched, links_only=links_only)
        if turn is not None:
            await turn
        if links_only and not self._held.is_enough(fetched, payload, elsewhere=is_known):
            # Another request captured this very page in the meantime.
            reading = await self._read(fetched, links_only=False)
        if not obey_robots_meta:
            reading = replace(reading, metadata=reading.metadata._replace(robots=()))
        return await self._settle(Answer(fetched, payload, reading), known)

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

    async def capture_read(self, fetched: Fetched, reading: Reading) -> Captured:
        """Judge and store what was read by somebody else, such as the text of an item."""
        return await self._settle(Answer(fetched, payload_digest(fetched.body), reading), None)

    async def _settle(self, answer: Answer, known: PageVerdict | None) -> Captured:
        said = None
        if self._asking is not None:
            said = await self._asking.settle(answer, self.visit, known)
        started = time.perf_counter()
        captured = self._store(answer, said)
        self.seconds["judge and store"] += time.perf_counter() - started
        promoted, self._promoted = self._promoted, []
        if self._asking is not None:
            await self._asking.tell(promoted)
        return captured

    def _store(self, answer: Answer, said: PageVerdict | None) -> Captured:
        """Judge and insert, with nothing awaited in between.

        Args:
            answer: What came.
            said: The verdict of a fleet; None where it was not asked.
        """
        fetched, reading = answer.fetched, answer.reading
        previous = self.store.previous(fetched.key)
        row = answer.row(self.store.new_id(), self.visit)
        if previous is not None and self._held.is_unchanged(previous, answer):
            return self._unchanged(previous, row, answer)
        # Unpacked once: it is judged, and compared with what the page said before.
        document = reading.document(self._judge.min_words)
        original = self._original(previous, answer, said)
        asks = self._held.asks(answer)
        if original is not None and not asks:
            repeat(row, original)
            row.duplicate_of = original.id if isinstance(original, PageRow) else None
        elif reading.failure is not None:
            row.verdict, row.reason = verdicts.UNREADABLE, reading.failure
        elif reading.not_html is not None:
            row.verdict, row.reason = verdicts.NOT_HTML, reading.not_html
        elif asks:
            row.verdict = verdicts.NOINDEX
        elif document is not None and reading.extract is not None:
            describe(row, previous, document, reading.extract)
            self._judge.judge(row, previous, document, fetched.apart_from, said)
        else:
            # Loudly, so that the request is tried again: a row without a verdict is a lost page.
            raise RuntimeError(f"{fetched.url}: read for its links alone, and its text is not held")
        kept = self._name_kept(row, said)
        return self._insert(row, answer, document, kept)

    def _name_kept(self, row: PageRow, said: PageVerdict | None) -> PageRow | OriginalPage | None:
        """The original of a duplicate, after it was named where it stands in another crawl."""
        if row.duplicate_of is not None:
            return self.store.get(row.duplicate_of)
        if said is None or said.original is None or row.verdict not in verdicts.DUPLICATES:
            return None
        self.elsewhere.name(row, said.original)
        return said.original

    def _original(
        self, previous: PageRow | None, answer: Answer, said: PageVerdict | None
    ) -> PageRow | OriginalPage | None:
        """The kept page of which an answer has the very bytes, here or in another crawl."""
        if said is not None and said.verdict.kind == verdicts.EXACT_DUPLICATE:
            return said.original
        return self._held.original(previous, answer)

    def _insert(
        self,
        row: PageRow,
        answer: Answer,
        document: Document | None,
        kept: PageRow | OriginalPage | None,
    ) -> Captured:
        fetched, reading = answer.fetched, answer.reading
        if kept is not None:
            row.better_copy = int(is_better(row, kept))
        if row.verdict in verdicts.OF_TEXTS and row.is_main is not None:
            row.parameters = self.tuned.id
        if row.verdict in verdicts.KEPT:
            row.text, row.html = reading.text_zstd, reading.html_zstd
        nofollow = answer.says("nofollow")
        row.links = 0 if self.obey_robots_meta and nofollow else len(reading.links)
        row.reason = "; ".join(filter(None, (row.reason, *answer.left_out()))) or None
        previous = self.store.previous(row.key)
        self.store.insert(row, in_place=not fetched.is_cut)
        if row.verdict == verdicts.NEAR_DUPLICATE and row.latest and self.keep_near_texts:
            self.store.keep_near_text(row.id, reading.text_zstd)
        if self._asking is not None:
            self.elsewhere.take_home(row)
        if previous is not None and row.latest:
            if previous.text is not None:
                self._supersede(previous)
            if self.keep_versions:
                self.store.drop_texts(row.key, self.keep_versions - 1)
        outcome = self._judge.comparer.outcome(previous, row, document, is_cut=fetched.is_cut)
        self.known.note(row.key, self.visit, outcome, row.fetched_at)
        if row.latest:
            self._store_links(answer, nofollow=nofollow)
        nofollow = self.obey_robots_meta and nofollow
        kept_url = None if kept is None else kept.url
        return Captured(row, row.verdict, reading.links, nofollow=nofollow, kept_url=kept_url)

    def _supersede(self, previous: PageRow) -> None:
        """Let the duplicates of a page that says something else wait until they are asked for.

        In a fleet they do not: it asks for each page once.
        """
        if self.store.supersede(previous.id) and self._asking is not None:
            self.settle()

    def _store_links(self, answer: Answer, *, nofollow: bool) -> None:
        fetched, reading = answer.fetched, answer.reading
        is_page = reading.not_html is None and reading.failure is None
        if self.keep_links and is_page and not fetched.is_cut:
            self.links.put(fetched.key, reading.links, nofollow=nofollow)

    def _unchanged(self, previous: PageRow, row: PageRow, answer: Answer) -> Captured:
        if answer.fetched.is_cut:  # what it says is held, and not all that the page says perhaps
            part = Outcome(outcomes.FAILED, outcomes.ONLY_A_PART)
            return self._still(
                previous, part, answer.reading.links, nofollow=answer.says("nofollow")
            )
        previous.payload_digest = previous.last_payload_digest = row.payload_digest
        previous.etag = row.etag
        previous.last_modified = row.last_modified
        nofollow = answer.says("nofollow")
        self._store_links(answer, nofollow=nofollow)
        links = answer.reading.links
        return self._still(previous, Outcome(outcomes.UNCHANGED), links, nofollow=nofollow)

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

    def stored_links(self, key: bytes) -> Captured | None:
        """Return a page's newest capture with its links; None where these are not stored."""
        row = self.store.previous(key)
        found = self.links.get(key)
        if row is None or (found is None and row.links):
            return None
        links, nofollow = found or ((), False)
        nofollow = self.obey_robots_meta and nofollow
        return Captured(row, row.verdict, links, nofollow=nofollow)

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
        return row.text_digest is not None and self.store.holds_text_of(row)

    def _still(
        self, previous: PageRow, outcome: Outcome, links: tuple[Link, ...], *, nofollow: bool
    ) -> Captured:
        now = time.time()
        # It was stored and not acknowledged when a process was killed: only now its item goes
        # on its way.
        is_left = previous.visit == self.visit and self.store.is_of_earlier_process(previous)
        row = previous if self.store.is_held(previous) else self._confirm(previous)
        self.store.touch(row, self.visit, now)
        self.known.note(row.key, self.visit, outcome, now)
        return Captured(
            row,
            row.verdict if is_left else verdicts.UNCHANGED,
            links,
            nofollow=self.obey_robots_meta and nofollow,
            kept_url=self.elsewhere.kept_url(row),
        )

    def _confirm(self, duplicate: PageRow) -> PageRow:
        """Find another original for an unchanged duplicate, or keep it."""
        confirmed = self._promotion.confirm(duplicate, self.tuned.id)
        if isinstance(confirmed, Promoted):
            self._note_promoted(confirmed)
            return confirmed.row
        return confirmed

    def _note_promoted(self, promoted: Promoted) -> None:
        if self._asking is not None:
            self._promoted.append(promoted)

    def store_failure(self, fetched: Fetched, verdict: str, reason: str) -> Captured:
        """Store that a URL gave no page, and why; ``fetched.status`` is 0 where no answer came."""
        row = blank_row(self.store.new_id(), fetched, self.visit)
        row.verdict, row.reason = verdict, reason
        self.store.insert(row)
        self.store.forget_failures(row.key, row.id)
        kind = outcomes.outcome_of_failure(fetched.status, reason)
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
