"""Make the work of a crawl durable: ``crawl.db`` first, then the indexes that find texts."""

from __future__ import annotations

import json
import logging
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.pages.live_parameters import in_words, newest
from crawler.storage import meta_names
from crawler.storage.errors import CrawlStorageError, JobError
from neardup import NearDupError
from neardup.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from crawler.pages.capture import PageProcessor
    from crawler.pages.live_parameters import Tuned
    from crawler.storage.database import Database
    from neardup import HammingIndex, LshIndex

logger = logging.getLogger(__name__)

INTERVAL_SECS = 1.0
"""Write the totals at most once in this many seconds, together with other writes."""

INDEX_INTERVAL_SECS = 30.0
"""Seconds between two flushes of the indexes; what they lack is read from crawl.db."""


class RunningTotal:
    """Adds the sums of this process to those of earlier ones in the same visit.

    Args:
        database: Database of the crawl.
        name: Name of the total in ``meta``.
        sums: Live sums by name, read at each write.

    Attributes:
        before: Sums of earlier processes.
    """

    def __init__(self, database: Database, name: str, sums: Mapping[str, float]) -> None:
        self._database = database
        self.name = name
        self._sums = sums
        self.before: dict[str, float] = json.loads(database.meta(name) or "{}")
        self._noted_sum = 0.0

    def begin_visit(self) -> None:
        self._database.set_meta(self.name, "{}")
        self.before = {}

    def note_if_changed(self) -> None:
        """Write the total, unless it is what was written last."""
        if (present := sum(self._sums.values())) != self._noted_sum:
            self._noted_sum = present
            self.note()

    def note(self) -> None:
        names = {**self.before, **self._sums}
        total = {name: self._sums.get(name, 0) + self.before.get(name, 0) for name in names}
        self._database.set_meta(self.name, json.dumps(total))


class Takeover:
    """Hands parameters that another process wrote into ``crawl.db`` to the processor.

    Args:
        database: Database of the running crawl.
        processor: PageProcessor that judges by the parameters of the opened crawl.
    """

    def __init__(self, database: Database, processor: PageProcessor) -> None:
        self._database = database
        self._processor = processor
        self._seen = -1

    def look(self) -> None:
        """Adopt new parameters; call it often, and right after each commit of the crawl.

        Commits of other processes are visible only between the crawl's own. Without a foreign
        commit no row is read.
        """
        version = self._database.data_version
        if version == self._seen:
            return
        self._seen = version
        try:
            tuned = newest(self._database.read)
            if tuned is not None and tuned.id != self._processor.tuned.id:
                self._take_over(tuned)
        except (JobError, ParameterError) as error:  # a crawl does not end for it
            logger.warning("pages are judged as before: %s", error)

    def _take_over(self, tuned: Tuned) -> None:
        before = self._processor.tuned
        self._processor.tune(tuned)
        changes = in_words(before.parameters, tuned.parameters)
        logger.warning("pages from now on are judged by other parameters: %s", changes)


@dataclass(slots=True)
class Commits:
    """Commits what a crawl has done; a failure shows in ``Database.failure``.

    The indexes are flushed after the database is committed. What they know that the database lacks
    is left out when they are opened.

    Args:
        folder: The crawl directory, for messages.
        database: The crawl's database.
        indexes: The indexes of the fingerprints, of the signatures and of the passages.
        processor: The processor, whose promotions are settled at the end of a visit.
        answers: Answers of this run, counted by verdict.
        refused_links: Number of links of this run that were not followed, by reason.
        save_rules: Writes what the learned URL rules have deferred.
    """

    folder: Path | None
    database: Database
    indexes: tuple[HammingIndex, LshIndex, LshIndex]
    processor: PageProcessor
    answers: Mapping[str, float]
    refused_links: Mapping[str, float]
    save_rules: Callable[[], None]
    _takeover: Takeover = field(init=False)
    _totals: tuple[RunningTotal, ...] = field(init=False)
    _answers: RunningTotal = field(init=False)
    _flushed: float = field(default_factory=time.monotonic, init=False)
    _noted: float = field(default_factory=time.monotonic, init=False)

    def __post_init__(self) -> None:
        self._takeover = Takeover(self.database, self.processor)
        # As durable as the pages, and of all visits.
        self._answers = RunningTotal(self.database, meta_names.ANSWERS, self.answers)
        self.database.before_commit.append(self._answers.note_if_changed)
        self._totals = (
            RunningTotal(self.database, meta_names.STAGES, self.processor.seconds),
            RunningTotal(self.database, meta_names.REFUSED_LINKS, self.refused_links),
            RunningTotal(
                self.database, meta_names.COMPARISONS, self.processor.deduplicator.comparisons
            ),
        )

    def begin_visit(self) -> None:
        for total in self._totals:
            total.begin_visit()

    @property
    def answers_before(self) -> Mapping[str, float]:
        """The sums of the answers of earlier processes, in all visits."""
        return self._answers.before

    def commit_if_due(self, *, is_half_done: bool) -> None:
        """Commit at intervals; see ``Database.is_due``."""
        if self.database.is_due(is_half_done=is_half_done):
            self.save()

    def _follow_commit(self) -> None:
        self._takeover.look()
        now = time.monotonic()
        if now - self._flushed >= INDEX_INTERVAL_SECS:
            self._save_boilerplate()  # durable with the next commit
            self._flush()
            self._flushed = now

    def save(self) -> None:
        """Commit now as ``commit_if_due`` does when it is due."""
        with self._noting_failure():
            now = time.monotonic()
            if now - self._noted >= INTERVAL_SECS and self.database.is_written_to:
                self._noted = now
                for total in self._totals:
                    total.note()
            self.database.commit()
            self._follow_commit()

    def commit(self) -> None:
        with self._noting_failure():
            self._commit()

    def _commit(self) -> None:
        for total in self._totals:
            total.note()
        self.save_rules()
        self._save_boilerplate()
        self.database.commit()
        self._flush()

    def _save_boilerplate(self) -> None:
        if self.processor.boilerplate is not None:
            self.processor.boilerplate.save(self.database)

    def _flush(self) -> None:
        for index in self.indexes:
            index.flush()

    def end_visit(self) -> None:
        """Promote a duplicate of each page whose text has changed, and commit."""
        with self._noting_failure():
            self.processor.promote_superseded()
            self._commit()

    def close(self, save_seen: Callable[[], None]) -> None:
        """Commit, then close derived files: they must never know what the database lacks.

        Args:
            save_seen: Saves the filter of the seen set.
        """
        if self.database.failure is None:
            with self._noting_failure():
                self.processor.promote_superseded()
                self._commit()
                for index in self.indexes:
                    index.close()
                save_seen()
        for index in self.indexes:
            index.abandon()

    @contextmanager
    def _noting_failure(self) -> Iterator[None]:
        try:
            yield
        except (CrawlStorageError, NearDupError, OSError) as error:
            why = getattr(error, "strerror", None) or str(error)
            self.database.fail(f"{self.folder}: cannot be written: {why}")
