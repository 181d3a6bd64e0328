"""A crawl of a site that is a function, with rules learned on the way."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING

from crawler.url_rules.learned_rule import LearnedRule
from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.evidence import PageContent
from crawler.url_rules.learning.hypothesis import LearningPolicy
from crawler.url_rules.learning.learner import RuleLearner
from crawler.url_rules.rule_set import RuleSet
from crawler.urls.canonical import Canonicalizer

if TYPE_CHECKING:
    from crawler.url_rules.learning.proposals import Proposal
    from tests.crawler.url_rules.learning.sites import Site


@dataclass
class Simulation:
    """Breadth first; of the addresses that rules make one, the first is fetched."""

    site: Site
    start: str
    learns: bool = True
    limit: int = 4000
    fetched: int = 0
    said: set[str] = field(default_factory=set)
    rules: RuleSet = field(default_factory=RuleSet)
    policy: LearningPolicy = field(default_factory=LearningPolicy)

    def __post_init__(self) -> None:
        self.learner = RuleLearner(self.rules, self.policy)
        self._canonical = Canonicalizer()
        self._random = Random(1)
        self._queue = deque([self.start])
        self._queued = {self._canonical(self.start)}
        self._contents: dict[str, tuple[int, str]] = {}
        self._done: list[tuple[Address, PageContent]] = []
        self._taken: dict[Address, PageContent | None] = {}
        self._standing: dict[Address, Address] = {}
        self._links: dict[int, int] = {}

    def run(self) -> Simulation:
        while self._queue and self.fetched < self.limit:
            self._fetch(self._queue.popleft())
        return self

    def _fetch(self, url: str) -> None:
        text, links = self.site(url, self._random)
        self.fetched += 1
        self.said.add(text)
        canonical = self._canonical(url)
        number, kept = self._contents.setdefault(text, (self.fetched, canonical))
        said = PageContent(text.encode(), number, 1.0, self.fetched, len(links))
        self._links.setdefault(number, len(links))
        address = Address.parse(canonical)
        self._done.append((address, said))
        self._taken[self.rules.apply(address)] = said
        if self.learns:
            same_as = None if kept == canonical else kept
            found = self.learner.observe(
                address,
                said,
                same_as=same_as,
                same_links=self._links[number],
                lookup=self._taken.get,
            )
            while found:
                found = self._adopt(found[0])
        for link in map(self._canonical, links):
            if link not in self._queued:
                self._queued.add(link)
                self._admit(link)

    def _adopt(self, proposal: Proposal) -> list[Proposal]:
        taken = self.learner.take(proposal)
        rule = LearnedRule(self.fetched, taken.context, taken.oriented, taken.evidence.texts)
        for covered in self.rules.covered(taken.context, taken.transform):
            self.rules.remove(covered)
        self.rules.add(rule)
        self._taken = {self.rules.apply(address): said for address, said in self._done}
        self._standing = {self.rules.apply(address): address for address, _ in reversed(self._done)}
        waiting, self._queue = self._queue, deque()
        for url in waiting:
            self._admit(url)
        return [found for host in rule.hosts for found in self.learner.regroup_again(host)][:1]

    def _admit(self, url: str) -> None:
        address = Address.parse(url)
        after_rules = self.rules.apply(address)
        standing = self._standing.get(after_rules)
        has_rules = bool(self.rules.of(after_rules.host))
        if standing and has_rules and self.rules.may_stand_for(standing, address):
            return
        self._taken.setdefault(after_rules, None)
        self._standing[after_rules] = address
        self._queue.append(url)
