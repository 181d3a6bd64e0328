"""What the parts share that deal with learned rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.url_rules.addresses import RuledAddresses
from crawler.url_rules.learning.learner import RuleLearner
from crawler.url_rules.rule_set import RuleSet
from crawler.url_rules.rule_store import RuleStore
from crawler.url_rules.skipped import SkippedRequests
from crawler.url_rules.url_groups import Folds

if TYPE_CHECKING:
    from crawler.frontier.queue import RequestQueue
    from crawler.storage.database import Database
    from crawler.url_rules.learning.hypothesis import LearningPolicy
    from crawler.urls.canonical import Canonicalizer


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
