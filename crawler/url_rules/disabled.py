"""Open the learned rules, or a stand-in for them where nothing is learned."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from crawler.frontier.queue import MemoryQueue
from crawler.storage import meta_names
from crawler.url_rules.engine import UrlRules
from crawler.url_rules.fixed_rules import FixedRules
from crawler.url_rules.skipped import SkippedRequests
from crawler.url_rules.url_groups import UrlGroups

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.frontier.order import Load, NewRequest, QueuedRequest
    from crawler.frontier.queue import RequestQueue
    from crawler.pages.page_row import PageRow
    from crawler.storage.database import Database
    from crawler.url_rules.learning.hypothesis import LearningPolicy
    from crawler.url_rules.learning.proposals import Proposal
    from crawler.urls.canonical import Canonicalizer

logger = logging.getLogger(__name__)


class NoUrlRules:
    """Queues every request and learns nothing; else as ``crawler.url_rules.engine.UrlRules``.

    Args:
        database: The crawl's database, in which a process that used rules may have left requests
            that it skipped.
        why: The condition for learning rules, for the message of an error.

    Attributes:
        is_unvalidated: Whether that process ended before it had settled what it skipped.
        fixed: The fixed rules, which are tried all the same.
    """

    is_busy = False
    is_regrouping = False
    is_comparing_depths = False
    is_validating = False

    def __init__(
        self, database: Database, queue: RequestQueue, fixed: FixedRules, why: str
    ) -> None:
        self._database = database
        self._queue = queue
        self._groups = UrlGroups(database)
        self._skipped = SkippedRequests(database, queue)
        self.fixed = fixed
        self._why = why
        self.is_unvalidated = self._is_unsettled()

    def _is_unsettled(self) -> bool:
        """Return whether skipped requests may still be needed: rules changed or were not tried."""
        if not any(rule > 0 for rule in self._skipped.counts()):
            return False
        is_regrouping = self._database.meta(meta_names.REGROUPING) not in {None, "[]"}
        return is_regrouping or not self._skipped.are_settled()

    def begin_visit(self, visit: int) -> None:
        """Forget which requests stood for others: a process that uses rules may end this visit."""
        self.is_unvalidated = False
        self._groups.clear()

    def continue_visit(self) -> None:
        """Let all requests wait again that a process with rules has skipped in this visit.

        What stands for them is forgotten: it may give no page while nothing is learned.
        """
        self.is_unvalidated = False
        self._groups.clear()
        again = self._skipped.put_all_back()
        if again:
            logger.info("%d requests are made that URL rules skipped before", again)

    def take(self, proposals: Iterable[Proposal], origin: str) -> int:
        """Refuse rules of another crawl.

        Raises:
            ValueError: Always.
        """
        raise ValueError(f"{origin}: URL rules can only be used with {self._why}")

    def suggest(self, proposals: Iterable[Proposal], origin: str) -> None:
        """Do nothing, since nothing is learned."""

    def push(self, new: NewRequest) -> bool:
        self._queue.push(new)
        return True

    def lease(self, load: Load) -> QueuedRequest | None:
        return self._queue.lease(load)

    def take_shorter(self) -> list[tuple[str, int]]:
        return []

    def regroup_some(self) -> None:
        """Do nothing, since the queue always agrees with no rules."""

    def regroup_all(self) -> bool:
        return False

    def try_more(self) -> bool:
        return False

    def observe(
        self,
        row: PageRow,
        kept_url: str | None = None,
        redirected: Sequence[str] = (),
        *,
        is_first: bool = True,
    ) -> None:
        """Learn nothing from a page."""

    def note_nearer(self, key: bytes, depth: int) -> None:
        """Do nothing, since no request was skipped."""

    def note_filtered_redirect(self, sources: Sequence[str], target: str) -> None:
        """Do nothing, since no request was skipped."""

    def note_failure(self, urls: Iterable[str]) -> None:
        """Do nothing, since no request was skipped."""

    def save_refuted(self) -> None:
        """Do nothing, since no rule was refuted."""


def open_rules(
    database: Database,
    canonicalizer: Canonicalizer,
    queue: RequestQueue,
    policy: LearningPolicy | None,
) -> UrlRules | NoUrlRules:
    """Open the learned rules, or the stand-in: from a queue in memory nothing can be put back.

    Args:
        database: The crawl's database.
        canonicalizer: The crawl's canonicalizer of URLs.
        queue: The queue of requests.
        policy: The conditions on which a rule is believed; None learns nothing.
    """
    fixed = FixedRules(database, canonicalizer)
    if isinstance(queue, MemoryQueue):
        return NoUrlRules(database, queue, fixed, "a JOBDIR")
    if policy is None:
        return NoUrlRules(database, queue, fixed, "CRAWL_LEARN_URL_RULES, which is off")
    return UrlRules(database, canonicalizer, queue, policy, fixed)
