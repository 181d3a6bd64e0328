"""Open, hold and close all parts of one crawl in one directory."""

from __future__ import annotations

import logging
import time
from collections import Counter
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from crawler.frontier.file_links import has_releasable
from crawler.frontier.memory_queue import MemoryQueue
from crawler.frontier.pauses import HostPauses
from crawler.frontier.queue import RequestQueue
from crawler.frontier.redirects import Redirects
from crawler.frontier.seen import SeenSet
from crawler.frontier.spellings import Spellings, StoredSpellings
from crawler.pages.capture import Archivist
from crawler.pages.fetched import Captured, Fetched
from crawler.pages.judged_documents import PageDocuments
from crawler.pages.live_parameters import Takeover, settle
from crawler.pages.page_links import LinkStore
from crawler.pages.page_store import PageStore
from crawler.pages.remote_originals import Elsewhere
from crawler.pages.stages import REFUSED_LINKS, SECONDS_BY_STAGE, RunningTotal
from crawler.pages.url_history import KnownUrls
from crawler.pages.verdicts import FAILED
from crawler.reading.pool import ReadingPool
from crawler.storage.database import Database
from crawler.storage.directory import check_identity, identity_of, locked
from crawler.storage.errors import CrawlStorageError, JobError
from crawler.url_rules.disabled import NoUrlRules
from crawler.url_rules.engine import UrlRules
from crawler.urls.canonical import Canonicalizer, MalformedUrl
from crawler.visits import NO, VisitNotes, Visits
from neardup import Deduplicator, HammingIndex, NearDupError, prepare
from neardup.fingerprints.digest import payload_digest
from neardup.storage.catch_up import open_index

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
    from pathlib import Path

    from crawler.fleet.fleet import Fleet
    from crawler.fleet.shared_seen import RecentKeys
    from crawler.frontier.order import Queue
    from crawler.job_options import JobOptions

logger = logging.getLogger(__name__)

INDEX_INTERVAL_SECS = 30.0
"""Seconds between two flushes of the fingerprint index; what it lacks is read from crawl.db."""


