"""Keep what is stored of pages that were not sent, and store why URLs gave no page."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from crawler.pages import verdicts
from crawler.pages.gates import GateWatch
from crawler.pages.page_context import Captured, Validators, blank_row
from crawler.pages.page_row import PageRow, packed_source, url_of
from crawler.pages.promotion import Promoted, Promotion
from crawler.pages.reasons import Reason, codes
from crawler.pages.url_history import Outcome, outcome_of_failure

if TYPE_CHECKING:
    from crawler.pages.fleet_questions import FleetJudge
    from crawler.pages.live_parameters import Tuned
    from crawler.pages.page_context import Fetched, PageRenderer
    from crawler.pages.page_links import LinkStore
    from crawler.pages.page_row import OriginalPage
    from crawler.pages.page_store import PageStore
    from crawler.pages.reasons import Stored
    from crawler.pages.shared_verdicts import FleetOriginals
    from crawler.pages.url_history import KnownUrls
    from crawler.reading.reading import Link
    from neardup import Deduplicator


@dataclass(slots=True, kw_only=True)
class PageKeeper:
    """Decides which pages need not be sent, keeps them, and stores why URLs gave no page.

    A page need not be sent where its text and its links are stored as they were when it came.

    Args:
        fleet_originals: Originals of duplicates that other crawls have.
        tuned: Parameters of verdicts.
        keep_links: Whether the links of pages are stored, for visits in which a page is not sent.
        renderer: Shows answers in a browser where that may tell more; None: no answer is shown.
    """

    store: PageStore
    deduplicator: Deduplicator
    known: KnownUrls
    links: LinkStore
    fleet_originals: FleetOriginals
    visit: int
    tuned: Tuned
    obey_robots_meta: bool = True
    keep_links: bool = False
    renderer: PageRenderer | None = None
    gates: GateWatch = field(default_factory=GateWatch, init=False)
    promotion: Promotion = field(init=False)
    _promoted: list[Promoted] = field(default_factory=list, init=False)
    _fleet: FleetJudge | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.promotion = Promotion(self.store, self.deduplicator, self.tuned.id)

    def not_modified(self, fetched: Fetched) -> Captured | None:
        """Handle a "not modified" answer (HTTP 304): text and links of the page are unchanged.

        Returns:
            None if the page must be requested as a whole, because its text or its links are no
            longer stored as they were when it was requested.
        """
        previous = self.store.previous(fetched.key)
        asks = self.obey_robots_meta and bool({"noindex", "none"} & fetched.robots)
        if previous is None or asks or not self._may_stay(previous):
            return None
        self.gates.note_answered(fetched.key)
        is_again = self.store.is_seen_before(previous, self.visit)
        previous = replace(
            previous,
            etag=fetched.etag or previous.etag,
            last_modified=fetched.last_modified or previous.last_modified,
        )
        self.store.volatile.note_same(self.visit, previous)
        links, nofollow = self.links.get(fetched.key) or ((), False)
        outcome = Outcome(verdicts.UNCHANGED, not_sent=True)
        kept = self.keep_previous(previous, outcome, links, nofollow=nofollow)
        return replace(kept, is_again=is_again)

    def stored_links(self, key: bytes) -> Captured | None:
        """Return a page's newest capture with its links, or None if these are not stored."""
        row = self.store.previous(key)
        found = self.links.get(key)
        if row is None or (found is None and row.links):
            return None
        links, nofollow = found or ((), False)
        nofollow = self.obey_robots_meta and nofollow
        return Captured(row, row.verdict, links, nofollow=nofollow)

    def validators(self, key: bytes) -> Validators | None:
        """Return the validators for a conditional request, or None to request the whole page."""
        previous = self.store.previous(key)
        if previous is None or not self._may_stay(previous):
            return None
        if self.store.is_seen_before(previous, self.visit):
            return None  # its answer is read again, for what was to follow from it
        found = Validators(previous.etag, previous.last_modified)
        return found if any(found) else None

    def _may_stay(self, row: PageRow) -> bool:
        """Return whether a page's text and links are stored, so that it need not be sent."""
        if not row.has_own_words or row.verdict == verdicts.NOINDEX:
            return False
        renderer = self.renderer
        if renderer is not None and renderer.must_see(row):
            return False
        is_repeated_file = row.duplicate_of is not None and row.text_digest is None
        if row.verdict == verdicts.NOT_HTML or is_repeated_file:
            return self.store.is_held(row) and Reason.LIBRARY_MISSING not in codes(row.reason)
        if self.keep_links and row.key not in self.links:
            return False
        return row.text_digest is not None and self.store.holds_text_of(row)

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
        visit, now = self.visit, time.time()
        # A killed process stored it but did not acknowledge it: its item is sent only now.
        is_left = previous.visit == visit and self.store.is_of_earlier_process(previous)
        row = previous if self.store.is_held(previous) else self._confirm(previous)
        self.store.touch(row, visit, now)
        self.known.note(row.key, visit, outcome, now)
        verdict = row.verdict if is_left else verdicts.UNCHANGED
        return self.captured_of(row, verdict, links, None, nofollow=nofollow)

    def _confirm(self, duplicate: PageRow) -> PageRow:
        """Find another original for an unchanged duplicate, or keep it."""
        confirmed = self.promotion.confirm(duplicate)
        if isinstance(confirmed, Promoted):
            self.note_promoted(confirmed)
            return confirmed.row
        return confirmed

    def store_failure(
        self, fetched: Fetched, verdict: str, reason: Stored, linked_from: str | None = None
    ) -> Captured:
        """Store why a URL gave no page, and which page led to it.

        ``fetched.status`` is 0 without an answer.
        """
        is_again = self.store.has_failed(fetched.key, self.visit)
        row = blank_row(self.store.new_id(), fetched, self.visit)
        row.verdict, row.reason = verdict, reason
        row.metadata = packed_source(linked_from) or self.store.failure_source(row.key)
        self.store.insert(row)
        self.store.forget_failures(row.key, row.id)
        kind = outcome_of_failure(fetched.status, reason)
        # Seeds, robots.txt and sitemaps are requested in every visit, due or not.
        is_known = row.key in self.known
        if is_known:
            self.gates.note_answered(row.key)
        if fetched.depth or is_known:
            visit, outcome = self.visit, Outcome(kind, reason)
            self.known.note(row.key, visit, outcome, row.fetched_at, linked_from)
        return Captured(row, verdict, is_again=is_again)

    def note_moved(self, key: bytes, target: str, *, status: int, permanent: bool) -> None:
        """Record that a known page redirects; its text stays as it was."""
        if self.store.previous(key) is not None:
            reason = (Reason.HTTP_STATUS if permanent else Reason.MOVED_FOR_NOW).stored(status)
            outcome = Outcome(verdicts.MOVED, reason, moved_to=target)
            self.known.note(key, self.visit, outcome, time.time())

    def captured_of(
        self,
        row: PageRow,
        verdict: str,
        links: tuple[Link, ...],
        kept: PageRow | OriginalPage | None,
        *,
        nofollow: bool,
    ) -> Captured:
        """Return a stored row as a capture, with the URLs of the pages that it names."""
        kept_url = kept.url if isinstance(kept, PageRow) else self.fleet_originals.kept_url(row)
        whole_url = url_of(self.store.database.read, row.part_of)
        urls = kept_url, self.fleet_originals.resembled_url(row), whole_url
        return Captured(row, verdict, links, self.obey_robots_meta and nofollow, *urls)

    def note_promoted(self, promoted: Promoted) -> None:
        """Have a fleet told of a page that is kept from now on."""
        if self._fleet is not None:
            self._promoted.append(promoted)
