"""Define the options, the result and the callbacks of one run of a job."""

from __future__ import annotations

import time
from collections import ChainMap, Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from crawler.frontier.pauses import PausePolicy
from crawler.pages.reasons import code_and_number
from crawler.pages.url_history import IntervalPolicy
from crawler.pages.verdicts import FAILED
from crawler.reading.protocol import ReadingOptions
from crawler.storage import meta_names
from crawler.urls.canonical import TRIED, Canonicalizer
from neardup import Parameters

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from crawler.downloading.pace import Hours
    from crawler.pages.page_context import Captured
    from crawler.pages.reasons import Stored
    from crawler.url_rules.learning.hypothesis import LearningPolicy


BYTES = "bytes"
"""Name of the number of bytes among the sums of a run, beside the verdicts."""


@dataclass(frozen=True, slots=True)
class JobOptions:
    """The options of a crawl, read from its settings."""

    parameters: Parameters = field(default_factory=Parameters)
    reading: ReadingOptions = field(default_factory=ReadingOptions)
    obey_robots_meta: bool = True
    disabled_url_rules: tuple[str, ...] = ()
    keep_versions: int = 2
    keep_near_texts: bool = True
    markdown: bool = False
    find_walls: bool = True
    follow_duplicates: bool = True
    intervals: IntervalPolicy = field(default_factory=IntervalPolicy)
    pauses: PausePolicy = field(default_factory=PausePolicy)
    learning: LearningPolicy | None = None
    """The conditions on which a learned URL rule is believed; None learns and skips nothing."""

    def in_directory(self, url_rules: str | None) -> JobOptions:
        """Return the options for a directory, with tried rules off where it was made without them.

        Args:
            url_rules: The version of the rules that its keys were made with; None where it is new.
        """
        disabled = tuple({*self.disabled_url_rules, *(rule.name for rule in TRIED)})
        if url_rules != Canonicalizer(disabled).version:
            return self
        reading = replace(self.reading, disabled_url_rules=disabled)
        return replace(self, disabled_url_rules=disabled, reading=reading)


def answers_in(sums: Mapping[str, float]) -> float:
    """Return the number of all answers in sums of runs, failures included."""
    return sum(sums.values()) - sums.get(BYTES, 0) - sums.get(meta_names.BROWSER_REQUESTS, 0)


