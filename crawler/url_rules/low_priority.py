"""Postpone requests for what is seldom new, and give up those for what is a trap."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from crawler.frontier.order import Skip, host_number
from crawler.storage.states import LEASED
from crawler.url_rules.traps import LEVEL_PRIORITIES, SLOW_PRIORITY

if TYPE_CHECKING:
    from crawler.frontier.order import Load, NewRequest, QueuedRequest
    from crawler.frontier.queue import RequestQueue
    from crawler.url_rules.learning.address import Address
    from crawler.url_rules.rule_state import RuledAddresses
    from crawler.url_rules.skipped import SkippedRequests
    from crawler.url_rules.traps import UrlTraps


MAX_PASSED = 500
"""Pass over at most this many requests in one call: some 70 us each, in the reactor's thread."""

MAX_RAISED = 500
"""Look at most at this many late requests in one call whether they are to come earlier."""


class LateRequests:
    """Keeps the queue in agreement with the traps, at queueing and at leasing.

    Attributes:
        is_passing: Whether the last call only postponed requests, and the next one may find some.
    """

    def __init__(
        self,
        queue: RequestQueue,
        skipped: SkippedRequests,
        traps: UrlTraps,
        addresses: RuledAddresses,
    ) -> None:
        self._queue = queue
        self._skipped = skipped
        self._traps = traps
        self._addresses = addresses
        # The host whose late requests are looked at, the last of them, and how many there were.
        self._raising: tuple[int, int, int] | None = None
        self._rest = 0
        self.is_passing = False

    def trapped(self, after_rules: Address) -> Skip | None:
        """Return the reason to give up a request whose cluster is closed; None where it is made."""
        cluster = self._traps.closed(after_rules)
        return None if cluster is None else Skip(-cluster, after_rules.digest)

    def priority(self, url: str, wanted: int, *, is_given: bool) -> int:
        """Return the priority for a URL: the lower, the fewer of its kind are new.

        Args:
            url: The URL.
            wanted: The priority with which it would be queued.
            is_given: Whether that is the usual one, or was given here; any other only traps lower.
        """
        address = self._addresses.parsed(url)
        if address is None or address.host not in self._traps:
            return wanted
        after_rules = self._addresses.after_rules(address)
        if is_given:
            return self._traps.priority(after_rules)
        if wanted <= SLOW_PRIORITY or not self._traps.is_slow(after_rules):
            return wanted
        return SLOW_PRIORITY + min(wanted, 0)

    def note_met(self, new: NewRequest) -> None:
        """Count a URL that is found for the first time, and that no rule skips."""
        address = self._addresses.parsed(new.url)
        if address is not None and address.host in self._traps:
            source = None if new.source is None else self._addresses.parsed(new.source)
            # A host may let its pages tell no more than its name to where they lead.
            is_told = source is not None and (source.segments != ("",) or source.names)
            led_by = self._addresses.after_rules(source) if source and is_told else None
            self._traps.note_met(self._addresses.after_rules(address), new.depth, led_by)

    def _raise_some(self) -> None:
        """Queue late requests of kinds that became better earlier, a slice with each call.

        Begins where nothing else waits. After this many were looked at, a quarter as many requests
        are leased before the next time.
        """
        self._rest -= 1
        if self._raising is None:
            if not self._traps.better or self._rest > 0 or self._queue.has_urgent(0):
                return
            self._raising = host_number(self._traps.better.pop()), 0, 0
        host, after, count = self._raising
        late = self._skipped.late(host, after, MAX_RAISED)
        raised = [
            (priority, number)
            for number, url, before in late
            if _is_given(before) and (priority := self.priority(url, 0, is_given=True)) > before
        ]
        self._skipped.prioritise(host, raised)
        count += len(late)
        if len(late) == MAX_RAISED:
            self._raising = host, late[-1][0], count
        else:
            self._raising, self._rest = None, count // 4

    def lease(self, load: Load) -> QueuedRequest | None:
        """Lease the next request that is not late; None where none was found in this call.

        Requests of a slow cluster are postponed until nothing else waits, those of a closed one are
        given up; in slices, since there may be a hundred thousand.
        """
        self._raise_some()
        passed: list[tuple[QueuedRequest, Skip | int]] = []
        queued = self._queue.lease(load)
        while queued is not None and (late := self._why_late(queued)) is not None:
            passed.append((queued, late))
            queued = None if len(passed) == MAX_PASSED else self._queue.lease(load)
        self._pass_over(passed)
        self.is_passing = queued is None and bool(passed) and len(self._queue) > 0
        return queued

    def _why_late(self, queued: QueuedRequest) -> Skip | int | None:
        """Return why a request is given up, or the lower priority that it is to have by now."""
        given = _is_given(queued.priority)
        now = self.priority(queued.url, queued.priority, is_given=given)
        address = self._addresses.parsed(queued.url)
        if address is not None and not queued.is_fixed:
            skip = self.trapped(self._addresses.after_rules(address))
            if skip is not None:
                return skip
        is_kept = queued.is_fixed and now > SLOW_PRIORITY  # it is made whatever was learned
        return now if now < queued.priority and not is_kept else None

    def _pass_over(self, passed: list[tuple[QueuedRequest, Skip | int]]) -> None:
        waiting: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        given_up: defaultdict[int, list[tuple[int, Skip]]] = defaultdict(list)
        for queued, late in passed:
            if isinstance(late, Skip):
                given_up[queued.host].append((queued.id, late))
            else:
                waiting[queued.host].append((late, queued.id))
        for host, some in waiting.items():
            self._skipped.prioritise(host, some, LEASED)
        for host, skips in given_up.items():
            self._skipped.set_aside(host, skips, LEASED)


def _is_given(priority: int) -> bool:
    """Return whether a priority is the usual one, or was given to a kind of URLs."""
    return not {priority, priority - SLOW_PRIORITY}.isdisjoint(LEVEL_PRIORITIES)
