"""The learned rules at work: what is skipped, what is tried, what proves them wrong."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Literal

from crawler.frontier.examination import Examination
from crawler.frontier.folds import Folds, said_of
from crawler.frontier.late_requests import LateRequests
from crawler.frontier.order import Load, QueuedRequest, host_number
from crawler.frontier.refolding import Refolding
from crawler.frontier.rule_report import REFUTED
from crawler.frontier.rule_store import REVOKED, RuleStore, stored
from crawler.frontier.ruled_addresses import RuledAddresses
from crawler.frontier.skipped import TRY, Skip, SkippedRequests
from crawler.frontier.url_traps import UrlTraps
from crawler.pages.verdicts import TOO_SHORT
from crawler.urls.errors import MalformedUrl
from crawler.urls.learning.context import Context, Place
from crawler.urls.learning.evidence import CounterExample, Said, agreement
from crawler.urls.learning.hypothesis import MOST_EXCEPTIONS
from crawler.urls.learning.learner import RuleLearner
from crawler.urls.learning.transforms import is_open
from crawler.urls.rules import LearnedRule, RuleSet, about, overlap, shown_value, weakest
from crawler.urls.traps import CLOSED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from crawler.frontier.folds import Fold
    from crawler.frontier.queue import RequestQueue
    from crawler.pages.database import Database
    from crawler.pages.page import PageRow
    from crawler.urls.canonical import Canonicalizer
    from crawler.urls.learning.address import Address
    from crawler.urls.learning.hypothesis import LearningPolicy, Refuted
    from crawler.urls.learning.proposals import Proposal

MOST_TOLD = 50
"""So many rules that do not hold are told of."""

EXPLORED_OF = 20
"""Of so many pages that have other URLs, one is fetched under a second URL all the same."""

EXPLORED_OF_IDS = 40
"""Of so many where rules drop nothing but ids, which no page has twice."""

MOST_REVOKED = 5
"""Of a host on which so many rules turned out to be wrong nothing more is learned: what seems to be
one page there often is not, and each wrong rule costs a look at all that is queued."""

_DIGESTS = 2**32


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
        self._forgotten = self._store.forgotten()
        self._changed: dict[int, LearnedRule] = {}
        self._revoked: Counter[str] = Counter()
        for proposal in self._store.ended():
            ended = LearnedRule(0, *proposal)
            self._learner.refute(ended, CounterExample(0, 0))
            if proposal not in self._forgotten:
                self._revoked.update(ended.hosts)
        self.traps = UrlTraps(database, policy.cluster_budget)
        for cluster in self.traps.reopened:
            self._skipped.put_back_rule(-cluster)
        addresses = RuledAddresses(canonicalizer, self.rules, self._skipped)
        self._addresses = addresses
        self._late = LateRequests(queue, self._skipped, self.traps, addresses)
        self._examination = Examination(
            self.rules, self._skipped, self._folds, addresses, self._changed
        )
        self.refolding = Refolding(
            database, self._skipped, self._folds, self.rules, canonicalizer, self
        )
        database.before_commit.append(self._save)

    def begin_visit(self, visit: int) -> None:
        """Begin another visit; the queue of the last one is about to be emptied."""
        saved = self._skipped.counts()
        for rule in self.rules:
            rule.saved += saved.get(rule.id, 0)
            self._changed[rule.id] = rule
        self._visit = visit
        self._folds.clear()
        self.traps.clear()

    def take(self, proposals: Iterable[Proposal], origin: str) -> int:
        """Let rules of another crawl hold; say how many are new.

        What held here once, and was revoked or forgotten, is not taken again.

        Args:
            proposals: The rules.
            origin: Where they come from, as people read it.
        """
        known, taken = self._store.known(), 0
        for proposal in proposals:
            if proposal in known or self.rules.covers(*proposal):
                continue
            rule = self._store.add(*proposal, origin=origin)
            self._changed[rule.id] = rule
            self.rules.add(rule)
            self.refolding.begin(rule.hosts)
            known.add(proposal)
            taken += 1
        return taken

    def admit(
        self, url: str, key: bytes, host: int, *, is_fixed: bool
    ) -> Skip | Literal["try"] | None:
        """How a request is skipped, because another one stands for its page.

        Args:
            url: As it would be requested.
            key: Its request fingerprint.
            host: The number of the line in which it stands in the queue.
            is_fixed: Whether it is made whatever was learned.

        Returns:
            None where it is to be queued; TRY where no rule may skip it from then on.

        Complexity: O(rules of its host); nothing where there are none.
        """
        address = self._addresses.parsed(url)
        if address is None:
            return None
        if address.host not in self.rules or not address.is_learnable:
            return None if is_fixed else self._late.trapped(address)
        if host != host_number(address.hostname):
            # It stands in the line of another name: it would not be found where rules change.
            return None if is_fixed else self._late.trapped(self.rules.fold(address))
        return self.decide(address, key, host, is_fixed=is_fixed)

    def decide(
        self, address: Address, key: bytes, host: int, *, is_fixed: bool
    ) -> Skip | Literal["try"] | None:
        """As ``admit``, of an address."""
        folded = self.rules.fold(address)
        fold = folded.digest()
        known = self._folds.get(fold)
        if known is None:
            self._folds.claim(fold, host, key)
        elif known.key != key and known.wants_another:
            self._folds.note_try(fold)
            return TRY
        if is_fixed:
            return None
        rules = [] if known is None else self._skipping(address, fold, key, known)
        if known is None or not rules:
            return self._late.trapped(folded)
        return TRY if self.explores(rules, address, fold, known) else Skip(weakest(rules).id, fold)

    def _skipping(
        self, address: Address, fold: bytes, key: bytes, known: Fold
    ) -> Sequence[LearnedRule]:
        """The rules by which a known request stands for another one; none where it does not."""
        if known.key == key:
            return ()
        standing = self._addresses.standing(known)
        if standing is None or not self.rules.may_stand_for(standing, address):
            self._folds.stand(fold, key)
            return ()
        return self.rules.changing(address) or self.rules.changing(standing)

    def lease(self, load: Load) -> QueuedRequest | None:
        """The next request that is to be made now.

        Where none waits, what is left to fold may put one back. Where some wait and no host has
        room, that can wait too: all of it at once may take long.
        """
        queued = self._late.lease(load)
        while queued is None and not len(self._queue) and self.refolding.is_pending:
            self.refolding.step()
            queued = self._late.lease(load)
        return queued

    def priority(self, url: str, wanted: int) -> int:
        """The priority with which a URL is queued."""
        return self._late.priority(url, wanted)

    def try_more(self) -> bool:
        """Where nothing waits, let something wait to try rules; say whether there is anything."""
        return self._examination.try_more()

    def skip(
        self, host: int, url: str, priority: int, request: bytes, key: bytes | None, skip: Skip
    ) -> None:
        """Note a request that is not made."""
        self._queue.push_skipped(host, url, priority, request, key, skip)

    def explores(
        self, rules: Sequence[LearnedRule], address: Address, fold: bytes, known: Fold
    ) -> bool:
        """Whether a request that rules would skip is made all the same, to try them."""
        place, folded = Place.of(address), Place.of(self.rules.fold(address))
        pattern = f"{self._learner.pattern_of(folded.address)}?{'&'.join(sorted(folded.names))}"
        new_ground = [rule for rule in rules if rule.is_new_ground(place, pattern)]
        is_of_ids = all(rule.has_many_values for rule in rules)
        of = EXPLORED_OF_IDS if is_of_ids else EXPLORED_OF
        chosen = not known.is_explored and int.from_bytes(fold[:4]) * of < _DIGESTS
        if not new_ground and not chosen:
            return False
        self._folds.mark_explored(fold)
        for rule in rules:
            rule.note_try(place, pattern)
            self._changed[rule.id] = rule
        weakest(rules).explored += 1
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
        address, said = self._addresses.parsed(row.canonical_url), said_of(row)
        if address is not None and not address.is_learnable:
            self._note_newness(address, row.verdict)
        if said is None:
            self._replace_each([*redirected, row.canonical_url])
            return
        if address is None or not address.is_learnable:
            self._note_redirected(redirected, None)
            return
        self._check(address, said, row)
        folded = self.rules.fold(address)
        fold = folded.digest()
        self._folds.note(fold, host_number(address.hostname), row.key, said, self._visit)
        self._note_newness(folded, row.verdict)
        self._note_redirected(redirected, folded)
        if row.verdict == TOO_SHORT or not row.words:
            return
        aliases = [*redirected, *filter(None, [row.declared_url])]
        if self._revoked[address.host] >= MOST_REVOKED:
            return
        believed = self._learner.observe(
            row.canonical_url,
            said,
            same_as=None if kept_url is None else self._canonical(kept_url),
            same_links=self._links_of(said.kept),
            suggests=list(self._canonicals(aliases)),
            lookup=self._look_up,
        )
        while believed:
            believed = self._adopt(believed[0])

    def _note_newness(self, folded: Address, verdict: str) -> None:
        before = self.traps.note(folded, verdict)
        if before == CLOSED:
            self._skipped.put_back_rule(-self.traps.cluster(folded).id)

    def _note_redirected(self, urls: Sequence[str], folded: Address | None) -> None:
        """Let others stand for URLs that led elsewhere: to a login perhaps, or the home page."""
        addresses = [(url, self._addresses.learnable(url)) for url in urls]
        self._replace_each(
            url for url, one in addresses if one is not None and self.rules.fold(one) != folded
        )

    def note_filtered_redirect(self, sources: Sequence[str], target: str) -> None:
        """Let another request stand for a page whose own one led to what was asked for already.

        Where that was only skipped, for the sake of what leads there now, it is the other one.
        """
        one, others = self._addresses.learnable(target), []
        for url in sources:
            address = self._addresses.learnable(url)
            if one is None or address is None or self.rules.fold(address) != self.rules.fold(one):
                others.append(url)
            else:
                self._skipped.put_key_back(self._canonical.key(target))
        self._replace_each(others)

    def note_failure(self, urls: Iterable[str]) -> None:
        """Let another request stand for a page whose own one gave no page.

        Args:
            urls: Where it was to be, and those that led there.
        """
        self._replace_each(urls)

    def _replace_each(self, urls: Iterable[str]) -> None:
        """Let others stand for some URLs; one for several that are the same after the rules."""
        folded: dict[Address, tuple[Address, str]] = {}
        for url in urls:
            address = self._addresses.learnable(url)
            if address is not None and address.host in self.rules:
                folded.setdefault(self.rules.fold(address), (address, url))
        for address, url in folded.values():
            self._replace(address, self._canonical.key(url))

    def _replace(self, address: Address, key: bytes) -> None:
        """Put one back that was skipped for the sake of a request that came to nothing.

        Where none was skipped yet, the next one that is met is queued.
        """
        fold = self.rules.fold(address).digest()
        self._folds.claim(fold, host_number(address.hostname), key)
        self._folds.note_failure(fold, self._visit)
        known = self._folds.get(fold)
        if known is not None and known.wants_another and self._skipped.put_one_back(fold):
            self._folds.note_try(fold)

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
        if known is None or known.said is None or known.said.page == row.id:
            return
        if known.visit != self._visit:  # it may have changed since
            return
        agree, other_url = agreement(known.said, said), self._url_of(known.said.page)
        other = None if other_url is None else self._addresses.learnable(other_url)
        if other is None or other == address or agree is None:
            return
        if agree:
            for rule in self.rules.needed(address, other):
                rule.positives += 1
                if len(rule.clusters) < MOST_TOLD:
                    rule.clusters.add(self._cluster(rule, address).cluster)
                self._changed[rule.id] = rule
            return
        self.contradicts(address, said, row)

    def contradicts(self, address: Address, said: Said, row: PageRow) -> None:
        """A page was found at whose address, after the rules, another one stands."""
        known = self._folds.get(self.rules.fold(address).digest())
        other_url = None if known is None or not known.said else self._url_of(known.said.page)
        other = None if other_url is None else self._addresses.learnable(other_url)
        if known is None or known.said is None or other is None or other == address:
            return
        reason = f"{row.url} is another page than {other_url}"
        example = CounterExample(row.id, known.said.page)
        while self.rules.fold(address) == self.rules.fold(other):
            blamed = self.rules.blamed(address, other)
            if blamed is None:
                return  # they are one without any rule: the page has changed
            self._object(blamed, address, reason, example)

    def _object(
        self, rule: LearnedRule, address: Address, reason: str, example: CounterExample
    ) -> None:
        """Take a kind of page out of a rule that goes on to hold for others, or let go of it."""
        kind = self._cluster(rule, address)
        context = rule.context.apart(kind)
        exceptions = {other.cluster for other in context.apart_from}
        others = len(rule.clusters - exceptions)
        is_narrow = rule.context.pattern is not None
        # What a later rule makes of an address may be of another kind: it has to go as a whole.
        is_vain = kind in rule.context.apart_from
        if is_narrow or is_vain or len(exceptions) > min(MOST_EXCEPTIONS, others):
            self._revoke(rule, reason, example)
            return
        rule.context = context
        self.rules.forget_ways()
        self._store.change(rule)
        for proposal in self._fold_again(rule):
            self._adopt(proposal)

    def _cluster(self, rule: LearnedRule, address: Address) -> Context:
        """The kind of pages that an address is of, for a rule."""
        place = Place.of(self.rules.seen_by(rule, address))
        pattern = self._learner.pattern_of(place.address)
        return rule.context.at(place, pattern, about(rule.transform))

    def _links_of(self, page: int) -> int | None:
        row = self._database.read("SELECT links FROM pages WHERE id = ?", (page,)).fetchone()
        return None if row is None else int(row[0])

    def _url_of(self, page: int) -> str | None:
        row = self._database.read("SELECT url FROM pages WHERE id = ?", (page,)).fetchone()
        return None if row is None else str(row[0])

    def _adopt(self, proposal: Proposal) -> list[Proposal]:
        """Let a rule hold; what is believed because of it."""
        hypothesis = self._learner.take(proposal)
        if any(overlap(proposal, other) for other in self._forgotten):
            self._learner.refute(LearnedRule(0, *proposal), CounterExample(0, 0))
            return []
        evidence, context = hypothesis.evidence, hypothesis.context
        rule = self._store.add(context, hypothesis.oriented, origin="learned")
        rule.positives = evidence.texts
        rule.patterns, rule.clusters = dict(evidence.clusters), set(evidence.clusters)
        rule.values = [set(map(shown_value, values)) for values in evidence.values]
        for covered in self.rules.covered(context, hypothesis.transform):
            self.rules.remove(covered)
            rule.saved, rule.explored = rule.saved + covered.saved, rule.explored + covered.explored
            self._store.end(covered, REVOKED, f"covered by rule {rule.id}")
        self.rules.add(rule)
        self._changed[rule.id] = rule
        return self._fold_again(rule)

    def _revoke(self, rule: LearnedRule, reason: str, example: CounterExample) -> None:
        self.rules.remove(rule)
        self._store.end(rule, REVOKED, reason)
        self._changed.pop(rule.id, None)
        self._learner.refute(rule, example)
        self._revoked.update(rule.hosts)
        for proposal in self._fold_again(rule):
            self._adopt(proposal)

    def _fold_again(self, rule: LearnedRule) -> list[Proposal]:
        self.refolding.begin(rule.hosts)
        hosts = self.rules.together(rule.hosts)
        if any(self._revoked[host] >= MOST_REVOKED for host in hosts):
            return []
        return [proposal for host in hosts for proposal in self._learner.fold_again(host)][:1]

    def save_refuted(self) -> None:
        """Store what spoke for rules that do not hold, and what against: for who asks why."""
        worth_telling = filter(_is_worth_telling, self._learner.refuted())
        refuted = sorted(worth_telling, key=lambda known: -known.positives)
        told = [_refuted_json(known) for known in refuted[:MOST_TOLD] if known.example.page]
        self._database.set_meta(REFUTED, json.dumps(told))

    def _save(self) -> None:
        for rule in self._changed.values():
            self._store.save(rule)
        self._changed.clear()


def _is_worth_telling(known: Refuted) -> bool:
    """Of two values that one text has once, such as two ids of what is not there, nobody asks."""
    return known.positives > 1 or is_open(known.transform)


def _refuted_json(known: Refuted) -> dict[str, object]:
    rule = stored(known.context, known.transform)
    page, other = known.example.page, known.example.other
    return {"rule": rule, "texts": known.positives, "page": page, "other": other}