class Job:
    """The state of a crawl: queue, seen set, pages, fingerprints, workers.

    Args:
        folder: The crawl directory, made where it is missing; None keeps
            everything in temporary files.
        options: The options from the settings.

    Files:
        crawl.db: The authority: requests, pages, verdicts (``crawler.storage.schema``).
        fingerprints/: The Hamming index. It is flushed after the database is
            committed, so that it never knows a page which the database lacks,
            and caught up or rebuilt from the database when it is opened.
        seen.bloom: The Bloom filter before the seen set.
        lock: Held while a process writes.

    Raises:
        JobInUseError: Another process writes to the folder.
        JobVersionError: It was made with another format, other URL rules or features.
        JobError: It is not a crawl directory or cannot be written.
    """

    def __init__(self, folder: Path | None, options: JobOptions) -> None:
        self.folder = folder
        self.options = options
        self.canonicalizer = Canonicalizer(disabled=options.disabled_url_rules)
        self.started = time.monotonic()
        self.counts: Counter[str] = Counter()
        self.saved_bytes = 0
        self.limit: int | None = None
        self.limit_reason: str | None = None
        self.urgent: int | None = None
        self.files = 0
        self.title: str | None = None  # what people call it, where that is not its folder
        self.needs_workers = True
        self.wants_bodies = False
        self.revisit: str | None = None  # as -a revisit has it; None for spiders without it
        self.seeds: frozenset[str] = frozenset()
        self.dead_seeds: dict[str, str] = {}
        # Whether a URL may be asked, with the Request.meta of another spelling of it.
        self.may_ask: Callable[[str, Mapping[str, Any]], bool] = lambda url, meta: True
        self.refused_links: Counter[str] = Counter()
        self.stop_reason: str | None = None
        self.at_close: list[Callable[[], None]] = []
        # Called for each captured answer, and for each refused one and why, with Request.meta.
        self.after_capture: list[Callable[[Mapping[str, Any], Captured], None]] = []
        self.after_refusal: list[Callable[[Mapping[str, Any], str], None]] = []
        self.broken_requests = 0
        self.half_done: WeakSet[Hashable] = WeakSet()
        # Of answers that a middleware of others gave another request: the one that was handed out.
        self.replaced: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
        self.fleet: Fleet | None = None
        self._closed = False
        self._lock = locked(folder)
        try:
            self.database = Database(folder)
            self._open_parts()
        except BaseException:
            self._release()
            raise

    def _open_parts(self) -> None:
        folder = self.folder
        self._check_identity()
        self.notes = VisitNotes(self.database)
        self.store = PageStore(self.database)
        self.had_pages = self.store.last_visit > 0
        self.queue: Queue = RequestQueue(self.database) if folder else MemoryQueue()
        self.url_rules = self._url_rules()
        bloom = folder / "seen.bloom" if folder else None
        self.seen: SeenSet | RecentKeys = SeenSet(self.database, bloom)
        self.spellings: Spellings = StoredSpellings(self.database)
        self.redirects = Redirects(self.database)
        self.pauses = HostPauses(self.database, self.options.pauses)
        self.known = KnownUrls(self.database, self.options.intervals)
        self.visits = Visits(self.database, self.store, self.known, self.seen)
        self.visit = int(self.database.meta("visit") or 0)
        prepare(_say_that_it_compiles)
        tuned = settle(self.database, self.options.parameters)
        self.database.commit()  # others may write while the rest is opened
        radius = tuned.parameters.radius
        if folder is None:
            index = HammingIndex(radius=radius)
        else:
            index = open_index(folder / "fingerprints", self.store, radius=radius)
        deduplicator = Deduplicator(
            tuned.parameters, documents=PageDocuments(self.store), index=index
        )
        self.pool = ReadingPool(self.options.reading)
        self._index = index
        self._index_flushed = time.monotonic()
        self.archivist = Archivist(
            self.store,
            self.pool,
            deduplicator,
            self.known,
            LinkStore(self.database, self.canonicalizer.known_as),
            Elsewhere(self.database, self.store),
            self.visit,
            tuned,
            obey_robots_meta=self.options.obey_robots_meta,
            keep_versions=self.options.keep_versions,
            keep_near_texts=self.options.keep_near_texts,
        )
        self._takeover = Takeover(self.database, self.archivist)
        self._totals = (
            RunningTotal(self.database, SECONDS_BY_STAGE, self.archivist.seconds),
            RunningTotal(self.database, REFUSED_LINKS, self.refused_links),
        )
        if not len(self.queue):
            self.url_rules.fold_all()  # what it puts back shows that the visit is not over

    def _url_rules(self) -> UrlRules | NoUrlRules:
        """Return the learned rules; without a directory a stand-in: nothing can be put back."""
        policy = self.options.learning
        if not isinstance(self.queue, RequestQueue):
            return NoUrlRules(self.queue, "a JOBDIR")
        if policy is None:
            return NoUrlRules(self.queue, "CRAWL_LEARN_URL_RULES, which is off")
        return UrlRules(self.database, self.canonicalizer, self.queue, policy)

    def _check_identity(self) -> None:
        """Refuse a directory whose keys or fingerprints have another meaning."""
        features = self.options.parameters.fingerprint_features
        identity = identity_of(self.canonicalizer.version, features)
        check_identity(self.database, identity, self.folder)

    @property
    def plan(self) -> str | None:
        """The plan of the crawl in this directory, None for a new one."""
        return self.database.meta("plan")

    def claim(self, plan: str) -> None:
        """Store the plan of this crawl, so that another one does not take over its queue.

        Args:
            plan: The spider with its seeds and its scope, as people read it.

        Raises:
            JobError: The directory is in the middle of a crawl with another plan.
        """
        found = self.plan
        if found == plan:
            return
        if found is not None and self._is_something_left:
            raise JobError(
                f"{self.folder}: in the middle of another crawl ({found}); "
                "finish that one first, or give -s JOBDIR=DIR"
            )
        self.database.set_meta("plan", plan)
        self.notes.begin_plan()
        self.database.commit()

    @property
    def is_new(self) -> bool:
        """Whether nothing was ever fetched here."""
        return self.visit == 0 or (self.visit == 1 and self.is_unused)

    @property
    def is_unused(self) -> bool:
        """Whether this visit was begun, and stopped before it stored anything."""
        return self.queue.is_untouched and self.store.last_visit < self.visit

    @property
    def is_finished(self) -> bool:
        """Whether the last visit left nothing to do, and had today's plan."""
        return self._is_over and self.visits.is_of(self.plan)

    @property
    def _is_over(self) -> bool:
        # A visit of what is due may have had nothing to ask for.
        is_unused = self.is_unused and not self.visits.has_queued
        return bool(self.visit) and not (is_unused or self._is_something_left)

    @property
    def _is_something_left(self) -> bool:
        """Whether requests of this visit wait, or may do so when it continues."""
        is_queueing = len(self.queue) > 0 or self.visits.is_queueing or self.notes.is_scope_new
        return is_queueing or self.url_rules.is_unexamined or has_releasable(self.database)

    def begin_visit(self) -> bool:
        """Continue the visit that was stopped, or begin the next; return whether it continues.

        A visit that left nothing to do is finished. With ``revisit`` "no" a
        finished one is continued, for seeds that are new; else
        another one begins.
        """
        if self.visit and not self._is_over:
            return True
        if self.revisit == NO and self.is_finished:
            return True
        revisit = self.revisit or NO
        self.archivist.settle()  # where the last visit ended with a killed process
        self.visit += 1
        self.url_rules.begin_visit(self.visit)
        self.queue.clear()
        self.seen.clear()
        self.visits.begin(self.visit, revisit if self.visit > 1 else NO, self.plan)
        self.redirects.clear()
        self.spellings.clear()
        self.pauses.begin_visit()
        self.database.set_meta("visit", str(self.visit))
        self.notes.begin_visit()
        for total in self._totals:
            total.begin_visit()
        self.archivist.visit = self.visit
        self.database.commit()
        return False

    @property
    def pages(self) -> int:
        """Number of pages that this process fetched, whatever the verdict, without their files."""
        return self.counts.total() - self.counts[FAILED] - self.files

    def count(self, verdict: str, body_bytes: int, *, duplicate: bool) -> None:
        """Count a verdict of this process."""
        self.counts[verdict] += 1
        if duplicate:
            self.saved_bytes += body_bytes

    def store_failure(
        self,
        url: str,
        verdict: str,
        reason: str,
        *,
        status: int = 0,
        depth: int = 0,
        redirected: Sequence[str] = (),
    ) -> Captured:
        """Store and count a URL that gave no page, with the reason.

        Args:
            url: The URL.
            verdict: The verdict to store.
            reason: Why there is no page.
            status: Status of the answer, 0 where none came.
            depth: Number of links that led there.
            redirected: URLs that led to it by redirects.
        """
        try:
            canonical_url, key = self.canonicalizer(url), self.canonicalizer.key(url)
        except MalformedUrl:
            canonical_url, key = url, payload_digest(url.encode("utf-8", "surrogatepass"))
        fetched = Fetched(url, canonical_url, key, depth, status, b"")
        captured = self.archivist.store_failure(fetched, verdict, reason)
        self.count(verdict, 0, duplicate=False)
        self.url_rules.note_failure([*redirected, url])
        return captured

    def is_known(self, key: bytes) -> bool:
        """Return whether an earlier visit knows a page, so that this one must fetch it too."""
        return self.visit > 1 and key in self.known

    def note_moved(self, url: str, target: str, *, status: int, permanent: bool) -> None:
        """Note the redirect of a known page, unless it leads to the same page."""
        with suppress(MalformedUrl):
            key = self.canonicalizer.key(url)
            if key != self.canonicalizer.key(target):
                self.archivist.note_moved(key, target, status=status, permanent=permanent)

    @property
    def failure(self) -> str | None:
        """The reason why the crawl cannot continue, or None."""
        return self.database.failure or self.stop_reason

    def commit_if_due(self) -> None:
        """Make recent work durable, at intervals; a failure shows in ``failure``."""
        with self._noting_failure():
            for total in self._totals:
                total.note_if_due()
            if self.database.commit_if_due(is_half_done=bool(self.half_done)):
                self._follow_commit()

    def _follow_commit(self) -> None:
        self._takeover.look()
        now = time.monotonic()
        if now - self._index_flushed >= INDEX_INTERVAL_SECS:
            self._index.flush()
            self._index_flushed = now

    def commit(self) -> None:
        """Make recent work durable now; a failure shows in ``failure``."""
        with self._noting_failure():
            self._commit()

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        try:
            yield
        except (CrawlStorageError, NearDupError, OSError) as error:
            self.database.fail(f"{self.folder}: cannot be written: {error}")

    def _commit(self) -> None:
        for total in self._totals:
            total.note()
        self.url_rules.save_refuted()
        self.database.commit()
        self._index.flush()

    def end_visit(self) -> None:
        """Promote a duplicate of each page whose text has changed; errors go to ``failure``.

        It also runs where the visit is only stopped: each reader of the directory then finds each
        text.
        """
        with self._noting_failure():
            self.archivist.settle()
            self._commit()

    def save(self) -> None:
        """Commit now as ``commit_if_due`` does when it is due."""
        with self._noting_failure():
            self.database.commit()
            self._follow_commit()

    async def start_pool(self) -> None:
        """Start the worker processes, where texts are read at all."""
        if self.needs_workers:
            await self.pool.start()

    async def close_pool(self) -> None:
        """End the worker processes."""
        await self.pool.close()

    def close(self) -> None:
        """Commit and release the directory; closing twice is allowed."""
        if self._closed:
            return
        self._closed = True
        for act in self.at_close:
            act()
        try:
            if self.database.failure is None:
                self._close_in_order()
            self._index.abandon()
        finally:
            self.database.close()
            self._release()

    def _close_in_order(self) -> None:
        """Close derived files last: they must never know what the database lacks."""
        with self._noting_failure():
            self.archivist.settle()
            self._commit()
            self._index.close()
            self.seen.save()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()


def _say_that_it_compiles() -> None:
    logger.warning("compiling what reads and compares texts: some seconds, once per installation")
