"""Put learned rules on trial: adopt them, test them on each page, narrow and revoke them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from crawler.frontier.order import host_number
from crawler.pages.page_row import url_of
from crawler.storage import meta_names
from crawler.storage.states import COVERED, FORGOTTEN, REVOKED, RuleStatus
from crawler.url_rules.learned_rule import FetchedForms, LearnedRule, overlap, shown_value
from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.evidence import CounterExample, agreement
from crawler.url_rules.learning.hypothesis import MAX_EXCEPTIONS
from crawler.url_rules.learning.transforms import Compound, about, is_open, parts
from crawler.url_rules.learning.versions import MIN_TEXTS, swap, takes_names
from crawler.url_rules.rule_files import stored
from crawler.url_rules.url_groups import forms_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from crawler.pages.page_row import PageRow
    from crawler.url_rules.learned_rule import Form, Part
    from crawler.url_rules.learning.context import Context
    from crawler.url_rules.learning.evidence import PageContent, RuleEvidence
    from crawler.url_rules.learning.hypothesis import Hypothesis, Refuted, RulePart
    from crawler.url_rules.learning.proposals import Proposal
    from crawler.url_rules.rule_state import RuleState

MAX_TOLD = 50
"""Report at most this many rules that do not hold."""

MAX_REVOKED = 5
"""Learn nothing more of a host after this many wrong rules.

