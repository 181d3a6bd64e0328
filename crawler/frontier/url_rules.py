"""The learned rules at work: what is skipped, what is tried, what proves them wrong."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from crawler.frontier.folds import Folds, said_of
from crawler.frontier.order import host_number
from crawler.frontier.refolding import Refolding
from crawler.frontier.rule_report import REFUTED
from crawler.frontier.rule_store import REVOKED, RuleStore, stored
from crawler.frontier.skipped import Skip, SkippedRequests
from crawler.pages.verdicts import TOO_SHORT
from crawler.urls.errors import MalformedUrl
from crawler.urls.learning.address import Address
from crawler.urls.learning.context import Place
from crawler.urls.learning.evidence import CounterExample, Said, agreement
from crawler.urls.learning.learner import RuleLearner
from crawler.urls.rules import LearnedRule, RuleSet, shown_form

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawler.frontier.folds import Fold
    from crawler.frontier.queue import RequestQueue
    from crawler.pages.database import Database
    from crawler.pages.page import PageRow
    from crawler.urls.canonical import Canonicalizer
    from crawler.urls.learning.hypothesis import LearningPolicy, Refuted
    from crawler.urls.learning.proposals import Proposal

MOST_TOLD = 50
"""So many rules that do not hold are told of."""

MOST_TRIES = 3
"""So many further URLs of a page are fetched where the first gave no page."""

EXPLORED_OF = 20
"""Of so many pages that have other URLs, one is fetched under a second URL all the same."""


class UrlRules:
    """Learns rules from what is stored, and keeps the queue in agreement with them.

    A rule changes by what a page is known, never the URL that is requested. What
    it skips stays in the queue's table, and goes back into the queue where the
    rule turns out to be wrong: where two URLs that it takes for one page have
    different texts. To find that out, one page in twenty is fetched under a second
    URL too, and so is the first of every kind of path and, of a few values, of each.

    Args:
        database: The crawl's database.
        canonicalizer: By which the crawl knows its URLs.
        queue: What waits.
        policy: When a rule is believed.
    """

    def __init__(
        self,
        database: Database,
        canonicalizer: Canonicalizer,
        queue: RequestQueue,
        policy: LearningPolicy,
    ) -> None:
        self._canonical = canonicalizer
        self._queue = queue
        self._skipped = SkippedRequests(database, queue)
        self._visit = int(database.meta("visit") or 0)
        self._database = database
        self._folds = Folds(database)
        self._store = RuleStore(database)
        self.rules = RuleSet()
        for rule in self._store:
            self.rules.add(rule)
        self._learner = RuleLearner(self.rules, policy)
        for context, transform in self._store.ended():
            self._learner.refute(LearnedRule(0, context, transform), CounterExample(0, 0))
        self._changed: dict[int, LearnedRule] = {}
        self.refolding = Refolding(database, self._skipped, self._folds, self.rules, canonicalizer)
        database.before_commit.append(self._save)

    def begin_visit(self, visit: int) -> None:
        """Begin another visit, with a queue that is empty."""
        self._visit = visit
        self._folds.clear()

    def admit(self, url: str, key: bytes, host: int, *, is_fixed: bool) -> Skip | None:
        """How a request is skipped, because another one stands for its page.

        Args:
            url: As it would be requested.
            key: Its request fingerprint.
            host: Its number in the queue.
            is_fixed: Whether it is made whatever was learned.

        Returns:
            None where it is to be queued.

        Complexity: O(rules of its host); nothing where there are none.
        """
        address = self._address(url)
        if address is None or address.host not in self.rules:
            return None
        fold = self.rules.fold(address).digest()
        known = self._folds.get(fold)
        if known is None:
            self._folds.claim(fold, host, key)
        if known is None or known.key == key or is_fixed:
            return None
        rules = self._applied(address) or self._needed(address, known)
        if not rules or self._explores(rules, address, fold, known):
            return None
        rules[-1].saved += 1
        self._changed[rules[-1].id] = rules[-1]
        return Skip(rules[-1].id, fold)

    def skip(
        self, host: int, url: str, priority: int, request: bytes, key: bytes | None, skip: Skip
    ) -> None:
        """Note a request that is not made."""
        self._queue.push_skipped(host, url, priority, request, key, skip)

    def _address(self, url: str) -> Address | None:
        with suppress(MalformedUrl):
            address = Address.parse(self._canonical(url))
            if address.is_learnable:
                return address
        return None

    def _applied(self, address: Address) -> list[LearnedRule]:
        return [rule for rule in self.rules.of(address.host) if _changes(rule, address)]

    def _needed(self, address: Address, known: Fold) -> list[LearnedRule]:
        """The rules without any of which an address would not be taken for a known one."""
        url = self._skipped.url(known.key)
        other = None if url is None else self._address(url)
        return [] if other is None else self.rules.needed(address, other)

    def _explores(
        self, rules: list[LearnedRule], address: Address, fold: bytes, known: Fold
    ) -> bool:
        """Whether a URL that would be skipped is fetched all the same."""
        place, pattern = Place.of(address), self._learner.pattern(address)
        new_ground = [rule for rule in rules if rule.is_new_ground(place, pattern)]
        chosen = not known.is_explored and int.from_bytes(fold[:4]) % EXPLORED_OF == 0
        if not new_ground and not chosen:
            return False
        self._folds.mark_explored(fold)
        for rule in rules:
            rule.note_try(place, pattern)
            self._changed[rule.id] = rule
        rules[-1].explored += 1
        return True

    def observe(
        self, row: PageRow, kept_url: str | None = None, redirected: Sequence[str] = ()
    ) -> None:
        """Learn from a page that was stored.

        Args:
            row: Its row; one without a text of its own, or one that it repeats, says nothing.
            kept_url: URL of the page that it repeats.
            redirected: URLs that led to it.

        Complexity: O(hypotheses about its host).
        """
        address, said = self._address(row.canonical_url), said_of(row)
        if address is None:
            return
        if said is None:
            self._replace(address, row.key)
            return
        self._check(address, said, row)
        fold = self.rules.fold(address).digest()
        self._folds.note(fold, host_number(address.hostname), row.key, said, self._visit)
        self._note_redirected(redirected, fold, said)
        if row.verdict == TOO_SHORT or not row.words:
            return
        aliases = [*redirected, *filter(None, [row.declared_url])]
        believed = self._learner.observe(
            row.canonical_url,
            said,
            same_as=None if kept_url is None else self._canonical(kept_url),
            suggests=list(self._canonicals(aliases)),
            lookup=self._look_up,
        )
        while believed:
            believed = self._adopt(believed[0])

    def _note_redirected(self, urls: Sequence[str], fold: bytes, said: Said) -> None:
        """Note what was found where a URL led, unless too much leads there: a login, the home."""
        for url in urls:
            address = self._address(url)
            if address is None or address.host not in self.rules:
                continue
            own = self.rules.fold(address).digest()
            if own == fold:
                continue
            if self._learner.cluster_size(address.host, said.kept) > MOST_TRIES:
                self._replace(address, self._canonical.key(url))
            else:
                key = self._canonical.key(url)
                self._folds.note(own, host_number(address.hostname), key, said, self._visit)

    def note_filtered_redirect(self, source: str, target: str) -> None:
        """Let another request stand for a page whose own one led to what was asked for already."""
        one, other = self._address(source), self._address(target)
        if one is None or other is None or self.rules.fold(one) == self.rules.fold(other):
            return
        self._replace(one, self._canonical.key(source))

    def note_failure(self, url: str) -> None:
        """Let another request stand for a page whose own one gave no page."""
        address = self._address(url)
        if address is not None:
            self._replace(address, self._canonical.key(url))

    def _replace(self, address: Address, key: bytes) -> None:
        """Put one back that was skipped for the sake of a request that came to nothing."""
        if address.host not in self.rules:
            return
        fold = self.rules.fold(address).digest()
        known = self._folds.get(fold)
        if known is not None and known.said is None and known.tries < MOST_TRIES:
            self._folds.note_try(fold)
            self._skipped.put_one_back(fold)

    def _canonicals(self, urls: Iterable[str]) -> Iterator[str]:
        for url in urls:
            with suppress(MalformedUrl):
                yield self._canonical(url)

    def _look_up(self, address: Address) -> Said | None:
        known = self._folds.get(address.digest())
        return None if known is None or known.visit != self._visit else known.said

    def _check(self, address: Address, said: Said, row: PageRow) -> None:
        """Hold a page against the one that is known under the same address."""
        known = self._folds.get(self.rules.fold(address).digest())
        if known is None or known.said is None or known.key == row.key:
            return
        if known.visit != self._visit:  # it may have changed since
            return
        agree, needed = agreement(known.said, said), self._needed(address, known)
        if agree:
            for rule in needed:
                rule.positives += 1
                self._changed[rule.id] = rule
        elif agree is False and needed:
            # Of several, the one for which the least speaks; the others show by themselves.
            weakest = min(needed, key=lambda rule: (rule.positives, -rule.id))
            other = self._skipped.url(known.key) or "another page"
            reason = f"{row.url} is another page than {other}"
            self._revoke(weakest, reason, CounterExample(row.id, known.said.page))

    def _adopt(self, proposal: Proposal) -> list[Proposal]:
        """Let a rule hold; what is believed because of it."""
        evidence = self._learner.take(proposal).evidence
        rule = self._store.add(*proposal, origin="learned")
        rule.positives = len(evidence.contents)
        rule.patterns = dict(evidence.patterns)
        rule.values = {shown_form(form) for form in evidence.forms()}
        for covered in self.rules.covered(*proposal):
            self.rules.remove(covered)
            rule.saved, rule.explored = rule.saved + covered.saved, rule.explored + covered.explored
            self._store.end(covered, REVOKED, f"covered by rule {rule.id}")
        self.rules.add(rule)
        self._changed[rule.id] = rule
        return self._fold_again(rule, is_wider=True)

    def _revoke(self, rule: LearnedRule, reason: str, example: CounterExample) -> None:
        self.rules.remove(rule)
        self._store.end(rule, REVOKED, reason)
        self._changed.pop(rule.id, None)
        self._learner.refute(rule, example)
        for proposal in self._fold_again(rule, is_wider=False):
            self._adopt(proposal)

    def _fold_again(self, rule: LearnedRule, *, is_wider: bool) -> list[Proposal]:
        for host in rule.hosts:
            self.refolding.begin(host, puts_back=not is_wider)
        return [proposal for host in rule.hosts for proposal in self._learner.fold_again(host)][:1]

    def save_refuted(self) -> None:
        """Store what spoke for rules that do not hold, and what against: for who asks why."""
        refuted = sorted(self._learner.refuted(), key=lambda known: -known.positives)
        told = [_refuted_json(known) for known in refuted[:MOST_TOLD] if known.example.page]
        self._database.set_meta(REFUTED, json.dumps(told))

    def _save(self) -> None:
        for rule in self._changed.values():
            self._store.save(rule)
        self._changed.clear()


def _refuted_json(known: Refuted) -> dict[str, object]:
    rule = stored(known.context, known.transform)
    page, other = known.example.page, known.example.other
    return {"rule": rule, "texts": known.positives, "page": page, "other": other}


def _changes(rule: LearnedRule, address: Address) -> bool:
    return rule.apply(Place.of(address)) != address
