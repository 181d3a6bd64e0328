"""Visit crawl directories when they are due, one after the other, and tell what changed."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from crawler.storage.errors import JobError
from crawler.watch.changes import KINDS, ChangeFinder, Found
from crawler.watch.delivery import MAX_ENTRIES, deliver_all, write_feed
from crawler.watch.visiting import LOG_NAME, Ended, Signals, remembered_arguments, visit
from crawler.watch.watch_store import WatchStore
from neardup.files.durable import Closing
from neardup.plurals import many

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from crawler.watch.visiting import WatchOptions

FAILED = 1

RETRY_SECS = 600.0
"""After this many seconds at most, a visit that could not run is tried again."""

EARLY = 0.1
"""A start of ``--once`` visits what is due within this share of the interval.

Else a daily start that is a moment quicker than the last one would find nothing due.
"""

DAYS_NAMED = 7
"""A day of the week names a visit that is due within this many days."""


class _Answers(NamedTuple):
    """The outcomes of the URLs that a visit asked for.

    Attributes:
        visit: Number of the visit.
        answered: Number of URLs that were answered, be it that they are gone.
        failed: Number of those that were not, or by an error of the server.
    """

    visit: int
    answered: int
    failed: int

    def since(self, before: _Answers) -> _Answers:
        """Return what came since an earlier moment."""
        if before.visit != self.visit:
            return self
        return _Answers(
            self.visit, self.answered - before.answered, max(0, self.failed - before.failed)
        )

    def are_missing(self, left: int) -> bool:
        """Return whether URLs were asked for, or are ``left``, and none was answered."""
        return self.answered <= 0 and (self.failed > 0 or left > 0)


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
        last = self._last_at
        return 0.0 if last is None else last + self._every_secs

    @property
    def _last_at(self) -> float | None:
        """When the last visit began, or, before the watch made one, the crawl saw a page last."""
        began = self.store.began
        return self.store.last_seen() if began is None else began

    def note_end(self, ended: Ended) -> None:
        """Note that a visit is over; one that did not run, or was killed, is tried again."""
        if ended.has_run and not ended.is_killed:
            self._retry_at = None
            self.store.note_end()
        else:
            self._retry_at = time.time() + min(self._every_secs, RETRY_SECS)

    def beginning(self, now: float) -> str:
        """Return the words for a visit that begins now."""
        last = self._last_at
        if last is None:
            return "visiting for the first time"
        age = age_words(now - last)
        if self.store.is_interrupted:
            return f"going on with the visit that began {age}"
        return f"visiting (last visit {age})"

    def answers(self) -> _Answers:
        """Count what came of the URLs of the last visit so far."""
        asked, failed = self.store.asked()
        return _Answers(self.store.visit, asked - failed, failed)


class Watch(Closing):
    """Watches crawl directories; it is a context manager, which holds their locks.

    Args:
        folders: The crawl directories.
        options: How they are watched.
        tell: Prints a line about a visit.
        complain: Prints what went wrong.

    Raises:
        JobInUseError: Another process watches one of them.
        JobError: One of them holds no crawl, or none that can be visited.
    """

    def __init__(
        self,
        folders: Sequence[Path],
        options: WatchOptions,
        tell: Callable[[str], object],
        complain: Callable[[str], object],
    ) -> None:
        self._options, self._tell, self._complain = options, tell, complain
        self._has_failed = False
        self._watched: list[_Watched] = []
        with ExitStack() as stack:
            for folder, name in zip(folders, names_of(folders), strict=True):
                watched = _Watched(folder, name, options.every_secs)
                stack.callback(watched.store.close)
                watched.store.register([receiver.name for receiver in options.receivers])
                self._watched.append(watched)
            self._stack = stack.pop_all()

    def close(self) -> None:
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
        soon = time.time() + (EARLY * self._options.every_secs if once else 0.0)
        self._begin(signals, soon)
        if once:
            for watched in [one for one in self._watched if one.due_at <= soon]:
                if not signals.stops:
                    self._visit(watched, signals)
            return FAILED if self._has_failed else 0
        while not signals.stops:
            watched = min(self._watched, key=lambda one: one.due_at)
            wait_secs = watched.due_at - time.time()
            if wait_secs <= 0:
                self._visit(watched, signals)
            else:
                signals.wait(wait_secs)
        return 0

    def _begin(self, signals: Signals, soon: float) -> None:
        """Hand on what an earlier process did not, and say which visits are due after ``soon``."""
        for watched in self._watched:
            if not watched.store.is_based and (pages := watched.finder.take_base()) is not None:
                now = time.time()
                self._tell(
                    f"{watched.name}: {many(pages, 'page')} known from now on; "
                    f"next visit {moment_words(watched.due_at, now)}"
                )
            elif watched.due_at > soon:
                self._tell(f"{watched.name}: {self._next(watched)}")
            self._deliver(watched, signals)
        self._write_feed()

    def _next(self, watched: _Watched) -> str:
        return f"next visit {moment_words(watched.due_at, time.time())}"

    def _visit(self, watched: _Watched, signals: Signals) -> None:
        store = watched.store
        before, now = watched.answers(), time.time()
        self._tell(f"{watched.name}: {watched.beginning(now)}")
        store.note_begin(now)
        ended = visit(watched.folder, self._options, signals)
        answers = watched.answers().since(before)
        if not ended.problem and not signals.stops and answers.are_missing(store.left):
            ended = ended._replace(problem=f"nothing was answered, see {watched.folder / LOG_NAME}")
        if ended.problem:
            self._has_failed = True
            self._complain(f"{watched.name}: {ended.problem}")
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
                f"{many(found.slight, 'page')} {differ} in clocks, dates, counters or "
                "boilerplate alone"
            )
        if answers.failed:
            parts.append(f"{many(answers.failed, 'URL')} failed")
        if left := store.left:
            parts.append(f"not finished, {many(left, 'URL')} left for the next visit")
        parts.append("stopped" if is_stopped else self._next(watched))
        self._tell(f"{watched.name}: {'; '.join(parts)}")
        self._deliver(watched, signals)
        self._write_feed()

    def _deliver(self, watched: _Watched, signals: Signals) -> None:
        """Hand on what changed; what is left at Ctrl-C is handed on by the next start."""
        if signals.stops:
            return
        receivers = self._options.receivers
        for problem in deliver_all(watched.store, receivers, lambda: bool(signals.stops)):
            self._has_failed = True
            self._complain(f"{watched.name}: {problem}")

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
            self._complain(f"{path}: {error.strerror}")


def _outcome(found: Found, pages: int | None, *, is_based: bool) -> str:
    """Return what a visit found: ``3 new, 2 changed, 1 gone``."""
    if pages is not None:
        return f"{many(pages, 'page')} known from now on"
    if not is_based:
        return "the first visit is not over"
    words = [f"{found.counts[kind]:,} {kind}" for kind in KINDS if found.counts[kind]]
    return ", ".join(words) or "nothing changed"


def names_of(folders: Sequence[Path]) -> list[str]:
    """Return how lines name directories: by their last names, or whole where these are the same."""
    last = [folder.resolve().name for folder in folders]
    is_clear = len(set(last)) == len(last)
    return last if is_clear else [str(folder) for folder in folders]


def age_words(secs: float) -> str:
    """Return how long ago something was, in its largest unit: ``3 hours ago``."""
    for unit, size in (("day", 86_400.0), ("hour", 3_600.0), ("minute", 60.0)):
        if secs >= size:
            return f"{many(int(secs / size), unit)} ago"
    return "just now"


def moment_words(at: float, now: float) -> str:
    """Return a moment in local time: ``today at 14:05``, ``tomorrow at 02:10``, ``on Mon 3 Aug``.

    Args:
        at: The moment, in seconds since 1970.
        now: The time, in seconds since 1970.
    """
    then = datetime.fromtimestamp(at, UTC).astimezone()
    today = datetime.fromtimestamp(now, UTC).astimezone().date()
    clock = then.strftime("%H:%M")
    days = (then.date() - today) / timedelta(days=1)
    if at <= now:
        return "now"
    if days == 0:
        return f"today at {clock}"
    if days == 1:
        return f"tomorrow at {clock}"
    day = then.strftime("%a ") if days < DAYS_NAMED else ""
    year = then.strftime(" %Y") if then.year != today.year else ""
    return f"on {day}{then.day} {then.strftime('%b')}{year} at {clock}"
