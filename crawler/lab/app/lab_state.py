"""The state that windows share: the pages read so far, and the thread that computes."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from crawler.lab.crawl_source import SourceError, open_sources
from crawler.lab.judgement import Choice
from crawler.lab.labels import read_labels
from crawler.lab.live import LiveCrawl
from crawler.lab.session import Session
from crawler.lab.sides import sides_of
from crawler.pages.export import ALL
from crawler.storage.directory import is_in_use
from crawler.storage.errors import JobError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from crawler.lab.crawl_source import Sources
    from crawler.lab.judgement import Judgement
    from crawler.lab.labels import Label
    from crawler.lab.sides import TextSide
    from crawler.pages.export import PageSelection
    from neardup import Parameters

LITTLE_SECS = 5.0
SHARE_OF_TIME = 5
"""Pages that were replaced are read again at once where at most LITTLE_SECS seconds were used.

Otherwise they are read again after SHARE_OF_TIME times as long as was used. A crawl that fetches
pages again replaces some each second, and prepared lists must be of use for a while.
"""

P = ParamSpec("P")
R = TypeVar("R")

GROW_SECS = 1.0

_SHARE_FOR_LABELS = 50
"""Labels are read again no sooner than this many times as long as the last reading took."""


class StoppedError(Exception):
    """Raised when a result is no longer wanted."""


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """The progress of something slow: a share from 0 to 1, and words for it."""

    share: float
    words: str


class Lab:
    """The sources, the session over them, and one thread in which both are used.

    SQLite's connections belong to the thread that made them, and a session does one thing at a
    time; so everything goes through :meth:`run`. It outlives windows and serves many of them.

    Attributes:
        sources: All sources as one.
        crawls: The crawl directories, as they go on.
        session: The session over their pages.
        labels: The labels by both digests, the smaller one first; another object after a label was
            made elsewhere.
        reading: A number that changes when all pages are read again: earlier places then mean other
            pages.
        progress: The progress of preparing or reading; None: nothing is under way.
        fault: The reason why no more can be read, in one line; None: nothing is wrong.
        growth: A number that changes with each change of the pages read.
        is_outdated: Whether pages were replaced that will be read again a little later.
        is_running: Whether a process writes to one of the crawls.

    Args:
        paths: As ``open_sources`` takes them.
        selection: The pages that are looked at.
        made: As ``open_sources`` takes it.

    Raises:
        SourceError: One of them cannot be opened.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        selection: PageSelection = ALL,
        made: Mapping[Path, Path] = MappingProxyType({}),
    ) -> None:
        self._paths, self._made = tuple(paths), made
        self._selection = selection
        self._thread = ThreadPoolExecutor(1, "lab")
        self._lookout = ThreadPoolExecutor(1, "live")
        self._is_stopping = False
        self._stops: set[Choice] = set()
        self.progress: TaskProgress | None = None
        self.fault: str | None = None
        self.growth = 0
        self.reading = 0
        self.is_running = self.is_outdated = False
        self._labels_due = 0.0
        self.labels: dict[tuple[bytes, bytes], Label] = {}
        self.crawls: list[LiveCrawl] = []
        try:
            self._thread.submit(self._open).result()
            self.crawls = [LiveCrawl(part.folder) for part in self.sources.parts]
        except BaseException:
            self.close()
            raise

    sources: Sources
    session: Session
    running: Parameters

    def _open(self) -> None:
        """Open the sources, in place of those that were open: all of them or none."""
        sources = open_sources(self._paths, self._selection, self._made)
        running = sources.parameters()
        self._read_labels(sources)
        self.sources, self.running = sources, running
        self.session = Session(sources.texts, running, sources.boilerplate)
        self.is_outdated = False
        self._opened, self._used = time.monotonic(), time.thread_time()
        self.reading += 1

    def _may_reopen(self) -> bool:
        """Whether the open pages took little of the thread's time, or enough has passed since."""
        used = time.thread_time() - self._used
        return used <= LITTLE_SECS or time.monotonic() >= self._opened + SHARE_OF_TIME * used

    def _read_labels(self, sources: Sources) -> None:
        """Take over what was labelled elsewhere, such as in another lab."""
        started = time.monotonic()
        labels = {label.pair: label for label in read_labels(sources.paths)}
        if labels != self.labels:
            self.labels = labels
        now = time.monotonic()
        self._labels_due = now + _SHARE_FOR_LABELS * (now - started)

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run something in the lab's thread, after what others asked for before.

        Raises:
            StoppedError: The lab is closed.
        """
        return await self._run_in(self._thread, partial(function, *args, **kwargs))

    async def look(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run something about the crawls themselves, however busy the session is.

        Raises:
            StoppedError: The lab is closed.
        """
        return await self._run_in(self._lookout, partial(function, *args, **kwargs))

    async def _run_in(self, thread: ThreadPoolExecutor, function: Callable[[], R]) -> R:
        if self._is_stopping:
            raise StoppedError
        return await asyncio.get_running_loop().run_in_executor(thread, function)

    async def ask(
        self, choice: Choice, question: Callable[[Session], R], *, with_parts: bool = False
    ) -> R:
        """Prepare a choice, while :attr:`progress` says how far that is, and ask the session.

        Args:
            choice: The choice that the question is about.
            question: The question.
            with_parts: Whether the pages that are parts of others are looked for.

        Raises:
            StoppedError: The preparation was stopped, or the lab is closed.
        """

        def asked() -> R:
            self._prepare(choice, with_parts=with_parts)
            return question(self.session)

        return await self.run(asked)

    async def judge(self, choice: Choice, *, with_parts: bool = False) -> Judgement:
        """Judge the pages read so far; the session remembers the last answers."""
        return await self.ask(choice, lambda session: session.judge(choice), with_parts=with_parts)

    async def stored(self) -> Judgement:
        """Return the crawl's own judgement of the pages read so far."""
        return await self.ask(Choice(self.session.running), Session.stored)

    def _prepare(self, choice: Choice, *, with_parts: bool) -> None:
        session = self.session
        if session.is_ready(choice) and (session.knows_parts(choice) or not with_parts):
            return
        self._stops.discard(choice)

        def watch(share: float, words: str) -> None:
            if self._is_stopping or choice in self._stops:
                raise StoppedError
            self.progress = TaskProgress(share, words)

        try:
            session.prepare(choice, watch)
            if with_parts:
                session.look_for_parts(choice, watch)
        finally:
            self.progress = None

    def stop(self, choice: Choice) -> None:
        """Let the preparation of a choice end where it is."""
        self._stops.add(choice)

    async def grow(self) -> int:
        """Read the new pages of the sources; return their number.

        Where newer captures replaced pages that were read, all pages are read again: at once, or a
        while later if that took long. Until then they stay as they were.
        """
        return await self.run(self._grow)

    def _grow(self) -> int:
        self.is_outdated = self.sources.is_superseded()
        if self.is_outdated and self._may_reopen():
            self._open()
        self.running = self.sources.parameters()
        # New captures must not stand beside those whose place they take.
        count = 0 if self.is_outdated else self._read_new()
        if time.monotonic() >= self._labels_due:
            self._read_labels(self.sources)
        return count

    def _read_new(self) -> int:
        count = 0
        if self.sources.progress < 1:
            self._note_reading()
        try:
            while not self._is_stopping and (pages := self.sources.read_new()):
                self.session.extend(pages)
                count += len(pages)
                self._note_reading()
        finally:
            self.progress = None
        return count

    def _note_reading(self) -> None:
        words = f"Reading pages, {len(self.session):,} so far"
        self.progress = TaskProgress(self.sources.progress, words)

    async def sides(self, places: Sequence[int]) -> list[TextSide | None]:
        """Return the texts of pages by their places; None for one that is not stored."""

        def sides() -> list[TextSide | None]:
            return sides_of([self.session.pages[place] for place in places], self.sources)

        return await self.run(sides)

    async def keep_growing(self) -> None:
        """Read new pages, once a second, until the lab is closed."""
        while not self._is_stopping:
            await self._grow_once()
            await asyncio.sleep(GROW_SECS)

    async def _grow_once(self) -> None:
        """Look at the crawls and read their pages; none of both waits for the other."""
        known = self._state()
        looked, grew = await asyncio.gather(
            self.look(self._look), self.grow(), return_exceptions=True
        )
        if self._is_stopping:
            return
        self.fault, is_new, self.is_running = None, False, False
        for result in (looked, grew):
            if isinstance(result, (SourceError, JobError, OSError, sqlite3.Error)):
                self.fault = str(result)
            elif isinstance(result, BaseException):
                raise result
        if isinstance(looked, tuple):
            is_new, self.is_running = looked
        if is_new or self._state() != known:
            self.growth += 1

    def _state(self) -> tuple[object, ...]:
        """Return what windows show besides the crawls; another one has them show it again."""
        pages = self.reading, len(self.session), self.is_outdated
        return *pages, self.labels, self.is_running, self.fault

    def _look(self) -> tuple[bool, bool]:
        """Whether a crawl has something new, and whether one is running."""
        news = [crawl.look() for crawl in self.crawls]
        return any(news), any(is_in_use(crawl.folder) for crawl in self.crawls)

    def close(self) -> None:
        """Stop what is running; closing twice is allowed."""
        self._is_stopping = True
        self._lookout.shutdown()
        self._thread.shutdown()