Pages that seem to be one there often are not, and each wrong rule costs a check of all that is
queued.
"""

_CHOOSES = "names in this place of the URL choose versions of a page, such as its language"


class _Met(NamedTuple):
    """Another page that the rules take for the one that was fetched."""

    address: Address
    url: str
    page: int
    agrees: bool


class RuleTrial:
    """Tracks which rules hold, and revokes those that a page proves wrong.

    Args:
        regroup: Called with the hosts of a rule that begins or ceases to hold.
    """

    def __init__(self, state: RuleState, regroup: Callable[[Iterable[str]], None]) -> None:
        self._state = state
        self._rules = state.rules
        self._store = state.store
        self._learner = state.learner
        self._regroup = regroup
        self._matters: list[tuple[frozenset[str], Context, CounterExample]] = []
        self._forgotten = self._store.in_states(FORGOTTEN)
        self._wrong: dict[str, set[tuple[str | None, tuple[str, ...]]]] = {}
        for proposal in self._store.in_states(REVOKED, FORGOTTEN):
            ended, is_wrong = LearnedRule(0, *proposal), proposal not in self._forgotten
            ended.positives = MIN_TEXTS * is_wrong  # at least: it was believed
            self._learner.refute(ended, CounterExample(0, 0))
            if is_wrong:
                self._note_wrong(ended)

    def is_given_up(self, host: str) -> bool:
        """Return whether nothing more is learned of a host."""
        return len(self._wrong.get(host, ())) >= MAX_REVOKED

    def _note_wrong(self, rule: LearnedRule) -> None:
        """Count a wrong rule; several about one argument, or one place of the path, count once."""
        swapped = swap(rule.transform)
        what = rule.transform if swapped is None else swapped.spot
        names = about(rule.transform) or (str(what),)
        for host in rule.hosts:
            self._wrong.setdefault(host, set()).add((rule.context.pattern, names))

    def take(self, proposals: Iterable[Proposal], origin: str) -> int:
        """Adopt rules of another crawl; return how many are new.

        A rule that held here once, and was revoked or forgotten, is not adopted again.

        Args:
            proposals: The rules.
            origin: Their source, as people read it.
        """
        known, taken = set(self._store.in_states(*RuleStatus)), 0
        for proposal in proposals:
            if proposal in known or self._rules.covers(*proposal):
                continue
            rule = self._store.add(*proposal, origin=origin)
            self._store.note_change(rule)
            self._rules.add(rule)
            self._regroup(rule.hosts)
            known.add(proposal)
            taken += 1
        return taken

    def adopt(self, believed: list[Proposal]) -> None:
        while believed:
            believed = self._adopt(believed[0])

    def _adopt(self, proposal: Proposal) -> list[Proposal]:
        """Adopt a rule; return the rules that are believed because of it."""
        if self._is_contradicted(proposal):
            return self._learner.believed(proposal[0].host)
        head_start = self._learner.head_start(self._learner.hypothesis(proposal))
        hypothesis = self._learner.take(proposal)
        proposed = [(proposal[0], part) for part in parts(proposal[1])]
        if any(overlap(one, other) for one in proposed for other in self._forgotten):
            self._learner.refute(LearnedRule(0, *proposal), CounterExample(0, 0))
            return []
        rules = [part for part in hypothesis.parts() if not self._rules.covers(*part[:2])]
        begun = [self._begin(part, hypothesis.evidence, head_start) for part in rules]
        return self._regroup_again(begun[0]) if begun else []

    def _begin(self, part: RulePart, evidence: RuleEvidence, head_start: str) -> LearnedRule:
        """Let a rule hold, in place of those that it covers."""
        context, transform, values = part
        rule = self._store.add(context, transform, origin="learned")
        rule.positives, rule.head_start = evidence.texts, head_start
        rule.patterns, rule.clusters = dict(evidence.clusters), set(evidence.clusters)
        rule.values = [set(map(shown_value, some)) for some in values]
        for covered in self._rules.covered(context, transform):
            self._rules.remove(covered)
            rule.saved, rule.explored = rule.saved + covered.saved, rule.explored + covered.explored
            self._store.end(covered, COVERED, f"covered by rule {rule.id}")
        self._rules.add(rule)
        self._store.note_change(rule)
        return rule

    def drop_doubted(self, host: str) -> None:
        """Revoke rules that are doubtful since others of their kind were wrong."""
        while doubted := self._learner.doubted(host):
            self.revoke(doubted[0], _CHOOSES, CounterExample(0, 0))

    def _is_contradicted(self, proposal: Proposal) -> bool:
        """Return whether what ended other rules contradicts a rule that is believed."""
        hypothesis = self._learner.hypothesis(proposal)
        for names, kind, example in self._matters:
            if not names.isdisjoint(about(hypothesis.transform)) and _speaks_of(hypothesis, kind):
                hypothesis.object(kind, example)
        for rule in self._rules.of(hypothesis.context.host):
            if rule.is_like(*proposal):  # its exceptions are still exceptions
                for kind in rule.context.apart_from:
                    hypothesis.object(kind, CounterExample(0, 0))
        return not self._learner.is_believed(proposal)

    def meet(self, address: Address, content: PageContent, row: PageRow, visit: int) -> None:
        """Compare a page that comes in with the one that is known under the same address.

        Each rule that makes them one is right once more, or proved wrong.
        """
        met = self._met(address, content, row, visit)
        if met is None:
            return
        if met.agrees:
            self._note_form(address, met.address, row.id)
            self._count(address, met.address)
        else:
            self._contradict(address, met, row)

    def meet_again(self, address: Address, content: PageContent, row: PageRow, visit: int) -> None:
        """Compare a page that was stored before the rules changed; its trials are counted again."""
        met = self._met(address, content, row, visit)
        if met is not None and met.agrees:
            self._note_form(address, met.address, max(row.id, met.page))
        elif met is not None:
            self._contradict(address, met, row)

    def _met(self, address: Address, content: PageContent, row: PageRow, visit: int) -> _Met | None:
        """Return the page that is known under the same address, if the two can be compared."""
        known = self._state.groups.get(self._rules.apply(address).digest)
        if known is None or known.content is None or known.content.page == row.id:
            return None
        if known.visit != visit:  # it may have changed since
            return None
        agrees = agreement(known.content, content)
        url = None if agrees is None else url_of(self._state.database.read, known.content.page)
        other = None if url is None else self._state.addresses.learnable(url)
        if agrees is None or url is None or other is None or other == address:
            return None
        return _Met(other, url, known.content.page, agrees)

    def meet_redirect(self, sources: Iterable[str], target: str) -> None:
        """Compare the URLs that were redirected with a URL that was requested before."""
        other = self._state.addresses.learnable(target)
        for url in sources:
            address = self._state.addresses.learnable(url)
            if address is not None and other is not None:
                self._note_form(address, other)

    def recount(self, numbers: Collection[int]) -> None:
        """Forget the trials of some hosts' rules: each page that was fetched is met again.

        Args:
            numbers: The numbers of the hosts' names, which hosts at several ports share.
        """
        for rule in self._rules:
            names = (Address.parse(f"http://{host}/").hostname for host in rule.hosts)
            if not {host_number(name) for name in names}.isdisjoint(numbers):
                rule.tried.clear()
                self._store.note_change(rule)

    def _note_form(self, address: Address, other: Address, page: int | None = None) -> None:
        """Remember the forms in which a page was fetched, so that none of them is tried again.

        Args:
            address: The URL that was fetched.
            other: A URL that is the same after the rules, and led to the same.
            page: Number of the later capture of the two; None: of this moment.
        """
        after_rules = self._rules.apply(address)
        form, first = self._rules.form(address), self._rules.form(other)
        if form == first or after_rules != self._rules.apply(other):
            return
        known = self._state.groups.get(after_rules.digest)
        fetched = FetchedForms([first, *forms_of("" if known is None else known.tested)])
        if known is None or form in fetched:
            return
        self._state.groups.note_tested(after_rules.digest, {form, *fetched})
        self._note_proved(fetched.gained(form) - fetched.proved, page)

    def _note_proved(self, parts: Iterable[Part], page: int | None) -> None:
        rules = {rule.id: rule for rule in self._rules}
        counted = {(n, *rules[n].counted_as(thing, value)) for n, thing, value in parts}
        for number, thing, value in counted:
            rule = rules[number]
            since = max(rule.since, rules[-thing].since if -thing in rules else 0)
            if page is None or page > since:
                rule.tried[thing, value] += 1
                self._store.note_change(rule)

    def _count(self, address: Address, other: Address) -> None:
        for rule in self._rules.needed(address, other):
            rule.positives += 1
            if len(rule.clusters) < MAX_TOLD:
                rule.clusters.add(self._cluster(rule, address).cluster)
            self._store.note_change(rule)

    def _contradict(self, address: Address, met: _Met, row: PageRow) -> None:
        """Revoke rules until two pages are not one any more."""
        reason = f"{row.url} is another page than {met.url}"
        example = CounterExample(row.id, met.page)
        if len(self._rules.behind(address, met.address)) > 1:
            self._ask_each_form(address)
        while self._rules.apply(address) == self._rules.apply(met.address):
            blamed = self._rules.blamed(address, met.address)
            if blamed is None:
                return  # they are one without any rule: the page has changed
            for rule in self._rules.behind(address, met.address):
                # It may be that one: the least proven need not be.
                self._state.start_over(rule, row.id)
            alike = self._about_the_same(blamed, address)
            self._object(blamed, address, reason, example)
            for other in alike:
                if other in self._rules.of(other.context.host):
                    self._object(other, address, f"like rule {blamed.id}: {reason}", example)

    def _ask_each_form(self, address: Address) -> None:
        """Fetch a page in every form: one of several rules is wrong about it, or all are."""
        forms: dict[Form | None, int] = {}
        for number, url in self._state.skipped.of_group(self._rules.apply(address).digest):
            other = self._state.addresses.learnable(url)
            form = None if other is None else self._rules.form(other)
            forms.setdefault(form, number)
        self._state.skipped.put_back(list(forms.values()), for_good=True)

    def _about_the_same(self, rule: LearnedRule, address: Address) -> list[LearnedRule]:
        """Return the rules about other values of an argument: they may be wrong there too."""
        if not rule.has_few_values:
            return []
        names = set(about(rule.transform))
        return [
            other
            for other in self._rules.of(rule.context.host)
            if other is not rule
            and other.has_few_values
            and not names.isdisjoint(about(other.transform))
            and self._may_speak_of(other, address)
        ]

    def _may_speak_of(self, rule: LearnedRule, address: Address) -> bool:
        place = self._rules.seen_by(rule, address)
        return replace(rule.context, where=None).holds(place, about(rule.transform))

    def _object(
        self, rule: LearnedRule, address: Address, reason: str, example: CounterExample
    ) -> None:
        """Exclude a kind of page from a rule, or revoke the rule if too few kinds are left."""
        kind = self._cluster(rule, address)
        if rule.has_few_values:
            self._matters.append((frozenset(about(rule.transform)), kind, example))
        context = rule.context.apart(kind)
        exceptions = {other.cluster for other in context.apart_from}
        others = len(rule.clusters - exceptions)
        is_narrow = rule.context.pattern is not None or takes_names(rule.transform)
        # What a later rule makes of an address may be of another kind: it has to go as a whole.
        is_vain = kind in rule.context.apart_from
        if is_narrow or is_vain or len(exceptions) > min(MAX_EXCEPTIONS, others):
            self.revoke(rule, reason, example)
            return
        rule.context = context
        self._state.start_over(rule, example.page)
        self._rules.forget_ways()
        self._store.change(rule)
        for proposal in self._regroup_again(rule):
            self._adopt(proposal)

    def _cluster(self, rule: LearnedRule, address: Address) -> Context:
        """Return the kind of page that an address is, for a rule."""
        place = self._rules.seen_by(rule, address)
        pattern = self._learner.pattern_of(place)
        return rule.context.at(place, pattern, about(rule.transform))

    def let_go(self, proposal: Proposal, status: RuleStatus, reason: str) -> None:
        """End a rule that was found wrong elsewhere, or that a better one covers there."""
        context, _ = proposal
        held = list(self._rules.of(context.host))
        for rule in [rule for rule in held if (rule.context, rule.transform) == proposal]:
            if status == COVERED:
                self._rules.remove(rule)
                self._store.end(rule, COVERED, reason)
                self._regroup(rule.hosts)
            else:
                self.revoke(rule, reason, CounterExample(0, 0))

    def revoke(self, rule: LearnedRule, reason: str, example: CounterExample) -> None:
        """Revoke a rule that is wrong, and reconsider the requests that it skipped."""
        self._rules.remove(rule)
        self._store.end(rule, REVOKED, reason)
        self._learner.refute(rule, example)
        self._note_wrong(rule)
        for proposal in self._regroup_again(rule):
            self._adopt(proposal)

    def _regroup_again(self, rule: LearnedRule) -> list[Proposal]:
        self._regroup(rule.hosts)
        hosts = self._rules.together(rule.hosts)
        if any(map(self.is_given_up, hosts)):
            return []
        return [proposal for host in hosts for proposal in self._learner.regroup_again(host)][:1]

    def save_refuted(self) -> None:
        """Store the evidence for and against rules that do not hold, for ``crawl-once rules``."""
        worth_telling = filter(_is_worth_telling, self._learner.refuted())
        refuted = sorted(worth_telling, key=lambda known: -known.positives)
        told = [_refuted_json(known) for known in refuted[:MAX_TOLD] if known.example.page]
        self._state.database.set_meta(meta_names.REFUTED, json.dumps(told))


def _speaks_of(hypothesis: Hypothesis, kind: Context) -> bool:
    """Return whether a rule would hold for some pages of a kind."""
    context = hypothesis.context
    everywhere = replace(context, where=None, apart_from=())
    return everywhere.covers(kind) and kind not in context.apart_from


def _is_worth_telling(known: Refuted) -> bool:
    """Return whether to report a rule; not if one text has two of its values, which may be ids."""
    is_stored = not isinstance(known.transform, Compound)
    return is_stored and (known.positives > 1 or is_open(known.transform))


def _refuted_json(known: Refuted) -> dict[str, object]:
    rule = stored(known.context, known.transform)
    page, other = known.example.page, known.example.other
    return {"rule": rule, "texts": known.positives, "page": page, "other": other}
