"""Open, hold and close all parts of one crawl in one directory."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crawler.frontier.frontier import open_frontier
from crawler.frontier.queue import MemoryQueue, RequestQueue
from crawler.frontier.seen import SeenSet
from crawler.pages.boilerplate import CountedBoilerplate
from crawler.pages.capture import PageProcessor
from crawler.pages.commits import Commits
from crawler.pages.live_parameters import adopt_settings, has_settings, newest
from crawler.pages.page_context import UNKNOWN_WAY, Fetched, Way
from crawler.pages.page_links import LinkStore
from crawler.pages.page_store import PageStore
from crawler.pages.shared_verdicts import FleetOriginals
from crawler.pages.stored_texts import PageDocuments
from crawler.pages.url_history import KnownUrls
from crawler.pages.visits import NO, Outlook, Visits
from crawler.reading.pool import ReadingPool
from crawler.run import RunCallbacks, RunOptions, RunResult, answers_in
from crawler.storage.database import Database
from crawler.storage.directory import check_identity, identity_of, locked
from crawler.storage.errors import JobError
from crawler.storage.meta_names import URL_RULES
from crawler.url_rules.engine import UrlRules
from crawler.url_rules.file_links import has_releasable
from crawler.urls.canonical import Canonicalizer, MalformedUrl
from neardup import Deduplicator, HammingIndex
from neardup.fingerprints.digest import payload_digest
from neardup.storage.signatures import (
    memory_passages,
    memory_signatures,
    open_passages,
    open_signatures,
)
from neardup.storage.sqlite import open_index

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from crawler.fleet.fleet import Fleet
    from crawler.pages.page_context import Captured
    from crawler.pages.reasons import Stored
    from crawler.run import JobOptions


class Job:
    """One crawl in one directory: its parts, and what all of them do together.

    Args:
        folder: The crawl directory, made where it is missing; None keeps
            everything in temporary files.
        options: The options from the settings.
        adopts_settings: Whether changed parameters among the settings hold from now on; otherwise
            once the directory is claimed.
        check: Callback that raises if the directory is another's.

    Attributes:
        run: Options of this run, which the spider sets before it begins.
        result: Counts of this run, and why it stopped.
        callbacks: Functions to call for captured and refused answers, and at the end.
        frontier: Requests: those that wait, are under way, or were met before.
        url_rules: Learned URL rules.
        visits: Number, plan and notes of the visit, and what earlier ones know.
        store: The table ``pages``.
        processor: Reads, judges and stores answers; keeps pages that were not sent.

    Files:
        crawl.db: The authority: requests, pages, verdicts (``crawler.storage.schema``).
        fingerprints/: The Hamming index, flushed after the database is committed, and
            caught up or rebuilt from it when it is opened.
        signatures/, passages/: The indexes of MinHash signatures and of passages, likewise.
        seen.bloom: The Bloom filter before the seen set.
        lock: Held while a process writes.

    Raises:
        JobInUseError: Another process writes to the folder.
        JobVersionError: It was made with another format, other URL rules or features.
        JobError: It is not a crawl directory or cannot be written.
    """

    def __init__(
        self,
        folder: Path | None,
        options: JobOptions,
        *,
        adopts_settings: bool = True,
        check: Callable[[Database], None] = lambda _: None,
    ) -> None:
        self.folder = folder
        self.run = RunOptions()
        self.result = RunResult()
        self.callbacks = RunCallbacks()
        self.fleet: Fleet | None = None
        self._exit = ExitStack()
        if (lock := locked(folder)) is not None:
            self._exit.callback(lock.release)
        try:
            self.database = Database(folder)
            check(self.database)
            self.options = options = options.in_directory(self.database.meta(URL_RULES))
            self.canonicalizer = Canonicalizer(disabled=options.disabled_url_rules)
            # Keys and fingerprints of one directory have one meaning.
            features = options.parameters.fingerprint_features
            check_identity(self.database, identity_of(self.canonicalizer.version, features), folder)
            self.store = PageStore(self.database, is_sole=True)
            queue = RequestQueue(self.database) if folder else MemoryQueue(self.database)
            self.url_rules = UrlRules(self.database, self.canonicalizer, queue, options.learning)
            seen = SeenSet(self.database, folder / "seen.bloom" if folder else None)
            self.frontier = open_frontier(self.database, queue, seen, options.pauses)
            known = KnownUrls(self.database, options.intervals)
            self.visits = Visits(self.database, self.store, known, seen)
            self.store.volatile.begin_visit(self.visits.number)
            self.processor, self._commits = self._opened_processor(adopts_settings=adopts_settings)
            if not options.follow_duplicates:
                self.processor.promotion.after_promotion.append(self.visits.notes.follow_from)
            siblings = self.processor.siblings
            self.callbacks.after_capture.append(lambda _, captured: siblings.note(captured))
            fixed = self.url_rules.fixed
            self.callbacks.after_capture.append(lambda _, captured: fixed.observe(captured.row))
            if not len(self.frontier.queue):
                self.url_rules.regroup_all()  # what it puts back shows that the visit is not over
        except BaseException:
            self._exit.close()
            raise
        self._exit.callback(self.database.close)
        self._exit.callback(lambda: self._commits.close(self.frontier.seen.save))
        self._exit.callback(self.callbacks.closing)

    def _opened_processor(self, *, adopts_settings: bool) -> tuple[PageProcessor, Commits]:
        wanted = self.options.parameters
        is_settled = adopts_settings or has_settings(self.database, wanted)
        held = None if is_settled else newest(self.database.read)
        tuned = held or adopt_settings(self.database, wanted)
        self.database.commit()  # others may write while the rest is opened
        documents = PageDocuments(self.store)
        radius, size = tuned.parameters.max_distance, tuned.parameters.verify_shingle_size
        if self.folder is None:
            index = HammingIndex(radius=radius)
            signatures, passages = memory_signatures(size), memory_passages(size)
        else:
            index = open_index(self.folder / "fingerprints", self.store, radius=radius)
            self._exit.callback(index.abandon)
            folder = self.folder / "signatures"
            signatures = open_signatures(folder, documents, shingle_size=size)
            self._exit.callback(signatures.abandon)
            passages = open_passages(self.folder / "passages", documents, shingle_size=size)
            self._exit.callback(passages.abandon)
        boilerplate = CountedBoilerplate.opened(self.database)
        processor = PageProcessor(
            store=self.store,
            pool=ReadingPool(self.options.reading),
            deduplicator=Deduplicator(
                tuned.parameters,
                documents=documents,
                index=index,
                signatures=signatures,
                passages=passages,
                boilerplate=boilerplate,
            ),
            known=self.visits.known,
            links=LinkStore(self.database, self.canonicalizer.known_as),
            fleet_originals=FleetOriginals(self.database, self.store),
            visit=self.visits.number,
            tuned=tuned,
            obey_robots_meta=self.options.obey_robots_meta,
            keep_versions=self.options.keep_versions,
            keep_near_texts=self.options.keep_near_texts,
            find_walls=self.options.find_walls,
            boilerplate=boilerplate,
        )
        commits = Commits(
            self.folder,
            self.database,
            (index, signatures, passages),
            processor,
            self.result.first_sums,
            self.result.refused_links,
            self.url_rules.save_refuted,
        )
        return processor, commits

    def tell(self, **options: Any) -> None:
        """Set options of this run, before it begins."""
        self.run = replace(self.run, **options)

    def join(self, fleet: Fleet) -> None:
        self.fleet = fleet

    def claim(self, plan: str, scope: str = "") -> None:
        """Store the plan of this crawl, so that another one does not take over its queue.

        A crawl that is refused has changed nothing: parameters from the settings hold from here on.

        Args:
            plan: The spider with its seeds and its scope, as people read it.
            scope: The name of the scope; empty where the spider has none.

        Raises:
            JobError: The directory is in the middle of a crawl with another plan.
        """
        found = self.visits.plan
        if found != plan:
            if found is not None and self._is_something_left:
                raise JobError(
                    f"{self.folder}: in the middle of another crawl ({found}); "
                    "finish that one first, or give -s JOBDIR=DIR"
                )
            self.visits.begin_plan(plan)
        self.visits.note_scope(scope)
        self._adopt_settings()
        self.database.commit()

    def _adopt_settings(self) -> None:
        if not has_settings(self.database, self.options.parameters):
            tuned = adopt_settings(self.database, self.options.parameters)
            if tuned.id != self.processor.tuned.id:
                self.processor.tune(tuned)

    @property
    def is_new(self) -> bool:
        """Whether nothing was ever fetched here."""
        return not self.visits.number or (self.visits.number == 1 and self._is_unused)

    @property
    def is_finished(self) -> bool:
        """Whether the last visit left nothing to do, and had today's plan."""
        return self.is_over and self.visits.has_todays_plan

    @property
    def _is_unused(self) -> bool:
        return self.frontier.queue.is_untouched and self.store.last_visit < self.visits.number

    @property
    def is_over(self) -> bool:
        """Whether the last visit left nothing to do."""
        # A visit of what is due may have had nothing to ask for.
        is_unused = self._is_unused and not self.visits.has_queued
        return bool(self.visits.number) and not (is_unused or self._is_something_left)

    @property
    def _is_something_left(self) -> bool:
        """Whether requests of this visit wait, or may do so when it continues."""
        visits = self.visits
        is_queueing = visits.is_queueing or visits.notes.is_following_again
        is_queueing = is_queueing or len(self.frontier.queue) > 0
        is_queueing = is_queueing or visits.asks_with_cookies or visits.notes.asks_passing
        rules = self.url_rules
        is_queueing = is_queueing or rules.fixed.is_unsettled or rules.validation.is_left
        return is_queueing or has_releasable(self.database.read)

    def begin_visit(self) -> bool:
        """Continue the visit that was stopped, or begin the next; return whether it continues.

        A visit that left nothing to do is finished. With ``revisit`` "no" a finished one is
        continued, for seeds that are new; else another one begins.
        """
        is_finished_for_good = self.run.revisit == NO and self.is_finished
        if (self.visits.number and not self.is_over) or is_finished_for_good:
            self.url_rules.continue_visit()
            return True
        self.processor.promote_superseded()  # where the last visit ended with a killed process
        self.visits.end()
        self.url_rules.begin_visit(self.visits.number + 1)
        self.frontier.begin_visit()
        expected = self.visits.expected(self.run.revisit or NO)
        self.visits.begin(self.run.revisit or NO)
        self.url_rules.fixed.begin_visit()
        self._commits.begin_visit()
        self.visits.note_outlook(Outlook(expected, answers_in(self.sums)))
        self.processor.visit = self.visits.number
        self.processor.walls.begin_visit()
        self.store.volatile.begin_visit(self.visits.number)
        self.database.commit()
        return False

    @property
    def sums(self) -> Counter[str]:
        """The answers of all runs of this directory by their first verdict, and their bytes."""
        sums: Counter[str] = Counter()
        for part in (self._commits.answers_before, self.result.first_sums):
            sums.update({name: int(count) for name, count in part.items()})
        return sums

    @property
    def had_runs(self) -> bool:
        """Whether an earlier process had answers in this directory."""
        return bool(self._commits.answers_before)

    def is_at_limit(self, pages: int) -> bool:
        """Return whether nothing more is requested, given the pages fetched and under way."""
        limit = self.run.max_pages
        return self.result.limit_reason is not None or (limit is not None and pages >= limit)

    @property
    def urgent_priority(self) -> int | None:
        """Minimum priority of requests at the limit; None makes none."""
        return self.run.urgent_priority if self.result.limit_reason is None else None

    def store_failure(
        self,
        url: str,
        verdict: str,
        reason: Stored,
        *,
        status: int = 0,
        way: Way = UNKNOWN_WAY,
    ) -> Captured:
        """Store and count a URL that gave no page, with the reason.

        Args:
            url: The URL.
            verdict: The verdict to store.
            reason: Why there is no page.
            status: Status of the answer, 0 where none came.
            way: How it was reached.
        """
        try:
            canonical_url, key = self.canonicalizer(url), self.canonicalizer.key(url)
        except MalformedUrl:
            canonical_url, key = url, payload_digest(url.encode("utf-8", "surrogatepass"))
        fetched = Fetched(url, canonical_url, key, way.depth, status, b"")
        captured = self.processor.store_failure(fetched, verdict, reason, way.linked_from)
        self.result.count(verdict, reason=reason, is_again=captured.is_again)
        self.url_rules.substitutes.note_failure([*way.redirected, url])
        self.url_rules.fixed.note_failure(key)
        return captured

    def note_moved(self, url: str, target: str, status: int, *, permanent: bool) -> None:
        """Note the redirect of a known page, unless it leads to the same page."""
        with suppress(MalformedUrl):
            key = self.canonicalizer.key(url)
            if key != self.canonicalizer.key(target):
                self.processor.note_moved(key, target, status=status, permanent=permanent)

    def promote_siblings(self, *, is_last: bool = False) -> list[Captured] | None:
        """Judge some near-duplicates again whose host's boilerplate is known now.

        Args:
            is_last: Whether the crawl ends, so that all of them are to be judged.

        Returns:
            The captures of those that are kept from now on; None where none are left at the end.
        """
        siblings = self.processor.siblings
        promoted = siblings.judge_last() if is_last else siblings.judge_some()
        for captured in promoted or ():
            self.result.promoted += 1
            self.url_rules.observe(captured.row, is_first=False)
        return promoted

    @property
    def failure(self) -> str | None:
        """The reason why the crawl cannot continue, or None."""
        return self.database.failure or self.result.stop_reason

    def commit_if_due(self) -> None:
        """Make recent work durable, at intervals; a failure shows in ``failure``."""
        self._commits.commit_if_due(is_half_done=self.frontier.leased.is_half_done)

    def commit(self) -> None:
        """Make recent work durable now; a failure shows in ``failure``."""
        self._commits.commit()

    def save(self) -> None:
        """Commit now as ``commit_if_due`` does when it is due."""
        self._commits.save()

    def end_visit(self) -> None:
        """Promote a duplicate of each page whose text has changed; errors go to ``failure``.

        It also runs where the visit is only stopped: each reader of the directory then finds each
        text.
        """
        self._commits.end_visit()

    async def start_pool(self) -> None:
        if self.run.needs_workers:
            await self.processor.pool.start()

    async def close_pool(self) -> None:
        await self.processor.pool.close()

    def close(self) -> None:
        """Commit and release the directory; closing twice is allowed."""
        self._exit.close()
