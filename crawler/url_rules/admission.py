"""Decide which requests the learned rules skip, and which of those are made all the same."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Literal

from crawler.frontier.order import Skip, host_number
from crawler.url_rules.learned_rule import weakest
from crawler.url_rules.learning.context import AddressInContext
from crawler.url_rules.skipped import TRY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.url_rules.learned_rule import LearnedRule
    from crawler.url_rules.learning.address import Address
    from crawler.url_rules.low_priority import LateRequests
    from crawler.url_rules.rule_state import RuleState
    from crawler.url_rules.url_groups import UrlGroup

EXPLORED_OF = 20
"""One in this many pages with further URLs is fetched under a second URL all the same."""

EXPLORED_OF_IDS = 40
"""The same ratio for rules that drop nothing but ids, which no two pages share."""

_DIGESTS = 2**32

Admitted = Skip | Literal["try"] | None
"""A way to skip a request; TRY: no rule may skip it from now on; None: it is made."""


class Admission:
    """Decides for each request whether another one stands for its page."""

    def __init__(self, state: RuleState, late: LateRequests) -> None:
        self._state = state
        self._rules = state.rules
        self._groups = state.groups
        self._late = late
        self._paid: Counter[int] = Counter()

    def admit(self, url: str, key: bytes, host: int, *, is_fixed: bool) -> Admitted:
        """Decide on a request.

        Args:
            url: The URL as it would be requested.
            key: Its request fingerprint.
            host: The number of its line in the queue.
            is_fixed: Whether it is made whatever was learned.

        Complexity: O(rules of its host); nothing where there are none.
        """
        address = self._state.addresses.parsed(url)
        if address is None:
            return None
        if address.host not in self._rules or not address.is_learnable:
            return None if is_fixed else self._late.trapped(address)
        if host != host_number(address.hostname):
            # It is in the line of another name: it would not be found where rules change.
            return None if is_fixed else self._late.trapped(self._rules.apply(address))
        return self.decide(address, key, host, is_fixed=is_fixed)

    def decide(self, address: Address, key: bytes, host: int, *, is_fixed: bool) -> Admitted:
        """Decide on a request, given its address; else as ``admit``."""
        after_rules = self._rules.apply(address)
        group = after_rules.digest()
        known = self._groups.get(group)
        if known is None:
            self._groups.claim(group, host, key)
        elif known.key != key and known.wants_another:
            self._groups.note_try(group)
            return TRY
        if is_fixed:
            if known is not None and known.key != key:
                self._groups.mark_explored(group)
            return None
        rules = [] if known is None else self._skipping(address, group, key, known)
        if known is None or not rules:
            return self._late.trapped(after_rules)
        return (
            TRY if self._explores(rules, address, group, known) else Skip(weakest(rules).id, group)
        )

    def _skipping(
        self, address: Address, group: bytes, key: bytes, known: UrlGroup
    ) -> Sequence[LearnedRule]:
        """Return the rules that skip a known request because of another one; empty if none do."""
        if known.key == key:
            return ()
        standing = self._state.addresses.standing(known)
        if standing is None or not self._rules.may_stand_for(standing, address):
            self._groups.stand(group, key)
            return ()
        return self._rules.changing(address) or self._rules.changing(standing)

    def _explores(
        self, rules: Sequence[LearnedRule], address: Address, group: bytes, known: UrlGroup
    ) -> bool:
        """Decide whether to make a request that rules would skip, in order to try them."""
        place, after_rules = (
            AddressInContext.of(address),
            AddressInContext.of(self._rules.apply(address)),
        )
        kind = self._state.learner.pattern_of(after_rules.address)
        pattern = f"{kind}?{'&'.join(sorted(after_rules.names))}"
        is_new_ground = any(rule.is_new_ground(place, pattern) for rule in rules)
        is_chosen = self._is_chosen(rules, group, known)
        if not is_new_ground and not is_chosen:
            return False
        self._groups.mark_explored(group)
        if self._is_paid(rules, is_new_ground=is_new_ground, is_chosen=is_chosen):
            return False
        for rule in rules:
            rule.note_try(place, pattern)
            self._state.store.note_change(rule)
        weakest(rules).explored += 1
        return True

    def _is_chosen(self, rules: Sequence[LearnedRule], group: bytes, known: UrlGroup) -> bool:
        """Return whether a page is one of those fetched under a second URL, wherever it is."""
        is_of_ids = all(rule.has_many_values for rule in rules)
        of = EXPLORED_OF_IDS if is_of_ids else EXPLORED_OF
        return not known.is_explored and int.from_bytes(group[:4]) * of < _DIGESTS

    def _is_paid(
        self, rules: Sequence[LearnedRule], *, is_new_ground: bool, is_chosen: bool
    ) -> bool:
        """Return whether new ground was tried before in place of this page.

        Rules of few values are tried on as many pages at the end of the crawl in any case.
        """
        if any(rule.has_few_values for rule in rules):
            return False
        rule = weakest(rules).id
        self._paid[rule] += is_new_ground - is_chosen
        if self._paid[rule] < 0:
            self._paid[rule] = 0
            return False
        return not is_new_ground
