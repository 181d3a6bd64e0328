"""Postpone requests whose pages are hardly ever new, or give them up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.frontier.order import Skip
from crawler.url_rules.traps import SLOW_PRIORITY

if TYPE_CHECKING:
    from crawler.frontier.order import Load, NewRequest, QueuedRequest
    from crawler.frontier.queue import RequestQueue
    from crawler.url_rules.learning.address import Address
    from crawler.url_rules.learning.learner import RuleLearner
    from crawler.url_rules.rule_state import RuledAddresses
    from crawler.url_rules.skipped import SkippedRequests
    from crawler.url_rules.traps import UrlTraps

WAIT_PRIORITY = -1
"""The priority of a request whose page a rule may soon be known to make another's.

Only requests of the usual priority, 0, get it.
"""

MAX_PASSED = 500
"""Pass over at most this many requests in one call: some 70 us each, in the reactor's thread."""


class LateRequests:
    """Keeps the queue in agreement with the traps, at queueing and at leasing.

    Attributes:
        is_passing: Whether the last call ended at its bound, and the next one may find more.
    """

    def __init__(
        self,
        queue: RequestQueue,
        skipped: SkippedRequests,
        traps: UrlTraps,
        addresses: RuledAddresses,
        learner: RuleLearner,
    ) -> None:
        self._queue = queue
        self._skipped = skipped
        self._traps = traps
        self._addresses = addresses
        self._learner = learner
        self.is_passing = False

    def trapped(self, after_rules: Address) -> Skip | None:
        """Return the reason to give up a request whose cluster is closed; None where it is made."""
        if after_rules.host not in self._traps:
            return None
        group = after_rules.digest()
        cluster = self._traps.closed(after_rules, group)
        return None if cluster is None else Skip(-cluster, group)

    def priority(self, url: str, wanted: int) -> int:
        """Return the priority for a URL: a low one where pages of its kind are hardly new."""
        address = self._addresses.parsed(url) if self._traps else None
        return (
            wanted
            if address is None
            else self._traps.priority(self._addresses.after_rules(address), wanted)
        )

    def note_met(self, new: NewRequest) -> None:
        """Count a URL that is found for the first time, and that no rule skips."""
        address = self._addresses.parsed(new.url) if self._traps else None
        if address is not None and address.host in self._traps:
            source = None if new.source is None else self._addresses.parsed(new.source)
            # A host may let its pages tell no more than its name to where they lead.
            is_told = source is not None and (source.segments != ("",) or source.names)
            led_by = self._addresses.after_rules(source) if source and is_told else None
            self._traps.note_met(self._addresses.after_rules(address), new.depth, led_by)

    def lease(self, load: Load) -> QueuedRequest | None:
        """Lease the next request that is not late; None where none was found in this call.

        Requests that would not help to decide on a rule wait until others do. Requests of a slow cluster are postponed until nothing else waits, those of a
        closed one are given up; in slices, since there may be a hundred thousand.
        """
        passed: list[QueuedRequest] = []
        queued = None
        while len(passed) < MAX_PASSED:
            queued = self._queue.lease(load)
            if queued is None or not self._is_late(queued):
                break
            passed.append(queued)
        self._pass_over(passed)
        is_full = len(passed) == MAX_PASSED
        self.is_passing = is_full and len(self._queue) > 0
        return None if is_full else queued

    def _is_late(self, queued: QueuedRequest) -> bool:
        return self._is_of_late_cluster(queued) or self._can_wait(queued)

    def _can_wait(self, queued: QueuedRequest) -> bool:
        address = self._addresses.learnable(queued.url) if not queued.priority else None
        if address is None or self._skipped.is_fixed(queued.id):
            return False
        return self._learner.can_wait(self._addresses.after_rules(address))

    def _is_of_late_cluster(self, queued: QueuedRequest) -> bool:
        address = self._addresses.parsed(queued.url) if self._traps else None
        if address is None or address.host not in self._traps:
            return False
        after_rules = self._addresses.after_rules(address)
        if self._traps.priority(after_rules, queued.priority) < queued.priority:
            return True
        is_closed = self._traps.closed(after_rules, after_rules.digest()) is not None
        return is_closed and not self._skipped.is_fixed(queued.id)

    def _pass_over(self, requests: list[QueuedRequest]) -> None:
        hosts: dict[int, tuple[list[int], list[tuple[int, Skip]]]] = {}
        useless: dict[int, list[int]] = {}
        for queued in requests:
            if not self._is_of_late_cluster(queued):
                useless.setdefault(queued.host, []).append(queued.id)
                continue
            waiting, given_up = hosts.setdefault(queued.host, ([], []))
            address = self._addresses.parsed(queued.url)
            after_rules = None if address is None else self._addresses.after_rules(address)
            group = b"" if after_rules is None else after_rules.digest()
            cluster = None if after_rules is None else self._traps.closed(after_rules, group)
            if cluster is None or self._skipped.is_fixed(queued.id):
                waiting.append(queued.id)
            else:
                given_up.append((queued.id, Skip(-cluster, group)))
        for host, ids in useless.items():
            self._skipped.postpone(host, ids, WAIT_PRIORITY)
        for host, (waiting, given_up) in hosts.items():
            if waiting:
                self._skipped.postpone(host, waiting, SLOW_PRIORITY)
            if given_up:
                self._skipped.give_up(host, given_up)
