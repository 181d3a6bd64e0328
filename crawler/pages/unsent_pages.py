"""Keep what is stored of pages that were not sent, and store why URLs gave no page."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from crawler.pages import verdicts
from crawler.pages.page_context import Captured, Validators, blank_row
from crawler.pages.page_row import packed_source
from crawler.pages.promotion import Promoted
from crawler.pages.reasons import Reason, codes
from crawler.pages.url_history import Outcome, outcome_of_failure

if TYPE_CHECKING:
    from crawler.pages.capture import PageProcessor
    from crawler.pages.page_context import Fetched
    from crawler.pages.page_row import PageRow
    from crawler.pages.reasons import Stored
    from crawler.reading.reading import Link


class UnsentPages:
    """Decides which pages need not be sent, keeps them, and stores why URLs gave no page.

    A page need not be sent where its text and its links are stored as they were when it came.

    Args:
        processor: Stores the answers that came, and tells a fleet of promoted pages.
    """

    def __init__(self, processor: PageProcessor) -> None:
        self._processor = processor
        self._store = processor.store
        self._known = processor.known
        self._links = processor.links
        self._promotion = processor.promotion

    def not_modified(self, fetched: Fetched) -> Captured | None:
        """Handle a "not modified" answer (HTTP 304): text and links of the page are unchanged.

        Returns:
            None if the page must be requested as a whole, because its text or its links are no
            longer stored as they were when it was requested.
        """
        previous = self._store.previous(fetched.key)
        asks = self._processor.obey_robots_meta and bool({"noindex", "none"} & fetched.robots)
        if previous is None or asks or not self._may_stay(previous):
            return None
        self._processor.gates.note_answered(fetched.key)
        is_again = self._store.is_seen_before(previous, self._processor.visit)
        previous = replace(
            previous,
            etag=fetched.etag or previous.etag,
            last_modified=fetched.last_modified or previous.last_modified,
        )
        self._store.volatile.note_same(self._processor.visit, previous)
        links, nofollow = self._links.get(fetched.key) or ((), False)
        outcome = Outcome(verdicts.UNCHANGED, not_sent=True)
        kept = self.keep_previous(previous, outcome, links, nofollow=nofollow)
        return replace(kept, is_again=is_again)

    def stored_links(self, key: bytes) -> Captured | None:
        """Return a page's newest capture with its links, or None if these are not stored."""
        row = self._store.previous(key)
        found = self._links.get(key)
        if row is None or (found is None and row.links):
            return None
        links, nofollow = found or ((), False)
        nofollow = self._processor.obey_robots_meta and nofollow
        return Captured(row, row.verdict, links, nofollow=nofollow)

    def validators(self, key: bytes) -> Validators | None:
        """Return the validators for a conditional request, or None to request the whole page."""
        previous = self._store.previous(key)
        if previous is None or not self._may_stay(previous):
            return None
        if self._store.is_seen_before(previous, self._processor.visit):
            return None  # its answer is read again, for what was to follow from it
        found = Validators(previous.etag, previous.last_modified)
        return found if any(found) else None

    def _may_stay(self, row: PageRow) -> bool:
        """Return whether a page's text and links are stored, so that it need not be sent."""
        if not row.has_own_words or row.verdict == verdicts.NOINDEX:
            return False
        renderer = self._processor.renderer
        if renderer is not None and renderer.must_see(row):
            return False
        is_repeated_file = row.duplicate_of is not None and row.text_digest is None
        if row.verdict == verdicts.NOT_HTML or is_repeated_file:
            return self._store.is_held(row) and Reason.LIBRARY_MISSING not in codes(row.reason)
        if self._processor.keep_links and row.key not in self._links:
            return False
        return row.text_digest is not None and self._store.holds_text_of(row)

    def keep_previous(
        self, previous: PageRow, outcome: Outcome, links: tuple[Link, ...], *, nofollow: bool
    ) -> Captured:
        """Keep the newest capture of a page, and note what became of its URL in this visit.

        Args:
            previous: The newest capture.
            outcome: What became of the URL.
            links: Links of the page.
            nofollow: Whether the page asks that no link of it is followed.
        """
        visit, now = self._processor.visit, time.time()
        # A killed process stored it but did not acknowledge it: its item is sent only now.
        is_left = previous.visit == visit and self._store.is_of_earlier_process(previous)
        row = previous if self._store.is_held(previous) else self._confirm(previous)
        self._store.touch(row, visit, now)
        self._known.note(row.key, visit, outcome, now)
        verdict = row.verdict if is_left else verdicts.UNCHANGED
        return self._processor.captured_of(row, verdict, links, None, nofollow=nofollow)

    def _confirm(self, duplicate: PageRow) -> PageRow:
        """Find another original for an unchanged duplicate, or keep it."""
        confirmed = self._promotion.confirm(duplicate)
        if isinstance(confirmed, Promoted):
            self._processor.note_promoted(confirmed)
            return confirmed.row
        return confirmed

    def store_failure(
        self, fetched: Fetched, verdict: str, reason: Stored, linked_from: str | None = None
    ) -> Captured:
        """Store why a URL gave no page, and which page led to it.

        ``fetched.status`` is 0 without an answer.
        """
        is_again = self._store.has_failed(fetched.key, self._processor.visit)
        row = blank_row(self._store.new_id(), fetched, self._processor.visit)
        row.verdict, row.reason = verdict, reason
        row.metadata = packed_source(linked_from) or self._store.failure_source(row.key)
        self._store.insert(row)
        self._store.forget_failures(row.key, row.id)
        kind = outcome_of_failure(fetched.status, reason)
        # Seeds, robots.txt and sitemaps are requested in every visit, due or not.
        is_known = row.key in self._known
        if is_known:
            self._processor.gates.note_answered(row.key)
        if fetched.depth or is_known:
            visit, outcome = self._processor.visit, Outcome(kind, reason)
            self._known.note(row.key, visit, outcome, row.fetched_at, linked_from)
        return Captured(row, verdict, is_again=is_again)

    def note_moved(self, key: bytes, target: str, *, status: int, permanent: bool) -> None:
        """Record that a known page redirects; its text stays as it was."""
        if self._store.previous(key) is not None:
            reason = (Reason.HTTP_STATUS if permanent else Reason.MOVED_FOR_NOW).stored(status)
            outcome = Outcome(verdicts.MOVED, reason, moved_to=target)
            self._known.note(key, self._processor.visit, outcome, time.time())
