"""Take an answer from its bytes to a stored verdict."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from crawler.pages import verdicts
from crawler.pages.fleet_questions import FleetJudge, original_of
from crawler.pages.judge import Judge, is_better, repeat
from crawler.pages.page_context import Captured, Fetched, PageContext, is_enough
from crawler.pages.page_keeper import PageKeeper
from crawler.pages.page_row import OriginalPage, PageRow
from crawler.pages.promotion import SiblingPromotion
from crawler.pages.reasons import Reason, together
from crawler.pages.stored_texts import extract_of_row
from crawler.pages.url_history import Outcome
from crawler.pages.walls import Walls
from crawler.reading.link_kinds import PAGES
from crawler.reading.reading import Reading, reading_of_text

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from crawler.pages.boilerplate import CountedBoilerplate
    from crawler.pages.live_parameters import Tuned
    from crawler.pages.rendered import Rendered
    from crawler.pages.shared_verdicts import PageVerdict, SharedVerdicts
    from crawler.reading.pool import ReadingPool
    from crawler.reading.reading import Extract
    from neardup import Document

_NOT_SHOWN = Reason.NOT_RENDERED.stored("it shows less than at an earlier visit")

STAGES = ("download", "parse", "extract", "judge and store")


@dataclass(slots=True, kw_only=True)
class PageProcessor(PageKeeper):
    """Reads, judges and stores answers, cheapest layer first.

    The judgement and the store are one step without an ``await`` between them, so that of two equal
    pages read at the same time one is kept. In a fleet the judgement is one step of all crawls, and
    the store comes after.

    Args:
        keep_versions: Number of texts of a page that are kept, its newest included; 0 keeps all.
        keep_near_texts: Whether the texts of near-duplicates are stored.
        read_documents: Whether documents are read, and not taken for files.
        find_walls: Whether soft 404s and walls are recognised; in a fleet they never are.
        boilerplate: Counts of blocks of text by host; None counts none, as in a fleet.
    """

    pool: ReadingPool
    keep_versions: int = 0
    keep_near_texts: bool = True
    read_documents: bool = True
    find_walls: bool = True
    boilerplate: CountedBoilerplate | None = None
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    _judge: Judge = field(init=False)
    walls: Walls = field(init=False)
    siblings: SiblingPromotion = field(init=False)

    def __post_init__(self) -> None:
        self._judge = Judge(self.store, self.known, self.deduplicator, self.fleet_originals)
        PageKeeper.__post_init__(self)  # super() finds no class with slots before 3.14
        self.walls = Walls(self.store, self.deduplicator, self.promotion, is_on=self.find_walls)
        self.siblings = SiblingPromotion(self.promotion, self.boilerplate, self.captured_of)

    @property
    def is_behind(self) -> bool:
        """Whether so many pages wait to be read or shown that none is to be fetched."""
        return self.pool.is_behind or (self.renderer is not None and self.renderer.is_behind)

    def promote_superseded(self) -> bool:
        """Promote a duplicate for each text that only an older version of its original holds.

        Call it at the end of a visit: until then such a duplicate may still be requested, and its
        text may have changed too.

        Returns:
            Whether any was promoted.
        """
        is_any = False
        for promoted in self.promotion.promote_superseded(self.keep_versions):
            self.note_promoted(promoted)
            is_any = True
        return is_any

    def share(self, verdicts: SharedVerdicts) -> None:
        """Let a fleet decide from now on."""
        self.boilerplate = self.siblings.boilerplate = None  # it has not all pages of a host
        self.walls.is_on = False  # other workers may have pages with its text
        self._fleet = FleetJudge(verdicts, self._judge)

    def tune(self, tuned: Tuned) -> None:
        """Judge by other parameters from now on.

        Raises:
            ParameterError: They name other features.
        """
        if self._fleet is not None:
            self._fleet.shared.tune(tuned.parameters)  # it may refuse them
        self._judge.tune(tuned.parameters)
        self.tuned, self.promotion.parameters = tuned, tuned.id

    async def capture(
        self,
        fetched: Fetched,
        *,
        obey_robots_meta: bool = True,
        turn: Awaitable[object] | None = None,
    ) -> Captured:
        """Read, judge and store one answer.

        Args:
            fetched: The answer.
            obey_robots_meta: Whether robots directives count; False for an item, for example.
            turn: Awaitable between reading and judging, for pages that are judged in order.
        """
        page = self._context(fetched, Reading(fetched.url))
        known = None
        if self._fleet is not None:
            known = await self._fleet.payload(page, may_be_shown=self.renderer is not None)
        is_known = known is not None
        is_doubted = self.renderer is not None and self.renderer.doubts(fetched)
        links_only = is_enough(page, elsewhere=is_known) and not is_doubted
        # What was to follow from it, such as a proof, may have ended with an earlier process.
        links_only = links_only and not self.store.is_seen_before(page.previous, self.visit)
        reading, rendered = await self._seen(fetched, links_only=links_only)
        if turn is not None:
            await turn
        if links_only and not is_enough(page, elsewhere=is_known):
            # Another request captured the same page in the meantime.
            reading, rendered = await self._seen(fetched, links_only=False)
        if not obey_robots_meta:
            reading = replace(reading, metadata=reading.metadata._replace(robots=()))
        page.take(reading, rendered)
        return await self._judge_and_store(page, known)

    def _context(self, fetched: Fetched, reading: Reading) -> PageContext:
        digest = fetched.payload_digest
        return PageContext(self.store, fetched, digest, reading, self.obey_robots_meta)

    async def _seen(self, fetched: Fetched, *, links_only: bool) -> tuple[Reading, Rendered | None]:
        """Read an answer, and what a browser shows of it where that is asked for."""
        reading = await self.read(fetched, links_only=links_only, apart=fetched.cut is not None)
        if self.renderer is None or links_only:
            return reading, None
        return reading, await self.renderer.render(fetched, reading)

    async def read(
        self, fetched: Fetched, *, links_only: bool = False, apart: bool = False
    ) -> Reading:
        """Read an answer, or what a browser made of it.

        Args:
            fetched: The answer.
            links_only: Whether only its links are read.
            apart: Whether its text is told apart by the URL from the same text of any other page.
        """
        fixed_slots = self.store.volatile.fixed(fetched.url)
        reading = await self.pool.read(
            fetched.url,
            fetched.body,
            fetched.content_type,
            links_only=links_only,
            documents=self.read_documents,
            headers=fetched.headers,
            apart=apart,
            made_at=None if fixed_slots is None else fetched.made_at,
            fixed_slots=fixed_slots or (),
            known=self._known,
        )
        self.seconds["parse"] += reading.parse_secs
        self.seconds["extract"] += reading.extract_secs
        return reading

    def _known(self, visible_digest: bytes) -> Extract | None:
        row = self.store.find_visible(visible_digest)
        return None if row is None else extract_of_row(row, self.deduplicator.parameters)

    def read_text(self, url: str, text: bytes, title: str = "") -> Reading:
        """Read a text in UTF-8 that came without a page."""
        return reading_of_text(url, text, self.deduplicator.parameters, title)

    async def capture_read(self, fetched: Fetched, reading: Reading) -> Captured:
        """Judge and store an answer with a given reading, such as the text of an item."""
        return await self._judge_and_store(self._context(fetched, reading), None)

    async def _judge_and_store(self, page: PageContext, known: PageVerdict | None) -> Captured:
        fleet_verdict, previous = None, page.previous
        if previous is not None and page.fetched.cut is not None:
            part = Outcome(verdicts.FAILED, Reason.ONLY_A_PART.stored())
            return self._kept(previous, page, part)
        if self.gates.is_on and previous is not None and previous.seen_visit < self.visit:
            is_same = self._judge.is_unchanged(page)
            before = None if is_same else self._judge.comparer.fingerprint(previous)
            await self.gates.pass_known(page, before, is_same=is_same)
        if self._fleet is not None:
            fleet_verdict = await self._fleet.decide(page, self.visit, known)
        # Before it is judged, which puts its fingerprint into the index.
        captured = (
            None if self._judge.is_less_at_first(page) else self._timed_store(page, fleet_verdict)
        )
        if captured is None and self.renderer is not None:
            page.take(page.plain, await self.renderer.look_again(page.fetched, page.plain))
            captured = self._timed_store(page, fleet_verdict, is_final=True)
        assert captured is not None
        shown = page.rendered
        if shown is not None and not (shown.works_on_disk and captured.is_duplicate):
            captured = replace(captured, document=shown.document)
        promoted, self._promoted = self._promoted, []
        if self._fleet is not None:
            await self._fleet.tell(promoted)
        return captured

    def _timed_store(
        self, page: PageContext, fleet_verdict: PageVerdict | None, *, is_final: bool = False
    ) -> Captured | None:
        started = time.perf_counter()
        is_again = self.store.is_seen_before(page.previous, self.visit)
        try:
            captured = self._store(page, fleet_verdict, is_final=is_final)
        finally:
            self.seconds["judge and store"] += time.perf_counter() - started
        return replace(captured, is_again=True) if captured and is_again else captured

    def _store(
        self, page: PageContext, fleet_verdict: PageVerdict | None, *, is_final: bool = False
    ) -> Captured | None:
        """Judge and insert, with nothing awaited in between.

        Args:
            page: The page.
            fleet_verdict: Verdict of a fleet, or None if it was not asked.
            is_final: Whether no browser is asked any more.

        Returns:
            None if nothing was stored, because the page would be dropped, and a browser may show
            that it is another one.
        """
        previous = page.previous
        if previous is not None and self._judge.is_less_than_shown(page, is_whole=False):
            return self._as_shown(previous, page)
        self._judge.note_name(page, self.visit)
        row = page.row(self.store.new_id(), self.visit)
        if previous is not None and self._judge.is_unchanged(page):
            if not is_final and self._may_differ(page, previous):
                return None
            return self._unchanged(previous, row, page)
        # Unpacked once: it is judged, and compared with the page's last version.
        document = page.document(self._judge.min_words)
        original = original_of(page, fleet_verdict)
        suspect = self.walls.suspect(page, original) if self._is_shown_whole(page) else None
        wall = self.walls.judge(suspect)
        if wall is not None:
            self._judge.describe_wall(row, page, wall, original)
        else:
            self._describe(row, page, original, fleet_verdict)
        if not is_final and self._may_differ(page, row):
            return None
        shown = page.rendered
        is_copy = row.verdict in verdicts.DUPLICATES or (shown is not None and shown.is_copy)
        is_less = is_copy and self._judge.is_less_than_shown(page, is_whole=True)
        if previous is not None and is_less:
            return self._as_shown(previous, page)
        is_met = isinstance(original, PageRow) and original.id == row.duplicate_of
        kept = original if is_met else self.fleet_originals.name_kept(row, fleet_verdict)
        captured = self._insert(row, page, document, kept)
        if page.reading.volatile and original is None:
            captured = self._to_be_proven(captured, page)
        self.walls.note(row, suspect, previous)
        if self.keep_versions and previous is not None and row.latest:
            self.store.drop_texts(row.key, self.keep_versions - 1)
        self.walls.verdicts.go_on()
        return captured

    def _describe(
        self,
        row: PageRow,
        page: PageContext,
        original: PageRow | OriginalPage | None,
        fleet_verdict: PageVerdict | None,
    ) -> None:
        """Write the verdict on a page that is no wall into its row."""
        reading, document = page.reading, page.document(self._judge.min_words)
        if original is not None and not page.asks_not_to_be_kept:
            repeat(row, original)
            row.duplicate_of = original.id if isinstance(original, PageRow) else None
        elif reading.failure is not None:
            row.verdict, row.reason = verdicts.UNREADABLE, Reason.UNREADABLE.stored(reading.failure)
        elif reading.not_html is not None:
            row.verdict = verdicts.NOT_HTML
            row.reason = Reason(reading.no_text).stored(reading.not_html)
        elif page.asks_not_to_be_kept:
            row.verdict = verdicts.NOINDEX
        elif document is not None:
            self._judge.describe(row, page)
            self._judge.judge(row, page, document, fleet_verdict)
        else:
            # An error makes Scrapy retry the request: a row without a verdict is a lost page.
            raise RuntimeError(f"{reading.url}: read for its links alone, its text is not held")

    def _is_shown_whole(self, page: PageContext) -> bool:
        """Return whether no browser may show something else of a page.

        Any other is no suspect: one that completes the signs of a wall makes all earlier ones part
        of it, and these may not have been shown either.
        """
        if page.rendered is not None:
            return page.rendered.is_patient
        return self.renderer is None or not page.fetched.may_be_filled

    def _may_differ(self, page: PageContext, row: PageRow) -> bool:
        """Return whether a page is to be dropped, and a browser may show that it is another one."""
        if self.renderer is None or row.verdict not in verdicts.DUPLICATES:
            return False
        is_kept = page.reading.is_page and not page.asks_not_to_be_kept
        is_near = row.verdict in verdicts.INEXACT
        return is_kept and self.renderer.may_differ(page.fetched, page.rendered, is_near=is_near)

    def _as_shown(self, previous: PageRow, page: PageContext) -> Captured:
        """Leave a page as a browser showed it before: there is less of it now."""
        failed = Outcome(verdicts.FAILED, together(*page.left_out()) or _NOT_SHOWN)
        return replace(self._kept(previous, page, failed), is_less_than_shown=True)

    def _insert(
        self,
        row: PageRow,
        page: PageContext,
        document: Document | None,
        kept: PageRow | OriginalPage | None,
    ) -> Captured:
        fetched, reading, previous = page.fetched, page.reading, page.previous
        if kept is not None:
            row.better_copy = int(is_better(row, kept))
        if row.verdict in verdicts.OF_TEXTS and row.is_main is not None:
            row.parameters = self.tuned.id
        if row.verdict in verdicts.KEPT:
            row.hold(reading.stored_text).html = reading.html_zstd
        nofollow = page.says("nofollow")
        is_followed = not (self.obey_robots_meta and nofollow)
        row.links = len([1 for link in reading.links if link.kind in PAGES]) if is_followed else 0
        is_dropped = row.verdict in verdicts.DUPLICATES and reading.is_page
        if is_dropped and page.rendered is None and fetched.may_be_filled:
            row.reason = together(row.reason, Reason.NOT_SEEN.stored())
        row.reason = together(row.reason, *page.left_out()) or None
        self.store.insert(row)
        if self.boilerplate is not None and previous is None and reading.extract is not None:
            kept_url = None if kept is None else kept.url
            self.boilerplate.note(row, reading.extract, kept_url)
        is_near = row.verdict == verdicts.NEAR_DUPLICATE and self.keep_near_texts
        if row.latest and (is_near or row.verdict == verdicts.CONTAINED):
            self.store.keep_near_text(row.id, reading.stored_text)
        if self._fleet is not None:
            self.fleet_originals.resolve(row)
        if previous is not None and row.latest and previous.text is not None:
            self._supersede(previous)
        is_cut = fetched.cut is not None
        outcome = self._judge.comparer.outcome(previous, row, document, is_cut=is_cut)
        self.known.note(row.key, self.visit, outcome, row.fetched_at, fetched.referer)
        if row.latest:
            self._store_links(page)
        return self.captured_of(row, row.verdict, reading.links, kept, nofollow=nofollow)

    def _supersede(self, previous: PageRow) -> None:
        """Let the duplicates of a changed page wait until they are requested.

        In a fleet they are settled at once, because it requests each page only once.
        """
        if self.promotion.supersede(previous.id) and self._fleet is not None:
            self.promote_superseded()

    def _store_links(self, page: PageContext) -> None:
        fetched, reading = page.fetched, page.reading
        if self.keep_links and reading.is_page and fetched.cut is None:
            places = reading.places
            if places is not None and (page.rendered or fetched.may_be_filled):
                places = (None, places[1])  # scripts may make further ones
            nofollow = page.says("nofollow")
            self.links.put(fetched.key, reading, nofollow=nofollow, places=places)

    def _unchanged(self, previous: PageRow, row: PageRow, page: PageContext) -> Captured:
        # A copy: other requests for the page may hold the row until this is stored.
        previous = replace(previous)
        previous.see_again(row, page.name(self._judge.min_words))
        self._store_links(page)
        kept = self._kept(previous, page, Outcome(verdicts.UNCHANGED))
        return self._to_be_proven(kept, page) if page.reading.volatile else kept

    def _to_be_proven(self, captured: Captured, page: PageContext) -> Captured:
        """Add to a page what was set aside in its text and was not seen to move yet."""
        unproven = self.store.volatile.unproven(page.fetched.url, page.reading.volatile)
        return replace(captured, unproven=unproven)

    def _kept(self, previous: PageRow, page: PageContext, outcome: Outcome) -> Captured:
        """Keep the last capture of a page, with the links that came now."""
        links, nofollow = page.reading.links, page.says("nofollow")
        return self.keep_previous(previous, outcome, links, nofollow=nofollow)
