"""Validate rules at the end of a crawl on further pages: a part of a URL may matter on few."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import groupby
from math import ceil, prod
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import xxhash

from crawler.url_rules.learned_rule import (
    ALL_TRIED,
    NOT_EXAMINED,
    OF_IDS,
    OTHER_VALUES,
    PROVEN,
    UNDECIDED,
    FetchedForms,
)
from crawler.url_rules.learning.transforms import ReplaceValues, about, is_open
from crawler.url_rules.skipped import START
from crawler.url_rules.url_groups import forms_of
from crawler.url_rules.value_counts import ValueSurvey

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from crawler.url_rules.learned_rule import Form, LearnedRule, Proof
    from crawler.url_rules.rule_state import RuleState
    from crawler.url_rules.skipped import SkippedCandidate

MAX_ASKED = 2
"""Request at most this many times the pages that prove a rule, if some cannot be compared."""

SLICE = 500
"""Skipped requests that are checked between two pages: some 50 ms, 180 where 120 rules hold."""

_MAX_FORMS = 200_000
"""Remember the forms of this many skipped requests: 100 bytes each."""

ENOUGH = 118
"""Pages under two URLs each after which a rule without a counterexample is proved.

It holds in 39 of 40 cases then, with 95 % certainty.
"""

MIN_OF_A_VALUE = 59
"""Pages on which each of several values of an argument is tried: 19 of 20 cases."""

MAX_OF_AN_ARGUMENT = 590
"""Pages on which the values of one argument are tried, where it has more than ten of them."""

EXCEPTIONS = 0.02
"""The share of a host's skipped requests that may lead to pages of their own and are found."""

DOUBT = 0.01
"""The probability that exceptions of that share are not found."""


