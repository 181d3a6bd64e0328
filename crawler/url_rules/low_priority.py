"""Estimate how much of what a kind of URLs leads to is new; postpone or give up what seldom is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import sqrt
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


WINDOW = 40
"""Pages of a kind that its estimate is made of, the last ones."""

LEVELS = (0.5, 0.25, 0.12)
"""A kind is one level later for each of these shares of new pages that it hardly reaches."""

FLOOR_OF = 20
"""One URL in this many is requested in the first level, whatever its kind: kinds may change."""

_ALL = (1 << WINDOW) - 1
_STEP = 2
LOWEST = -_STEP * len(LEVELS)
"""The priority of the last level."""

_CERTAINTY = 1.645
"""The 95 % quantile of the normal distribution."""

_MAX_KINDS = 20_000
_MAX_HOSTS = 5_000
_MAX_WORDS = 12
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{0,19}")


@dataclass(slots=True)
class _Kind:
    """The last pages of a kind.

    Attributes:
        recent: The last of them, a bit each; 1 for a new one.
        level: The number of ``LEVELS`` that its share of new pages does not reach at best.
    """

    pages: int = 0
    recent: int = 0
    level: int = 0

    def note(self, *, is_new: bool) -> None:
        self.pages += 1
        self.recent = (self.recent << 1 | is_new) & _ALL
        share = upper_bound(self.recent.bit_count(), min(self.pages, WINDOW))
        self.level = 0 if share >= LEVELS[0] else sum(share < one for one in LEVELS)


def upper_bound(new: int, pages: int) -> float:
    """Return the largest share of new pages that some pages allow, with 95 % certainty.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
    """
    if not pages:
        return 1.0
    square = _CERTAINTY**2
    share = new / pages
    spread = _CERTAINTY * sqrt(share * (1 - share) / pages + square / (4 * pages**2))
    return (share + square / (2 * pages) + spread) / (1 + square / pages)


class KindYields:
    """The kinds of URLs of a crawl with what came of their last pages.

    A kind is a cluster of URLs as ``ClusterNames`` tells them apart, with the words that its
    arguments have as values: ``action=history`` is another kind than ``action=edit``. Kinds begin
    in the first level, and fall as far as their best estimate allows: a bandit with upper
    confidence bounds. Nothing is given up, and inside a level the order stays breadth first.

    Memory is bounded: 20,000 kinds, the ones that were met last. A new process begins anew.

    Source: Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit
    problem", 2002.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, _Kind] = {}
        self._words: dict[str, set[str]] = {}
        self._hosts: dict[str, None] = {}

    def __contains__(self, host: object) -> bool:
        """Return whether a host has any kind that is not in the first level."""
        return host in self._hosts

    def note(self, address: Address, cluster: str, *, is_new: bool) -> bool:
        """Take a page into account; return whether its kind is to come earlier from now on.

        Args:
            address: Its address after the learned rules.
            cluster: Name of its cluster.
            is_new: Whether it was kept.

        Complexity: O(arguments).
        """
        name = self._name(address, cluster)
        kind = self._kinds.pop(name, None) or _Kind()
        self._kinds[name] = kind
        if len(self._kinds) > _MAX_KINDS:
            del self._kinds[next(iter(self._kinds))]
        before = kind.level
        kind.note(is_new=is_new)
        if not is_new and kind.level:
            self._hosts.pop(address.host, None)
            self._hosts[address.host] = None
            if len(self._hosts) > _MAX_HOSTS:
                del self._hosts[next(iter(self._hosts))]
        return kind.level < before

    def priority(self, address: Address, cluster: str) -> int:
        """Return the priority of a URL, 0 in the first level.

        Args:
            address: Its address after the learned rules.
            cluster: Name of its cluster.

        Complexity: O(arguments).
        """
        kind = self._kinds.get(self._name(address, cluster))
        level = 0 if kind is None else kind.level
        if not level or int.from_bytes(address.digest[8:12]) % FLOOR_OF == 0:
            return 0
        return -_STEP * level

    def _name(self, address: Address, cluster: str) -> str:
        """Return the name of a kind: that of its cluster, and the words that arguments have."""
        if not address.arguments:
            return cluster
        words = [
            f"{name}={value}"
            for name, value in address.arguments
            if value and _WORD.fullmatch(value) and self._is_one_of_few(f"{cluster} {name}", value)
        ]
        return f"{cluster} {' '.join(words)}" if words else cluster

    def _is_one_of_few(self, place: str, word: str) -> bool:
        words = self._words.get(place)
        if words is None:
            if len(self._words) >= _MAX_KINDS:
                del self._words[next(iter(self._words))]
            words = self._words[place] = set()
        if len(words) <= _MAX_WORDS:
            words.add(word)
        return len(words) <= _MAX_WORDS


