"""Visit crawl directories when they are due, one after the other, and tell what changed."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from crawler.maintenance.crawl_report import make_tally
from crawler.storage import meta_names
from crawler.storage.errors import JobError
from crawler.watch.atom_feed import MAX_ENTRIES, write_feed
from crawler.watch.changes import KINDS, ChangeFinder, Found
from crawler.watch.delivery import deliver_all
from crawler.watch.differences import counted
from crawler.watch.schedule import moment_words, next_visit
from crawler.watch.visiting import (
    Ended,
    Signals,
    VisitOptions,
    last_seen,
    remembered_arguments,
    visit,
)
from crawler.watch.watch_store import WatchStore

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Self

    from crawler.watch.delivery import Receiver

FAILED = 1

RETRY_SECS = 600.0
"""After so long, at most, a visit that could not run is tried again."""

EARLY = 0.1
"""A start of ``--once`` visits what is due within this share of the interval.

Else a daily start that is a moment quicker than the last one would find nothing due.
"""


class Teller(NamedTuple):
    """How the watch prints.

    Attributes:
        tell: Prints a line about a visit.
        complain: Prints what went wrong.
    """

    tell: Callable[[str], object]
    complain: Callable[[str], object]


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """How directories are watched.

    Attributes:
        every_secs: The interval between two visits of a directory.
        visits: How they are visited.
        receivers: Those that take the changes.
        atom: The file of the Atom feed.
    """

    every_secs: float
    visits: VisitOptions = field(default_factory=VisitOptions)
    receivers: Sequence[Receiver] = ()
    atom: Path | None = None


class _Watched:
    """One crawl directory that is watched."""

    def __init__(self, folder: Path, name: str, every_secs: float) -> None:
        self.folder, self.name, self._every_secs = folder, name, every_secs
        self._retry_at: float | None = None
        remembered_arguments(folder)  # complains before anything is begun
        self.store = WatchStore(folder)
        self.finder = ChangeFinder(self.store)

    @property
    def due_at(self) -> float:
        """When the next visit is due, in seconds since 1970; one that was broken off is so now."""
        if self._retry_at is not None:
            return self._retry_at
        if self.store.is_interrupted:
            return 0.0
        began = self.store.began
        seen = None if began is not None else last_seen(self.store.connection)
        return next_visit(began, seen, self._every_secs)

    @property
    def is_tried_again(self) -> bool:
        """Whether the last visit of this process could not run."""
        return self._retry_at is not None

    def note_end(self, ended: Ended) -> None:
        """Note that a visit is over; one that did not run, or was killed, is tried again."""
        if ended.has_run and not ended.is_killed:
            self._retry_at = None
            self.store.note_end()
        else:
            self._retry_at = time.time() + min(self._every_secs, RETRY_SECS)

    @property
    def left(self) -> int:
        """Number of URLs that the last visit has not asked for yet."""
        connection = self.store.connection
        sql = "SELECT value FROM meta WHERE name = ?"
        row = connection.execute(sql, (meta_names.VISIT,)).fetchone()
        return make_tally(connection, int(row[0])).queued if row else 0


class Watch:
    """Watches crawl directories; it is a context manager, which holds their locks.

    Args:
        folders: The crawl directories.
        options: How they are watched.
        teller: How the watch prints.

    Raises:
        JobInUseError: Another process watches one of them.
        JobError: One of them holds no crawl, or none that can be visited.
    """

    def __init__(self, folders: Sequence[Path], options: WatchOptions, teller: Teller) -> None:
        self._options, self._teller = options, teller
        self._has_failed = False
        self._watched: list[_Watched] = []
        with ExitStack() as stack:
            for folder, name in zip(folders, names_of(folders), strict=True):
                watched = _Watched(folder, name, options.every_secs)
                stack.callback(watched.store.close)
                watched.store.register([receiver.name for receiver in options.receivers])
                self._watched.append(watched)
            self._stack = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def run(self, signals: Signals, *, once: bool) -> int:
        """Visit what is due, and wait for what is due next, until a signal comes.

        Args:
            signals: The signals of the process.
            once: Visit what is due now, and end.

        Returns:
            The exit status: 1 where, with ``once``, a visit or a receiver failed.

        Raises:
            JobError: A database cannot be read or written.
        """
        try:
            return self._run(signals, once=once)
        except sqlite3.Error as error:
            raise JobError(
                f"what changed cannot be noted: {error}; nothing is lost, the next start goes on"
            ) from error

    def _run(self, signals: Signals, *, once: bool) -> int:
        self._begin()
        while not signals.stops:
            watched = min(self._watched, key=lambda one: one.due_at)
            wait_secs = watched.due_at - time.time()
            if once and not watched.is_tried_again:
                wait_secs -= EARLY * self._options.every_secs
            if wait_secs <= 0:
                self._visit(watched, signals)
            elif once:
                break
            else:
                signals.wait(wait_secs)
        return FAILED if once and self._has_failed else 0

    def _begin(self) -> None:
        """Hand on what an earlier process did not, and say when the visits are due."""
        for watched in self._watched:
            if not watched.store.is_based and (pages := watched.finder.take_base()) is not None:
                now = time.time()
                self._teller.tell(
                    f"{watched.name}: {counted(pages, 'page')} known from now on; "
                    f"next visit {moment_words(watched.due_at, now)}"
                )
            elif watched.due_at > time.time():
                self._teller.tell(f"{watched.name}: {self._next(watched)}")
            self._deliver(watched)
        self._write_feed()

    def _next(self, watched: _Watched) -> str:
        return f"next visit {moment_words(watched.due_at, time.time())}"

    def _visit(self, watched: _Watched, signals: Signals) -> None:
        store = watched.store
        store.note_begin(time.time())
        ended = visit(watched.folder, self._options.visits, signals)
        if ended.problem:
            self._has_failed = True
            self._teller.complain(f"{watched.name}: {ended.problem}")
        found, pages = Found(Counter[str](), 0), None
        if store.is_based:
            found = watched.finder.note_changes(time.time())
        else:
            pages = watched.finder.take_base()
        is_stopped = bool(signals.stops)
        if not is_stopped:
            watched.note_end(ended)
        has_news = ended.has_run or found.counts.total() > 0
        parts = [_outcome(found, pages, is_based=store.is_based) if has_news else "not visited"]
        if found.slight:
            differ = "differs" if found.slight == 1 else "differ"
            parts.append(
                f"{counted(found.slight, 'page')} {differ} in clocks, dates, counters or "
                "boilerplate alone"
            )
        if left := watched.left:
            parts.append(f"not finished, {counted(left, 'URL')} left for the next visit")
        parts.append("stopped" if is_stopped else self._next(watched))
        self._teller.tell(f"{watched.name}: {'; '.join(parts)}")
        self._deliver(watched)
        self._write_feed()

    def _deliver(self, watched: _Watched) -> None:
        for problem in deliver_all(watched.store, self._options.receivers):
            self._has_failed = True
            self._teller.complain(f"{watched.name}: {problem}")

    def _write_feed(self) -> None:
        path = self._options.atom
        if path is None:
            return
        newest = [
            noted.change for watched in self._watched for noted in watched.store.newest(MAX_ENTRIES)
        ]
        newest.sort(key=lambda change: change.when, reverse=True)
        try:
            write_feed(path, newest, time.time())
        except OSError as error:
            self._has_failed = True
            self._teller.complain(f"{path}: {error.strerror}")


def _outcome(found: Found, pages: int | None, *, is_based: bool) -> str:
    """Return what a visit found: ``3 new, 2 changed, 1 gone``."""
    if pages is not None:
        return f"{counted(pages, 'page')} known from now on"
    if not is_based:
        return "the first visit is not over"
    words = [f"{found.counts[kind]:,} {kind}" for kind in KINDS if found.counts[kind]]
    return ", ".join(words) or "nothing changed"


def names_of(folders: Sequence[Path]) -> list[str]:
    """Return how lines name directories: by their last names, or whole where these are the same."""
    last = [folder.resolve().name for folder in folders]
    is_clear = len(set(last)) == len(last)
    return last if is_clear else [str(folder) for folder in folders]