def pages_wanted(values: int) -> int:
    """Return on how many pages each value of an argument is to be tried.

    One of several values may be the default of the page, which has the same text wherever the
    others matter.
    """
    least = min(MIN_OF_A_VALUE, MAX_OF_AN_ARGUMENT // values)
    return max(ceil(ENOUGH / max(1, values - 1)), least)


def trials_of_all(cases: int) -> int:
    """Return how many of some requests find an exception, where one in fifty is one.

    Drawn without repetition, with a probability of at least 99 %: the chance to miss all of ``e``
    exceptions in ``k`` of ``n`` is at most ``(1 - k / n) ** e``.

    >>> trials_of_all(100), trials_of_all(315), trials_of_all(1_000_000)
    (90, 169, 231)
    """
    exceptions = int(EXCEPTIONS * cases)
    return ceil(cases * (1 - DOUBT ** (1 / exceptions))) if exceptions else cases


def growth(cases: Mapping[int, int], wanted: Mapping[int, int]) -> float:
    """Return by how much the trials of a host's rules are to grow so that they suffice for all.

    Args:
        cases: The number of requests that each rule skips or has tried.
        wanted: The number of trials that each rule wants for itself.
    """
    own = sum(min(wanted[rule], count) for rule, count in cases.items())
    return max(1.0, trials_of_all(sum(cases.values())) / own) if own else 1.0


class _Trial(NamedTuple):
    """A skipped request, and the proofs that it gives of rules, or that one of them is wrong."""

    request: SkippedCandidate
    proofs: list[tuple[LearnedRule, Proof]]


class Validation:
    """Tests rules on more of the pages that they skip, value by value.

    A request is a trial of each rule by which it differs from the URLs of its page that were
    fetched; a form in which the page was fetched is not tried again. Pages from which a rule was
    learned are trials too. Rules that drop ids of sessions are not validated, but for
    values that may choose a form of a page: no site has a page for each session.
    """

    def __init__(self, state: RuleState) -> None:
        self._state = state
        self._rules = state.rules
        self._after: tuple[bytes, int] | None = None
        self._groups: set[bytes] = set()
        self._coming: Counter[tuple[int, Proof]] = Counter()
        self._is_stale = self._is_news = True
        self._survey = ValueSurvey(state)
        self._version = 0
        self._forms: dict[int, Form | None] = {}
        self._same: dict[Form, Form] = {}
        self._growth: dict[str, float] = {}
        self._nearer: list[tuple[str, int]] = []
        self.is_under_way = False
        """Whether some of the requests that rules skip are still to be checked."""
        self.is_left = self._was_stopped()
        """Whether an earlier process ended before it had checked all requests that rules skip."""

    def _was_stopped(self) -> bool:
        unsettled = (
            rule.examined == NOT_EXAMINED if self._may_meet(rule) else self._is_wanted(rule)
            for rule in self._rules
        )
        return any(unsettled) and any(rule > 0 for rule in self._state.skipped.counts())

    def _may_meet(self, rule: LearnedRule) -> bool:
        """Return whether further values may be met, or further pairs with other rules."""
        return is_open(rule.transform) or len(self._rules.of(rule.context.host)) > 1

    def _is_wanted(self, rule: LearnedRule) -> bool:
        return rule.examined not in {ALL_TRIED, UNDECIDED} and not self._is_validated(rule)

    def begin_visit(self) -> None:
        """Begin another visit: pages are tried again by rules that were not proven."""
        self.is_left = False
        self._survey.start_over()
        for rule in self._rules:
            if rule.examined != PROVEN:
                self._state.start_over(rule, rule.since)

    def note_change(self) -> None:
        """Check all skipped requests again: rules changed, or skipped another request."""
        self._is_stale = True
        if self._is_news:
            self._is_news = False
            for rule in self._rules:
                is_over = rule.examined in {ALL_TRIED, UNDECIDED}
                # It may skip a value now that was never tried.
                if is_over or (rule.examined in {PROVEN, OF_IDS} and self._may_meet(rule)):
                    self._set_examined(rule, NOT_EXAMINED)

    def note_nearer(self) -> None:
        """Note that a request was met from nearer, which may be one that is skipped."""
        self._is_stale = True

    def take_nearer(self) -> list[tuple[str, int]]:
        """Return the URLs that are nearer to a seed than was known, with their numbers of links.

        They stand for others that were met nearer and are not requested themselves.
        """
        nearer, self._nearer = self._nearer, []
        return nearer

    def try_more(self) -> bool:
        """Queue some skipped requests as trials; return whether to call again.

        Call it while no request waits, and ``take_nearer`` after it. A request that several rules
        skip is a trial of each, so those that prove most come first.

        Complexity: O(``SLICE``), and O(skipped requests) until there are no more.
        """
        self._coming.clear()
        if not self.is_under_way:
            if not self._is_stale:
                return False
            self._begin()
        if self._survey.is_under_way:
            self._survey.step()
            return True
        if self._after is not None and any(self._rules):
            found, self._after = self._state.skipped.candidates(self._after, SLICE)
            nearer = (one for one in found if one.depth < one.standing_depth)
            self._nearer += [(one.standing, one.depth) for one in nearer]
            self._is_stale |= self._try_some(found)
            return True
        if self._is_stale:
            self._begin()
            return True
        self.is_under_way = self.is_left = False
        self._end()
        return False

    def _begin(self) -> None:
        self.is_under_way, self._is_stale = True, False
        self._after = START
        self._groups.clear()
        self._survey.begin()
        self._grow()

    def _grow(self) -> None:
        """Find how many more trials the rules of each host need, so that all are enough together.

        Each is tried on enough pages to speak for itself; a host with few rules wants more.
        """
        skipped = self._state.skipped.counts()
        cases: dict[str, dict[int, int]] = {}
        wanted: dict[str, dict[int, int]] = {}
        self._growth.clear()
        for rule in self._rules:
            if not rule.is_of_ids:
                host = rule.context.host
                proofs = list(self._proofs(rule))
                tried = sum(rule.tried.values())
                cases.setdefault(host, {})[rule.id] = skipped.get(rule.id, 0) + tried
                own = sum(self._wanted(rule, proof) for proof in proofs)
                wanted.setdefault(host, {})[rule.id] = own
        self._growth = {host: growth(cases[host], wanted[host]) for host in cases}

    def _end(self) -> None:
        """Settle the rules that are not proved, since no request is left that could prove them."""
        self._is_news = True
        for rule in self._rules:
            is_undecided = any(
                asked >= MAX_ASKED * self._wanted(rule, proof)
                for proof, asked in rule.asked.items()
            )
            self._set_examined(rule, UNDECIDED if is_undecided else ALL_TRIED)
        self.note_proven()

    def note_proven(self) -> None:
        """Settle the rules that are proved, or need not be.

        Of a rule about any value the values have to be known: all that is skipped was looked at.
        """
        self._grow()
        is_known = not self._is_stale and not self.is_under_way
        for rule in self._rules:
            if self._may_meet(rule) and not is_known:
                continue
            if rule.is_of_ids:
                self._set_examined(rule, OF_IDS)
            elif self._is_validated(rule):
                self._set_examined(rule, PROVEN)

    def _is_validated(self, rule: LearnedRule) -> bool:
        """Return whether nothing more is to be proved of a rule."""
        return rule.is_of_ids or all(map(partial(self._is_proven, rule), self._proofs(rule)))

    def _set_examined(self, rule: LearnedRule, examined: str) -> None:
        if rule.examined != examined:
            rule.examined = examined
            self._state.store.note_change(rule)

    def _proofs(self, rule: LearnedRule) -> Iterable[Proof]:
        """Return the proofs that a rule needs, as far as its values are known."""
        parts = enumerate(rule.values) if is_open(rule.transform) else ()
        proofs = [
            (thing, value)
            for thing, known in parts
            for value in ({OTHER_VALUES, *rule.frequent(thing)} if rule.has_ids(thing) else known)
            if value and not rule.is_an_id(thing, value)
        ]
        return proofs or [(0, "")]

    def _is_wanting(self, rule: LearnedRule) -> bool:
        """Return whether values of a rule, or pairs with older ones, may yet have to be tried."""
        if is_open(rule.transform):
            return not rule.is_of_ids
        older = (other.id for other in self._rules.of(rule.context.host) if other.id < rule.id)
        return any(self._lacks(rule, (number, "")) > 0 for number in (0, *(-one for one in older)))

    def _try_some(self, candidates: Sequence[SkippedCandidate]) -> bool:
        """Queue those of some requests that prove something; return whether there are any."""
        rules = {rule.id: rule for rule in self._rules if self._is_wanting(rule)}
        if not rules:
            return False
        pages = groupby(candidates, attrgetter("group"))
        trials = [trial for _, page in pages for trial in self._trials(list(page), rules)]
        trials.sort(key=lambda trial: (-len(trial.proofs), _draw(trial)))
        tried = []
        for trial in trials:
            is_lacking = any(self._lacks(rule, proof) > 0 for rule, proof in trial.proofs)
            if is_lacking and trial.request.group not in self._groups:
                self._groups.add(trial.request.group)
                self._count(trial)
                tried.append(trial.request.id)
        self._state.skipped.put_back(tried, for_good=True)
        self._groups.intersection_update(one.group for one in candidates[-1:])
        return bool(tried)

    def _form(self, url: str) -> Form | None:
        address = self._state.addresses.learnable(url)
        return None if address is None else self._rules.form(address)

    def _form_of(self, request: SkippedCandidate) -> Form | None:
        """Return the form of a request, which is remembered as long as the rules stay."""
        if self._version != self._rules.version:
            self._version = self._rules.version
            self._forms.clear()
            self._same.clear()
        if request.id not in self._forms:
            if len(self._forms) >= _MAX_FORMS:
                self._forms.clear()
            form = self._form(request.url)
            self._forms[request.id] = None if form is None else self._same.setdefault(form, form)
        return self._forms[request.id]

    def _trials(
        self, page: Sequence[SkippedCandidate], rules: Mapping[int, LearnedRule]
    ) -> Iterator[_Trial]:
        """Yield the requests for a page that give proofs which rules still lack."""
        if (standing := self._form(page[0].standing)) is None:
            return
        fetched = FetchedForms([standing, *forms_of(page[0].tested)])
        # A page may have a token for each link to it: a further page tells more than a token.
        known = {(n, (thing, OTHER_VALUES)) for n, thing, _ in fetched.proved}
        for request in page:
            form = self._form_of(request)
            gains = frozenset() if form is None else fetched.gained(form)
            given = {
                (n, rules[n].counted_as(thing, value)) for n, thing, value in gains if n in rules
            }
            lacking = ((rules[n], proof) for n, proof in given - known)
            proofs = [one for one in lacking if self._lacks(*one) > 0]
            if proofs:
                yield _Trial(request, proofs)

    def _is_proven(self, rule: LearnedRule, proof: Proof) -> bool:
        return rule.is_an_id(*proof) or rule.tried[proof] >= self._wanted(rule, proof)

    def _lacks(self, rule: LearnedRule, proof: Proof) -> int:
        wanted = self._wanted(rule, proof)
        if rule.is_an_id(*proof) or rule.asked[proof] >= MAX_ASKED * wanted:
            return 0
        return wanted - rule.tried[proof] - self._coming[rule.id, proof]

    def _wanted(self, rule: LearnedRule, proof: Proof) -> int:
        return ceil(self._growth.get(rule.context.host, 1.0) * self._wanted_alone(rule, proof))

    def _wanted_alone(self, rule: LearnedRule, proof: Proof) -> int:
        thing, value = proof
        if thing < 0:
            others = [one for one in self._rules.of(rule.context.host) if one.id == -thing]
            return pages_wanted(prod(map(self._values_of, [rule, *others])))
        if isinstance(rule.transform, ReplaceValues):
            return pages_wanted(self._values_of(rule))
        if not is_open(rule.transform):
            return ENOUGH
        if rule.has_ids(thing):
            return pages_wanted(1 + len(rule.frequent(thing)))
        values = rule.known_values(thing)
        is_new = thing >= len(rule.values) or value not in rule.values[thing]
        return pages_wanted(max(1, values + is_new))

    def _values_of(self, rule: LearnedRule) -> int:
        """Return how many values of its argument a rule and others each make superfluous."""
        if not isinstance(rule.transform, ReplaceValues):
            return 1
        all_of_host = {one.transform for one in self._rules.of(rule.context.host)}
        names = about(rule.transform)
        return sum(isinstance(one, ReplaceValues) and about(one) == names for one in all_of_host)

    def _count(self, trial: _Trial) -> None:
        request = trial.request
        self._state.groups.mark_explored(request.group)
        for rule, proof in trial.proofs:
            rule.note_proof(proof)
            rule.asked[proof] += 1
            self._coming[rule.id, proof] += 1
            rule.explored += rule.id == request.rule
            self._state.store.note_change(rule)


def _draw(trial: _Trial) -> int:
    """Return a random rank: by arrival, the value that is linked first would win on all pages."""
    return xxhash.xxh3_64_intdigest(trial.request.url.encode("utf-8", "surrogatepass"))