WAIT_PRIORITY = -1
"""The priority of a request whose page a rule may soon be known to make another's.

Only requests of the usual priority, 0, get it.
"""

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
        learner: RuleLearner,
        kinds: KindYields,
    ) -> None:
        self._queue = queue
        self._skipped = skipped
        self._traps = traps
        self._addresses = addresses
        self._learner = learner
        self._kinds = kinds
        self._better: set[int] = set()
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
        if address is None or (address.host not in self._traps and address.host not in self._kinds):
            return wanted
        after_rules = self._addresses.after_rules(address)
        if not is_given:
            slow = self._traps.priority(after_rules, 0)
            return wanted if slow == 0 or wanted <= SLOW_PRIORITY else slow + min(wanted, 0)
        late = 0
        if address.host in self._kinds:
            late = self._kinds.priority(after_rules, self._traps.cluster(after_rules).name)
        return late + self._traps.priority(after_rules, 0)

    def note_met(self, new: NewRequest) -> None:
        """Count a URL that is found for the first time, and that no rule skips."""
        address = self._addresses.parsed(new.url) if self._traps else None
        if address is not None and address.host in self._traps:
            source = None if new.source is None else self._addresses.parsed(new.source)
            # A host may let its pages tell no more than its name to where they lead.
            is_told = source is not None and (source.segments != ("",) or source.names)
            led_by = self._addresses.after_rules(source) if source and is_told else None
            self._traps.note_met(self._addresses.after_rules(address), new.depth, led_by)

    def note_better(self, host: int) -> None:
        """Note that a kind of URLs of a host is to come earlier than its requests were queued."""
        self._better.add(host)

    def _raise_some(self) -> None:
        """Queue late requests of kinds that became better earlier, a slice with each call.

        Begins where nothing else waits. After so many were looked at, a quarter as many requests
        are leased before the next time.
        """
        self._rest -= 1
        if self._raising is None:
            if not self._better or self._rest > 0 or self._queue.has_urgent(0):
                return
            self._raising = self._better.pop(), 0, 0
        host, after, count = self._raising
        late = self._skipped.late(host, after, MAX_RAISED)
        raised = [
            (number, priority)
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

        Requests that would not help to decide on a rule wait until others do. Those of a slow
        cluster are postponed until nothing else waits, those of a closed one are given up; in
        slices, since there may be a hundred thousand.
        """
        self._raise_some()
        passed: list[QueuedRequest] = []
        queued = None
        while len(passed) < MAX_PASSED:
            queued = self._queue.lease(load)
            if queued is None or not (self._is_of_late_cluster(queued) or self._can_wait(queued)):
                break
            passed.append(queued)
        self._pass_over(passed)
        is_full = len(passed) == MAX_PASSED
        found = None if is_full else queued
        self.is_passing = found is None and bool(passed) and len(self._queue) > 0
        return found

    def _can_wait(self, queued: QueuedRequest) -> bool:
        address = self._addresses.learnable(queued.url) if not queued.priority else None
        if address is None or queued.is_fixed:
            return False
        return self._learner.can_wait(self._addresses.after_rules(address))

    def _is_of_late_cluster(self, queued: QueuedRequest) -> bool:
        now = self._now(queued)
        is_kept = queued.is_fixed and now > SLOW_PRIORITY  # it is made whatever was learned
        if now < queued.priority and not is_kept:
            return True
        is_free = queued.is_fixed or not self._traps
        address = None if is_free else self._addresses.parsed(queued.url)
        return (
            address is not None and self.trapped(self._addresses.after_rules(address)) is not None
        )

    def _now(self, queued: QueuedRequest) -> int:
        """Return the priority that a request is to have by now."""
        given = _is_given(queued.priority)
        return self.priority(queued.url, queued.priority, is_given=given)

    def _pass_over(self, requests: list[QueuedRequest]) -> None:
        waiting: dict[tuple[int, int], list[int]] = {}
        given_up: dict[int, list[tuple[int, Skip]]] = {}
        for queued in requests:
            address = self._addresses.parsed(queued.url)
            skip = None if address is None else self.trapped(self._addresses.after_rules(address))
            if skip is None or queued.is_fixed:
                late = min(self._now(queued), WAIT_PRIORITY)
                waiting.setdefault((queued.host, late), []).append(queued.id)
            else:
                given_up.setdefault(queued.host, []).append((queued.id, skip))
        for (host, priority), ids in waiting.items():
            self._skipped.postpone(host, ids, priority)
        for host, skips in given_up.items():
            self._skipped.give_up(host, skips)


def _is_given(priority: int) -> bool:
    """Return whether a priority is the usual one, or was given to a kind of URLs."""
    is_slow = SLOW_PRIORITY + LOWEST <= priority <= SLOW_PRIORITY
    return priority == 0 or is_slow or LOWEST <= priority < WAIT_PRIORITY
