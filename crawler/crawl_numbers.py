"""Read the numbers of a running crawl for its panel, its status file and its metrics."""

from __future__ import annotations

import time
import weakref
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from scrapy.utils.httpobj import urlparse_cached

from crawler.job_registry import SharedByComponents, job_of
from crawler.pages.verdicts import CHANGED, DUPLICATES, FAILED, KEPT, UNCHANGED, VERDICTS
from crawler.run import BYTES, answers_in
from crawler.storage.meta_names import BROWSER_REQUESTS
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from scrapy.crawler import Crawler

    from crawler.frontier.pauses import HostPause
    from crawler.job import Job

PACE_SECS = 60.0
"""Take the pace of a crawl from this many seconds, the last ones."""

_SAMPLE_SECS = 0.25

RUNNING = "running"
FINISHING = "finishing"
FINISHED = "finished"
STOPPED = "stopped"

MAX_PAGES = "max_pages"
SIGNAL = "signal"

_NAMED = frozenset({*KEPT, *DUPLICATES, UNCHANGED, FAILED})


@dataclass(frozen=True, slots=True)
class Sums:
    """Counts of answers by the verdict that was given first, so that no count ever falls.

    ``fetched`` is the sum of ``kept``, ``duplicates``, ``changed``, ``unchanged`` and ``other``.
    ``changed`` stands beside ``kept``: a page that changes at each visit is kept once.
    """

    fetched: int
    kept: int
    duplicates: int
    changed: int
    unchanged: int
    other: int
    failed: int
    bytes: int
    browser_requests: int
    verdicts: dict[str, int]

    @classmethod
    def of(cls, counts: Mapping[str, float]) -> Sums:
        """Return the sums of counts by verdict, which hold the number of bytes too."""
        verdicts = {name: int(counts[name]) for name in VERDICTS if counts.get(name)}
        return cls(
            fetched=sum(verdicts.values()) - verdicts.get(FAILED, 0),
            kept=sum(verdicts.get(verdict, 0) for verdict in KEPT - {CHANGED}),
            duplicates=sum(verdicts.get(verdict, 0) for verdict in DUPLICATES),
            changed=verdicts.get(CHANGED, 0),
            unchanged=verdicts.get(UNCHANGED, 0),
            other=sum(count for verdict, count in verdicts.items() if verdict not in _NAMED),
            failed=verdicts.get(FAILED, 0),
            bytes=int(counts.get(BYTES, 0)),
            browser_requests=int(counts.get(BROWSER_REQUESTS, 0)),
            verdicts=verdicts,
        )


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a crawl at one moment.

    Attributes:
        state: ``running``, or ``finishing`` once nothing more is requested.
        run: Sums of this process.
        directory: Sums of all runs of the directory, this one included.
        is_new: Whether this is the first run of the directory.
        is_stored: Whether another run can go on with the crawl.
        promoted: Duplicates that were kept after all in this run.
        files: Files that are no pages, among what a mirror fetched.
        pages_per_sec: Pace of the last minute.
        in_flight: Requests that are downloaded, read or stored now.
        hosts: Hosts that are asked now.
        paused: Number of hosts that rest.
        resting: Description of those, empty where there is none.
        limit: Name and number of what the crawl goes up to, empty where that is not known.
        share: Share of it that is done, 0 to 1.
        eta_secs: Seconds until it is reached at the present pace, None where that is not known.
        fleet: Description of the fleet, empty where there is none.
    """

    title: str
    state: str
    elapsed_secs: float
    run: Sums
    directory: Sums
    is_new: bool
    is_stored: bool
    promoted: int
    files: int
    pages_per_sec: float
    queued: int
    in_flight: int
    busy: int
    workers: int
    hosts: tuple[str, ...]
    paused: int
    resting: str
    limit: str
    share: float | None
    eta_secs: float | None
    fleet: str

    @property
    def is_finishing(self) -> bool:
        return self.state == FINISHING


class _Sample(NamedTuple):
    at: float
    fetched: int
    failed: int


class _Pace(NamedTuple):
    """Pages and answers a second; failures are answers too."""

    pages: float
    answers: float


class CrawlNumbers(SharedByComponents):
    """Reads the numbers of one crawl; cheap."""

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = weakref.ref(crawler)  # it is the key under which this is held
        self.job: Job = job_of(crawler)
        self._samples = deque([_Sample(self.job.result.started, 0, 0)])
        self._last_hosts: tuple[str, ...] = ()

    def read(self) -> Numbers:
        """Return the numbers as they are now."""
        job, result = self.job, self.job.result
        now, run = time.monotonic(), Sums.of(result.sums)
        pace = self._pace(now, run)
        limit, done, size = self._limit()
        per_sec = pace.pages if job.run.max_pages is not None else pace.answers
        resting = sorted(job.frontier.pauses.resting(), key=lambda pause: pause.left_secs)
        return Numbers(
            title=job.run.title or str(job.folder or "crawl"),
            state=FINISHING if self.is_closing else RUNNING,
            elapsed_secs=now - result.started,
            run=run,
            directory=Sums.of(job.sums),
            is_new=not job.had_runs,
            is_stored=job.folder is not None,
            promoted=result.promoted,
            files=result.files,
            pages_per_sec=pace.pages,
            queued=len(job.frontier.queue),
            in_flight=len(getattr(self._slot, "inprogress", ())),
            busy=job.processor.pool.busy,
            workers=job.processor.pool.size if job.run.needs_workers else 0,
            hosts=self._hosts(),
            paused=len(resting),
            resting=_resting_words(resting),
            limit=limit,
            share=min(done / size, 1.0) if size else None,
            eta_secs=max(0.0, size - done) / per_sec if size and per_sec else None,
            fleet=job.fleet.progress if job.fleet is not None else "",
        )

    def _limit(self) -> tuple[str, float, float]:
        """Return what the crawl goes up to, in words, how much is done, and how much it is."""
        job = self.job
        if job.run.max_pages is not None:
            return f"max_pages {job.run.max_pages:,}", job.result.pages, job.run.max_pages
        outlook = job.visits.outlook
        if outlook.expected:
            known = many(outlook.expected, "known URL")
            return known, answers_in(job.sums) - outlook.before, outlook.expected
        return "", 0, 0

    def _pace(self, now: float, run: Sums) -> _Pace:
        """Return the pace of the last minute, and remember the present counts."""
        samples = self._samples
        if now - samples[-1].at >= _SAMPLE_SECS:
            samples.append(_Sample(now, run.fetched, run.failed))
        while len(samples) > 1 and samples[1].at <= now - PACE_SECS:
            samples.popleft()
        secs = max(now - samples[0].at, _SAMPLE_SECS)
        pages = run.fetched - samples[0].fetched
        return _Pace(pages / secs, (pages + run.failed - samples[0].failed) / secs)

    @property
    def _slot(self) -> object:
        crawler = self._crawler()
        return None if crawler is None else getattr(crawler.engine, "_slot", None)

    @property
    def is_closing(self) -> bool:
        """Whether nothing more is requested, and what is under way goes on to its end."""
        return getattr(self._slot, "closing", None) is not None

    def _hosts(self) -> tuple[str, ...]:
        """Return the hosts of the few requests in the downloader; of the last ones without any."""
        crawler = self._crawler()
        if crawler is None or self._slot is None:
            return self._last_hosts
        active = crawler.engine.downloader.active
        names = {urlparse_cached(request).netloc.rpartition("@")[2] for request in active}
        self._last_hosts = tuple(sorted(names)) or self._last_hosts
        return self._last_hosts


def ending_of(job: Job, reason: str) -> tuple[str, str]:
    """Return the state of a crawl that has ended, and what stopped it.

    Args:
        job: The job of the crawl.
        reason: Reason that Scrapy gave when it closed the spider.
    """
    if job.failure is not None:
        return STOPPED, job.failure
    if reason == "shutdown":
        return STOPPED, SIGNAL
    if job.result.limit_reason is not None:
        return STOPPED, job.result.limit_reason
    if job.is_at_limit(job.result.pages) and len(job.frontier.queue):
        return STOPPED, MAX_PAGES
    return (FINISHED, "") if reason == "finished" else (STOPPED, reason)


def _resting_words(resting: Sequence[HostPause]) -> str:
    """Return a text about the hosts that are paused, empty where none is."""
    if not resting:
        return ""
    first = resting[0]
    reason = f"({first.reason})"
    if len(resting) == 1:
        return f"asks {first.name} again in {first.left_secs:.0f} s {reason}"
    return f"{len(resting):,} hosts wait, {first.name} {first.left_secs:.0f} s {reason}"
