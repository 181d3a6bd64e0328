"""A crawl as it goes on, in snapshots: what came since the last look, beside its process."""

from __future__ import annotations

import json
import time
from collections import Counter, deque
from contextlib import closing
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from crawler.lab.crawl_source import is_judged_again
from crawler.maintenance.tally import Tally, make_tally
from crawler.pages.export import original_url
from crawler.pages.live_parameters import history
from crawler.pages.page_row import highest_id, visited_after, visited_until
from crawler.pages.verdicts import CHANGED, DUPLICATES, EXACT_DUPLICATE, FAILED, KEPT
from crawler.storage import meta_names
from crawler.storage.database import meta_of, open_for_reading

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from crawler.pages.live_parameters import Tuned
    from crawler.pages.reasons import Stored

MAX_STEPS = 400

RATE_SECS = 10.0


class Step(NamedTuple):
    """The counts up to a moment.

    Attributes:
        at: The moment, in seconds since 1970.
        kept: The number of pages kept until then.
        dropped: The number of pages dropped until then.
    """

    at: float
    kept: int
    dropped: int


class Series:
    """Counts by time, in steps of one second, which double whenever there are too many."""

    def __init__(self) -> None:
        self.step_secs = 1
        self._steps: dict[int, tuple[int, int]] = {}

    def add(self, at: float, kept: int, dropped: int) -> None:
        """Count pages of a moment, in seconds since 1970; moments may come in any order."""
        self._put(int(at // self.step_secs), kept, dropped)
        while max(self._steps) - min(self._steps) >= MAX_STEPS:
            self._double()

    def _put(self, step: int, kept: int, dropped: int) -> None:
        ours, theirs = self._steps.get(step, (0, 0))
        self._steps[step] = ours + kept, theirs + dropped

    def _double(self) -> None:
        steps, self._steps = self._steps, {}
        self.step_secs *= 2
        for step, counts in steps.items():
            self._put(step // 2, *counts)

    def steps(self) -> list[Step]:
        """Return the sums up to the end of each step, some hundred; the first ones are 0."""
        kept = dropped = 0
        found = [Step(float(min(self._steps) * self.step_secs), 0, 0)] if self._steps else []
        for step in sorted(self._steps):
            kept += self._steps[step][0]
            dropped += self._steps[step][1]
            found.append(Step(float((step + 1) * self.step_secs), kept, dropped))
        return found


@dataclass(frozen=True, slots=True)
class LivePage:
    """A page that came, as it was crawled: nothing in it may be trusted.

    Attributes:
        fetched_at: Seconds since 1970.
        duplicate_of: Id of the page that it repeats.
        parameters: Id of those that its verdict was made with.
    """

    id: int
    url: str
    title: str | None
    verdict: str
    reason: Stored | None
    words: int | None
    distance: int | None
    similarity: float | None
    fetched_at: float
    body_bytes: int
    duplicate_of: int | None
    parameters: int | None

    @property
    def host(self) -> str:
        try:
            return urlsplit(self.url).netloc
        except ValueError:
            return ""


@dataclass(frozen=True)
class Snapshot:
    """A visit of a crawl at one moment.

    Attributes:
        visit: The visit that runs, or ran last; 0: none did.
        verdicts: Pages by verdict, in the order of reports; none with 0.
        kept: Pages whose text the directory holds, whatever visit fetched them.
        dropped: Pages of the directory that repeat a kept one, likewise.
        queued: Requests that were still to be made when they were counted last.
        sees_failures: Whether URLs that gave no page are seen.
        fetched_bytes: The bytes of the bodies of this visit.
        saved_bytes: The bytes of those bodies that were not stored again.
        pages: The newest ones, the newest first.
        is_cut: Whether there are older ones.
        hosts: The number of those pages by host.
        steps: Kept and dropped pages over time.
        stage_secs: Seconds by stage, all pages and workers together.
        started: When the first page of the visit came, seconds since 1970.
        tuned: The parameters that hold, and since when; None: no crawl opened it yet.
        tuned_at: When other parameters were chosen, seconds since 1970, ascending.
    """

    visit: int = 0
    verdicts: Mapping[str, int] = field(default_factory=dict)
    kept: int = 0
    dropped: int = 0
    queued: int = 0
    sees_failures: bool = True
    fetched_bytes: int = 0
    saved_bytes: int = 0
    pages: Sequence[LivePage] = ()
    is_cut: bool = False
    hosts: Mapping[str, int] = field(default_factory=dict)
    steps: Sequence[Step] = ()
    stage_secs: Mapping[str, float] = field(default_factory=dict)
    started: float = 0.0
    tuned: Tuned | None = None
    tuned_at: Sequence[float] = ()

    @property
    def fetched(self) -> int:
        """Pages for which an answer came."""
        return sum(count for name, count in self.verdicts.items() if name != FAILED)

    @property
    def failed(self) -> int | None:
        """URLs that gave no page; None where that is not seen (``crawler.maintenance.tally``)."""
        return self.verdicts.get(FAILED, 0) if self.sees_failures else None

    @property
    def saved_extractions(self) -> int:
        """Pages that were not read, since their bytes were known."""
        return self.verdicts.get(EXACT_DUPLICATE, 0)

    def pages_per_sec(self, now: float) -> float:
        """Return the pages a second over the last ten seconds, or since a later start."""
        count = 0
        for page in self.pages:
            if page.fetched_at < now - RATE_SECS:
                break
            count += 1
        return count / max(1.0, min(RATE_SECS, now - self.started))

    def first_with(self, parameters: int) -> LivePage | None:
        """Return the first remembered page whose verdict was made with these parameters."""
        found = None
        for page in self.pages:
            if page.parameters is not None and page.parameters < parameters:
                break
            if page.parameters == parameters:
                found = page
        return found


MAX_PAGES = 5_000
"""The number of newest pages that are remembered with all that is shown of them."""

_SLICE = 5_000
_SHARE_OF_TIME = 50
_MIN_SECS = 3.0
"""The least time between two counts of all pages, in seconds.

A count also waits until fifty times as long has passed as the last one took: the lab takes no more
than a fiftieth of a core for it, however large the crawl.
"""

_COLUMNS = tuple(field.name for field in fields(LivePage))
_NO_TALLY = Tally({}, 0, 0, 0, 0, 0, 0)


class LiveCrawl:
    """One crawl directory, looked at again and again; each look costs what is new.

    One thread at a time may look; what was seen may be read by any.

    Args:
        folder: The crawl directory.

    Attributes:
        seen: The snapshot of the last look.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen = Snapshot()
        self._clear(0)

    def _clear(self, visit: int) -> None:
        self._visit = visit
        self._last = 0
        self._is_cut = False
        self._judged: LivePage | None = None
        self._pages: deque[LivePage] = deque(maxlen=MAX_PAGES)
        self._hosts: Counter[str] = Counter()
        self._series = Series()
        self._started = 0.0
        self._tally = _NO_TALLY
        self._tally_due = 0.0
        self._since: Counter[str] = Counter()
        self._since_bytes = self._since_saved = 0

    def look(self) -> bool:
        """Read new pages and counts; return whether anything is new.

        Complexity: O(new pages); O(pages) at the first call, and now and then.

        Raises:
            JobError: It is no crawl directory, or none any more.
            sqlite3.Error: It cannot be read.
        """
        with closing(open_for_reading(self.folder)) as connection:
            connection.execute("BEGIN")
            visit = int(meta_of(connection.execute, meta_names.VISIT) or 0)
            highest = highest_id(connection.execute)
            is_other, judged = visit != self._visit or highest < self._last, self._judged
            if is_other or (
                judged is not None and is_judged_again(connection, judged.id, judged.parameters)
            ):
                self._clear(visit)
                self._read_older(connection, highest - MAX_PAGES)
            for page in self._new_pages(connection):
                self._take(page)
            if time.monotonic() >= self._tally_due:
                self._count(connection)
            before = self.seen
            stages = json.loads(meta_of(connection.execute, meta_names.STAGES) or "{}")
            self.seen = self._snapshot(stages, history(connection.execute))
        return self.seen != before

    def _snapshot(self, stage_secs: dict[str, float], tunings: Sequence[Tuned]) -> Snapshot:
        counts = {name: n + self._since[name] for name, n in self._tally.verdicts.items()}
        return Snapshot(
            visit=self._visit,
            verdicts={name: count for name, count in counts.items() if count},
            kept=self._tally.kept + self._sum_since(KEPT - {CHANGED}),
            dropped=self._tally.duplicates + self._sum_since(DUPLICATES),
            queued=self._tally.queued,
            sees_failures=self._tally.failed is not None,
            fetched_bytes=self._tally.fetched_bytes + self._since_bytes,
            saved_bytes=self._tally.saved_bytes + self._since_saved,
            pages=tuple(self._pages),
            is_cut=self._is_cut,
            hosts=dict(self._hosts),
            steps=self._series.steps(),
            stage_secs=stage_secs,
            started=self._started,
            tuned=tunings[-1] if tunings else None,
            tuned_at=tuple(one.since for one in tunings[1:]),
        )

    def _sum_since(self, verdicts: Collection[str]) -> int:
        return sum(self._since[verdict] for verdict in verdicts)

    def _read_older(self, connection: sqlite3.Connection, until: int) -> None:
        """Count over time what is too old to be remembered page by page."""
        if until <= 0:
            return
        for at, verdict in visited_until(connection.execute, until, self._visit):
            self._note_time(at, verdict)
            self._is_cut = True
        self._last = until

    def _new_pages(self, connection: sqlite3.Connection) -> Iterator[LivePage]:
        while rows := visited_after(
            connection.execute, self._last, _COLUMNS, visit=self._visit, most=_SLICE
        ):
            self._last = rows[-1]["id"]
            for row in rows:
                yield LivePage(*row)

    def _take(self, page: LivePage) -> None:
        if len(self._pages) == MAX_PAGES:
            self._is_cut = True
            oldest = self._pages[-1].host
            self._hosts[oldest] -= 1
            if not self._hosts[oldest]:
                del self._hosts[oldest]
        self._pages.appendleft(page)
        if self._judged is None and page.parameters is not None:
            self._judged = page
        self._hosts[page.host] += 1
        self._since[page.verdict] += 1
        self._since_bytes += page.body_bytes
        self._since_saved += page.body_bytes if page.verdict in DUPLICATES else 0
        self._note_time(page.fetched_at, page.verdict)

    def _note_time(self, at: float, verdict: str) -> None:
        self._started = min(self._started or at, at)
        kept, dropped = verdict in KEPT, verdict in DUPLICATES
        if kept or dropped:
            self._series.add(at, int(kept), int(dropped))

    def _count(self, connection: sqlite3.Connection) -> None:
        """Count all pages: those that were judged again, or found unchanged, have no new row."""
        started = time.monotonic()
        self._tally = make_tally(connection, self._visit)
        self._since.clear()
        self._since_bytes = self._since_saved = 0
        took = time.monotonic() - started
        self._tally_due = time.monotonic() + max(_MIN_SECS, _SHARE_OF_TIME * took)

    def original_of(self, number: int) -> str | None:
        """Return the URL of the page that a page repeats, resembles or is a part of.

        Another crawl of a fleet may have it.

        Args:
            number: The id of the page.

        Raises:
            JobError: It is no crawl directory any more.
            sqlite3.Error: It cannot be read.
        """
        with closing(open_for_reading(self.folder)) as connection:
            return original_url(connection, number)
