"""A crawl as it goes on, in snapshots: what came since the last look, beside its process."""

from __future__ import annotations

import json
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import groupby
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
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from crawler.pages.live_parameters import Tuned
    from crawler.pages.page_row import Read
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


def over_time(kept: Counter[int], dropped: Counter[int]) -> list[Step]:
    """Return the sums up to the end of each second in which a page came; the first ones are 0.

    Where these are too many, a step has two, four, eight seconds and so on.

    Args:
        kept: The number of pages kept in a second, by seconds since 1970.
        dropped: The number of pages dropped, likewise.
    """
    seconds, secs = sorted(kept | dropped), 1
    while seconds and seconds[-1] // secs - seconds[0] // secs >= MAX_STEPS:
        secs *= 2
    steps = [Step(float(at // secs * secs), 0, 0) for at in seconds[:1]]
    for step, members in groupby(seconds, lambda second: second // secs):
        _, ours, theirs = steps[-1]
        for second in members:
            ours, theirs = ours + kept[second], theirs + dropped[second]
        steps.append(Step(float((step + 1) * secs), ours, theirs))
    return steps


class LivePage(NamedTuple):
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


_NO_TALLY = Tally({}, 0, 0, 0, 0, 0, 0)


@dataclass(frozen=True)
class Snapshot:
    """A visit of a crawl at one moment.

    Attributes:
        visit: The visit that runs, or ran last; 0: none did.
        tally: Its counts; requests that are still to be made, as they were counted last.
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
    tally: Tally = _NO_TALLY
    pages: Sequence[LivePage] = ()
    is_cut: bool = False
    hosts: Mapping[str, int] = field(default_factory=dict)
    steps: Sequence[Step] = ()
    stage_secs: Mapping[str, float] = field(default_factory=dict)
    started: float = 0.0
    tuned: Tuned | None = None
    tuned_at: Sequence[float] = ()

    @property
    def verdicts(self) -> dict[str, int]:
        """Pages by verdict, in the order of reports; none with 0."""
        return {name: count for name, count in self.tally.verdicts.items() if count}

    @property
    def fetched(self) -> int:
        """Pages for which an answer came."""
        return sum(count for name, count in self.verdicts.items() if name != FAILED)

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

_SHARE_OF_TIME = 50
_MIN_SECS = 3.0
"""The least time between two counts of all pages, in seconds.

A count also waits until fifty times as long has passed as the last one took: the lab takes no more
than a fiftieth of a core for it, however large the crawl.
"""


class LiveCrawl:
    """One crawl directory, looked at again and again.

    Now and then all is counted anew, since pages that were judged again, or found unchanged, have
    no new row; a look between two counts costs what came since.

    One thread at a time may look; what was seen may be read by any.

    Args:
        folder: The crawl directory.

    Attributes:
        seen: The snapshot of the last look.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen = Snapshot()
        self._tally, self._due = _NO_TALLY, 0.0
        self._last = self._fetched = 0
        self._newest: list[LivePage] = []
        self._since: list[LivePage] = []
        self._kept: Counter[int] = Counter()
        self._dropped: Counter[int] = Counter()

    def look(self) -> bool:
        """Read new pages and counts; return whether anything is new.

        Complexity: O(new pages); O(pages) at the first call, and now and then.

        Raises:
            JobError: It is no crawl directory, or none any more.
            sqlite3.Error: It cannot be read.
        """
        with closing(open_for_reading(self.folder)) as connection:
            connection.execute("BEGIN")
            read, before = connection.execute, self.seen
            visit = int(meta_of(read, meta_names.VISIT) or 0)
            if time.monotonic() >= self._due or self._is_other(connection, visit):
                self._count(connection, visit)
            for page in _visited_after(read, self._last, visit):
                self._last = page.id
                self._since.append(page)
                self._note(page.fetched_at, page.verdict)
            stages = json.loads(meta_of(read, meta_names.STAGES) or "{}")
            self.seen = self._snapshot(visit, stages, history(read))
        return self.seen != before

    def _is_other(self, connection: sqlite3.Connection, visit: int) -> bool:
        """Whether another visit began, or the pages were judged again."""
        judged = next((page for page in self.seen.pages if page.parameters is not None), None)
        return visit != self.seen.visit or (
            judged is not None and is_judged_again(connection, judged.id, judged.parameters)
        )

    def _count(self, connection: sqlite3.Connection, visit: int) -> None:
        started = time.monotonic()
        self._tally = make_tally(connection, visit)
        self._last = highest_id(connection.execute)
        self._newest = _visited_after(connection.execute, self._last - MAX_PAGES, visit)
        self._since, self._fetched = [], 0
        self._kept, self._dropped = Counter(), Counter()
        for at, verdict in visited_until(connection.execute, self._last, visit):
            self._note(at, verdict)
        now = time.monotonic()
        self._due = now + max(_MIN_SECS, _SHARE_OF_TIME * (now - started))

    def _note(self, at: float, verdict: str) -> None:
        self._fetched += 1
        self._kept[int(at)] += verdict in KEPT
        self._dropped[int(at)] += verdict in DUPLICATES

    def _snapshot(
        self, visit: int, stage_secs: dict[str, float], tunings: Sequence[Tuned]
    ) -> Snapshot:
        pages = (self._newest + self._since)[-MAX_PAGES:]
        return Snapshot(
            visit=visit,
            tally=self._grown_tally(),
            pages=tuple(reversed(pages)),
            is_cut=self._fetched > len(pages),
            hosts=Counter(page.host for page in pages),
            steps=over_time(self._kept, self._dropped),
            stage_secs=stage_secs,
            started=float(min(self._kept, default=0)),
            tuned=tunings[-1] if tunings else None,
            tuned_at=tuple(one.since for one in tunings[1:]),
        )

    def _grown_tally(self) -> Tally:
        """Return the last count, and the pages that came since."""
        tally, since = self._tally, Counter(page.verdict for page in self._since)
        repeats = [page.body_bytes for page in self._since if page.verdict in DUPLICATES]
        return replace(
            tally,
            verdicts={name: count + since[name] for name, count in tally.verdicts.items()},
            kept=tally.kept + sum(since[verdict] for verdict in KEPT - {CHANGED}),
            duplicates=tally.duplicates + len(repeats),
            failed=None if tally.failed is None else tally.failed + since[FAILED],
            fetched_bytes=tally.fetched_bytes + sum(page.body_bytes for page in self._since),
            saved_bytes=tally.saved_bytes + sum(repeats),
        )

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


def _visited_after(read: Read, last: int, visit: int) -> list[LivePage]:
    return [LivePage(*row) for row in visited_after(read, last, LivePage._fields, visit=visit)]