def _any_url(url: str, meta: Mapping[str, Any]) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options that a spider, or the command that starts it, gives to a run.

    Attributes:
        revisit: Known pages to request again, as ``-a revisit`` has it; None for a spider without
            that argument.
        max_pages: Number of pages after which the run stops; None for no limit.
        max_secs: Seconds after which the run stops; None for no limit.
        max_bytes: Bytes of bodies after which the run stops; None for no limit.
        bytes_before: Bytes of earlier runs that count too, of a mirror; None where none do.
        hours: Hours of the day at which the run makes requests; None for all.
        urgent_priority: Minimum priority of requests that are made beyond ``max_pages``; None makes
            no such requests.
        seeds: URLs that the user gave.
        may_ask: Returns whether a URL may be requested, given the ``Request.meta`` of another
            spelling of it.
        title: Name of the crawl for people, where that is not its folder.
        needs_workers: Whether texts are read at all.
    """

    revisit: str | None = None
    max_pages: int | None = None
    max_secs: float | None = None
    max_bytes: int | None = None
    bytes_before: int | None = None
    hours: Hours | None = None
    urgent_priority: int | None = None
    seeds: frozenset[str] = frozenset()
    may_ask: Callable[[str, Mapping[str, Any]], bool] = _any_url
    title: str | None = None
    needs_workers: bool = True


class RunResult:
    """The counts of a run, and the reasons why it stopped and why seeds gave nothing.

    Attributes:
        started: Start of the run, by the monotonic clock.
        started_at: The same, in seconds since 1970.
        verdicts: Number of answers by the verdict that was given first; none ever falls.
        first_verdicts: The same, without pages that an earlier run of this visit stored.
        promoted: Number of pages that are kept now and were dropped as duplicates, in any run.
        failures: Number of failed requests, by the code of the reason and the HTTP status.
        fetched_bytes: Bytes of the bodies that came, under the name ``bytes``, and the number of
            requests that pages made in the browser, under ``browser_requests``.
        under_way: Bytes that answers under way announced or brought, by their requests; they are
            no part of ``bytes`` yet.
        refused_links: Number of links that were not followed, by reason.
        files: Number of files that are no pages, of a mirror.
        repaired_files: Number of files of a mirror that were written again.
        broken_requests: Number of requests that ended in an error of ours.
        errors: Number of other errors that ended a part of the run, and not the run.
        missing: What is missing of what was asked for, in words.
        dead_seeds: Reason for each seed that gave no page.
        stop_reason: Reason why the run cannot continue, beside a database that cannot be written.
        limit_reason: Reason why nothing more is requested, though ``max_pages`` is not reached.
        shortage: The same, where it is the disk, on which the crawl could not go on.
        has_started: Whether all requests to begin with were given to the queue.
        close_reason: Reason that Scrapy gave when it closed the spider; None: it did not.
    """

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.started_at = time.time()
        self.verdicts: Counter[str] = Counter()
        self.first_verdicts: Counter[str] = Counter()
        self.promoted = 0
        self.has_started = False
        self.failures: Counter[tuple[str, str]] = Counter()
        self.fetched_bytes = {BYTES: 0, meta_names.BROWSER_REQUESTS: 0}
        self.under_way: WeakKeyDictionary[object, int] = WeakKeyDictionary()
        self.refused_links: Counter[str] = Counter()
        self.repaired_files = 0
        self.broken_requests = 0
        self.errors = 0
        self.missing: list[str] = []
        self.dead_seeds: dict[str, str] = {}
        self.stop_reason: str | None = None
        self.limit_reason: str | None = None
        self.shortage: str | None = None
        self.close_reason: str | None = None
        self.files = 0

    @property
    def pages(self) -> int:
        """Number of pages that this process fetched, whatever the verdict, without their files."""
        return self.verdicts.total() - self.verdicts[FAILED] - self.files

    @property
    def bytes(self) -> int:
        """Bytes of the bodies that came."""
        return self.fetched_bytes[BYTES]

    @property
    def sums(self) -> Mapping[str, int]:
        """The counts of this run, live."""
        return ChainMap(self.fetched_bytes, self.verdicts)

    @property
    def first_sums(self) -> Mapping[str, int]:
        """The counts that are added up over all runs of a directory, live."""
        return ChainMap(self.fetched_bytes, self.first_verdicts)

    def count(
        self,
        verdict: str,
        body_bytes: int = 0,
        *,
        reason: Stored | None = None,
        is_again: bool = False,
    ) -> None:
        """Count a verdict with the bytes of the body, and why a request failed.

        Args:
            verdict: The verdict.
            body_bytes: Bytes of the body.
            reason: Why the request failed.
            is_again: Whether an earlier run of this visit counted the page, and was killed before
                it had queued its links.
        """
        self.verdicts[verdict] += 1
        self.first_verdicts[verdict] += not is_again
        self.fetched_bytes[BYTES] += body_bytes
        if verdict == FAILED:
            self.failures[code_and_number(reason)] += 1

    def count_for_browser(self, body_bytes: int) -> None:
        """Count a request that a page made in the browser, with the bytes of its answer."""
        self.fetched_bytes[meta_names.BROWSER_REQUESTS] += 1
        self.fetched_bytes[BYTES] += body_bytes

    @property
    def is_interrupted(self) -> bool:
        """Whether a signal ended the run; a second one ends it before the spider is closed."""
        return self.close_reason in {None, "shutdown"}

    def count_error(self) -> None:
        self.errors += 1

    def refuse_link(self, reason: str, count: int = 1) -> None:
        if count:
            self.refused_links[reason] += count

    def note_dead_seed(self, seed: str, reason: str) -> None:
        self.dead_seeds[seed] = reason

    def forget_dead_seed(self, seed: str) -> None:
        self.dead_seeds.pop(seed, None)

    def stop(self, reason: str) -> None:
        """End the run; the first reason given stays."""
        self.stop_reason = self.stop_reason or reason

    def stop_requests(self, reason: str) -> None:
        """Request nothing more, and end the run when everything under way is through."""
        self.limit_reason = reason


class RunCallbacks:
    """The functions to call when an answer was captured or refused, and when the job closes.

    Attributes:
        after_capture: Called with the ``Request.meta`` of each captured answer, and the capture.
        after_refusal: Called with that of each refused answer, and the reason.
        after_picture: Called with the URL of each page whose picture was kept, and the WebP file.
        at_end: Called when nothing more is requested, though what is under way goes on.
        at_close: Called before the directory is closed.
    """

    def __init__(self) -> None:
        self.after_capture: list[Callable[[Mapping[str, Any], Captured], None]] = []
        self.after_refusal: list[Callable[[Mapping[str, Any], Stored], None]] = []
        self.after_picture: list[Callable[[str, bytes], None]] = []
        self.at_end: list[Callable[[], object]] = []
        self.at_close: list[Callable[[], None]] = []

    def captured(self, meta: Mapping[str, Any], captured: Captured) -> None:
        for act in self.after_capture:
            act(meta, captured)

    def refused(self, meta: Mapping[str, Any], reason: Stored) -> None:
        for act in self.after_refusal:
            act(meta, reason)

    def pictured(self, url: str, picture: bytes) -> None:
        for act in self.after_picture:
            act(url, picture)

    def ending(self) -> None:
        """Call what is to be told once that the run ends, and nothing a second time."""
        while self.at_end:
            self.at_end.pop()()

    def closing(self) -> None:
        for act in self.at_close:
            act()
