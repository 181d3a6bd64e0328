"""Snapshots of a crawl: each is what one look found, and does not change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from crawler.pages.verdicts import EXACT_DUPLICATE, FAILED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    def failed(self) -> int:
        return self.verdicts.get(FAILED, 0)

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
