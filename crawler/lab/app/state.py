"""What all windows of one lab share: the pages read so far, and who may compute."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from crawler.directory import is_in_use
from crawler.lab.labels import read_labels
from crawler.lab.live import LiveCrawl
from crawler.lab.session import Session
from crawler.lab.sources.opening import open_sources
from crawler.lab.sources.source import SourceError
from crawler.pages.errors import JobError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from crawler.lab.choice import Choice
    from crawler.lab.judgement import Judgement
    from crawler.lab.label import Label
    from crawler.lab.sources.several import Sources
    from neardup import Parameters

P = ParamSpec("P")
R = TypeVar("R")

GROW_SECS = 1.0

_MOST_JUDGEMENTS = 16


class StoppedError(Exception):
    """Somebody does not want the result any more."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far something slow is: a share from 0 to 1, and words for it."""

    share: float
    words: str


class Lab:
    """The sources, the session over them, and one thread in which both are used.

    SQLite's connections belong to the thread that made them, and a session does one thing at a
    time; so everything goes through :meth:`run`. It outlives windows and serves many of them.

    Attributes:
        sources: All sources as one.
        crawls: Those of the sources that are crawl directories, as they go on.
        session: What is known of their pages.
        labels: What people said of two texts, by both digests, the smaller one first.
        progress: Of what is being prepared or read; None: nothing.
        fault: Why no more can be read, in one line; None: nothing is wrong.
        growth: Another number after each change of what is read.
        is_running: Whether a process writes to one of the crawls.

    Args:
        paths: Crawl directories, files of documents, archives.

    Raises:
        SourceError: One of them cannot be opened.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(paths)
        self._thread = ThreadPoolExecutor(1, "lab")
        self._lookout = ThreadPoolExecutor(1, "live")
        self._is_stopping = False
        self._stops: set[Choice] = set()
        self._judgements: OrderedDict[tuple[Choice, int], Judgement] = OrderedDict()
        self.progress: Progress | None = None
        self.fault: str | None = None
        self.growth = 0
        self.is_running = False
        self.labels: dict[tuple[bytes, bytes], Label] = {}
        self.crawls: list[LiveCrawl] = []
        self._is_open = False
        try:
            self._thread.submit(self._open).result()
            folders = [part.folder for part in self.sources.parts if part.folder]
            self.crawls = [LiveCrawl(folder) for folder in folders]
        except BaseException:
            self.close()
            raise

    sources: Sources
    session: Session
    running: Parameters

    def _open(self) -> None:
        self.sources = open_sources(self._paths)
        self._is_open = True
        self.running = self.sources.parameters()
        self.session = Session(self.sources.texts, self.running)
        self._judgements.clear()
        for part in self.sources.parts:
            for label in read_labels(part):
                self.labels[(label.first, label.second)] = label

    async def run(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run something in the lab's thread, after what others asked for before.

        Raises:
            StoppedError: The lab is closed.
        """
        if self._is_stopping:
            raise StoppedError
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, lambda: function(*args, **kwargs))

    async def judge(self, choice: Choice) -> Judgement:
        """What would be kept of the pages read so far; the last answers are remembered.

        Raises:
            StoppedError: Its preparation was stopped.
        """
        return await self.run(self._judge, choice)

    def _judge(self, choice: Choice) -> Judgement:
        key = (choice, len(self.session))
        known = self._judgements.get(key)
        if known is None:
            self._prepare(choice)
            known = self.session.judge(choice)
            self._judgements[key] = known
            while len(self._judgements) > _MOST_JUDGEMENTS:
                self._judgements.popitem(last=False)
        self._judgements.move_to_end(key)
        return known

    async def prepare(self, choice: Choice) -> None:
        """Compute what is slow about a choice; :attr:`progress` says how far it is.

        Raises:
            StoppedError: It was stopped.
        """
        await self.run(self._prepare, choice)

    def _prepare(self, choice: Choice) -> None:
        if self.session.is_ready(choice):
            return
        self._stops.discard(choice)

        def watch(share: float, words: str) -> None:
            if self._is_stopping or choice in self._stops:
                raise StoppedError
            self.progress = Progress(share, words)

        try:
            self.session.prepare(choice, watch)
        finally:
            self.progress = None

    def stop(self, choice: Choice) -> None:
        """Let the preparation of a choice end where it is."""
        self._stops.add(choice)

    async def grow(self) -> int:
        """Read what is new of the sources; say how many pages came.

        Where pages given out before are no newest captures any more, all is read anew.
        """
        return await self.run(self._grow)

    def _grow(self) -> int:
        if self.sources.is_superseded():
            self.sources.close()
            self._open()
        self.running = self.sources.parameters()
        count = 0
        try:
            while not self._is_stopping and (pages := self.sources.read_new()):
                self.session.extend(pages)
                count += len(pages)
                self.progress = Progress(self.sources.progress, f"{len(self.session):,} pages read")
        finally:
            self.progress = None
        return count

    async def texts(self, places: Sequence[int]) -> list[str | None]:
        """The texts of pages by their places in the session; None: it is not held."""
        return await self.run(self._texts, places)

    def _texts(self, places: Sequence[int]) -> list[str | None]:
        return list(self.sources.texts([self.session.pages[place].id for place in places]))

    async def page_text(self, place: int) -> str | None:
        """The text of one page; None: it is not held."""
        return (await self.texts([place]))[0]

    async def keep_growing(self) -> None:
        """Read what comes, once a second, until the lab is closed."""
        while not self._is_stopping:
            await self._grow_once()
            await asyncio.sleep(GROW_SECS)

    async def _grow_once(self) -> None:
        """Look at the crawls and read their pages; none of both waits for the other."""
        looked, grew = await asyncio.gather(
            self.look(self._look), self.grow(), return_exceptions=True
        )
        if self._is_stopping:
            return
        fault, is_new, is_running = None, False, False
        for result in (looked, grew):
            if isinstance(result, (SourceError, JobError, OSError, sqlite3.Error)):
                fault = str(result)
            elif isinstance(result, BaseException):
                raise result
        if isinstance(looked, tuple):
            is_new, is_running = looked
        if is_new or grew or (is_running, fault) != (self.is_running, self.fault):
            self.is_running, self.fault = is_running, fault
            self.growth += 1

    def _look(self) -> tuple[bool, bool]:
        """Whether a crawl has something new, and whether one is running."""
        news = [crawl.look() for crawl in self.crawls]
        return any(news), any(is_in_use(crawl.folder) for crawl in self.crawls)

    async def look(self, function: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
        """Run something about the crawls themselves, however busy the session is.

        Raises:
            StoppedError: The lab is closed.
        """
        if self._is_stopping:
            raise StoppedError
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._lookout, lambda: function(*args, **kwargs))

    def close(self) -> None:
        """Stop what is running and close the sources; closing twice is allowed."""
        self._is_stopping = True
        self._lookout.shutdown()
        if self._is_open:
            self._is_open = False
            self._thread.submit(self.sources.close).result()
        self._thread.shutdown()
