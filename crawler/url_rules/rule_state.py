"""The state that all parts of the learned rules share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from crawler.storage import meta_names
from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.learner import RuleLearner
from crawler.url_rules.rule_set import KnownTransforms, RuleSet, common_rules
from crawler.url_rules.rule_store import RuleStore
from crawler.url_rules.skipped import SkippedRequests
from crawler.url_rules.url_groups import UrlGroups
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from crawler.frontier.queue import RequestQueue
    from crawler.storage.database import Database
    from crawler.url_rules.learned_rule import LearnedRule
    from crawler.url_rules.learning.hypothesis import LearningPolicy
    from crawler.url_rules.url_groups import UrlGroup
    from crawler.urls.canonical import Canonicalizer


_RECENT = 4_096
"""Hold the addresses of this many URLs: each is asked for when it is queued, leased and fetched."""


class RuledAddresses:
    """Parses URLs into addresses, and applies the rules to them."""

    def __init__(
        self, canonicalizer: Canonicalizer, rules: RuleSet, skipped: SkippedRequests
    ) -> None:
        self._canonical = canonicalizer
        self._rules = rules
        self._skipped = skipped
        self.parsed = lru_cache(_RECENT)(self._parsed)

    def _parsed(self, url: str) -> Address | None:
        """Return the address of a URL; None where it is malformed."""
        try:
            return Address.parse(self._canonical(url))
        except MalformedUrl:
            return None

    def learnable(self, url: str) -> Address | None:
        """Return the address of a URL; None where no rule may be learned from it."""
        address = self.parsed(url)
        return address if address is not None and address.is_learnable else None

    def after_rules(self, address: Address) -> Address:
        """Return the address by which a cluster is known, also where no rule is learned from it."""
        return self._rules.apply(address) if address.is_learnable else address

    def standing(self, known: UrlGroup) -> Address | None:
        url = self._skipped.url(known.key)
        return None if url is None else self.learnable(url)


@dataclass(slots=True)
class RuleState:
    """The rules, the pages that they were learned from, and the requests that they skip.

    Attributes:
        skipped: The requests that are not made.
        groups: The pages that were found, by address after the rules.
        store: Every rule that ever held.
    """

    database: Database
    canonical: Canonicalizer
    queue: RequestQueue
    skipped: SkippedRequests
    groups: UrlGroups
    store: RuleStore
    rules: RuleSet
    learner: RuleLearner
    addresses: RuledAddresses
    visit: int

    @classmethod
    def opened(
        cls,
        database: Database,
        canonicalizer: Canonicalizer,
        queue: RequestQueue,
        policy: LearningPolicy,
        *,
        is_on: bool = True,
    ) -> RuleState:
        skipped, store = SkippedRequests(database, queue), RuleStore(database)
        rules = RuleSet(KnownTransforms(common_rules()))
        for rule in store if is_on else ():
            rules.add(rule)
        return cls(
            database,
            canonicalizer,
            queue,
            skipped,
            UrlGroups(database),
            store,
            rules,
            RuleLearner(rules, policy),
            RuledAddresses(canonicalizer, rules, skipped),
            int(database.meta(meta_names.VISIT) or 0),
        )

    def start_over(self, rule: LearnedRule, page: int) -> None:
        """Discard the trials of a rule up to a capture, also those of others together with it."""
        rule.start_over(page)
        self.store.note_change(rule)
        for other in self.rules.of(rule.context.host):
            pair = (-rule.id, "")
            if other.tried.pop(pair, 0) + other.asked.pop(pair, 0):
                self.store.note_change(other)
