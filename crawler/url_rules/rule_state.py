"""What the parts share that deal with learned rules."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.learner import RuleLearner
from crawler.url_rules.rule_set import RuleSet
from crawler.url_rules.rule_store import RuleStore
from crawler.url_rules.skipped import SkippedRequests
from crawler.url_rules.url_groups import Folds
from crawler.urls.errors import MalformedUrl

if TYPE_CHECKING:
    from crawler.frontier.queue import RequestQueue
    from crawler.storage.database import Database
    from crawler.url_rules.learning.hypothesis import LearningPolicy
    from crawler.url_rules.url_groups import Fold
    from crawler.urls.canonical import Canonicalizer


class RuledAddresses:
    """From a URL to its address, and to that by which its page is known."""

    def __init__(
        self, canonicalizer: Canonicalizer, rules: RuleSet, skipped: SkippedRequests
    ) -> None:
        self._canonical = canonicalizer
        self._rules = rules
        self._skipped = skipped

    def parsed(self, url: str) -> Address | None:
        """The address of a URL; None where it is malformed."""
        with suppress(MalformedUrl):
            return Address.parse(self._canonical(url))
        return None

    def learnable(self, url: str) -> Address | None:
        """The address of a URL of which something may be learned."""
        address = self.parsed(url)
        return address if address is not None and address.is_learnable else None

    def folded(self, address: Address) -> Address:
        """By which the cluster of an address is known, also where no rule is learned of it."""
        return self._rules.fold(address) if address.is_learnable else address

    def standing(self, known: Fold) -> Address | None:
        """The address of the request that stands for others."""
        url = self._skipped.url(known.key)
        return None if url is None else self.learnable(url)


@dataclass(slots=True)
class RuleState:
    """The rules, what they were learned from, and what they skip.

    Attributes:
        database: The crawl's database.
        canonical: By which the crawl knows its URLs.
        queue: What waits.
        skipped: What does not.
        folds: What was found at each address.
        store: Every rule that ever held.
        rules: Those that hold.
        learner: Who proposes them.
        addresses: Of URLs.
        visit: The number of this one.
    """

    database: Database
    canonical: Canonicalizer
    queue: RequestQueue
    skipped: SkippedRequests
    folds: Folds
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
    ) -> RuleState:
        """As the last process left it."""
        skipped, store, rules = SkippedRequests(database, queue), RuleStore(database), RuleSet()
        for rule in store:
            rules.add(rule)
        return cls(
            database,
            canonicalizer,
            queue,
            skipped,
            Folds(database),
            store,
            rules,
            RuleLearner(rules, policy),
            RuledAddresses(canonicalizer, rules, skipped),
            int(database.meta("visit") or 0),
        )
