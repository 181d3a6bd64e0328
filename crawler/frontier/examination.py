"""Trying, at the end of a crawl, what may matter on a few pages only."""

from __future__ import annotations

from collections import Counter
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import xxhash

from crawler.urls.learning.transform_relations import about

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from crawler.frontier.rule_state import RuleState
    from crawler.frontier.skipped import Candidate
    from crawler.urls.learned_rule import LearnedRule

PROVEN = 59
"""Pages under two URLs each, none that differed: it holds in 19 of 20 cases, 95 times in 100."""


class _Trial(NamedTuple):
    """A skipped request, and the rules that it proves right, or one of them wrong."""

    request: Candidate
    rules: list[LearnedRule]


class Examination:
    """Holds rules about arguments of few values against more of the pages that they skip.

    What spoke for a rule before it held does not count: had one of those pages spoken against it,
    it would not hold. Nor does one of several values, which may be what a page has without any;
    the others are tried on as many pages as prove it of the argument.
    """

    def __init__(self, state: RuleState) -> None:
        self._state = state
        self._examined: Counter[int] = Counter()

    def try_more(self) -> bool:
        """Let some of what rules skip wait, where nothing else does; say whether that is anything.

        A request that several rules skip is a trial of each, so those that prove most come first.

        Complexity: O(skipped requests); of a rule 500 are looked at.
        """
        examined = [rule for rule in self._state.rules if rule.has_few_values]
        wanted = Counter({rule.id: self._wanted(rule, examined) for rule in examined})
        if not +wanted:
            return False
        trials = sorted(
            self._trials(examined), key=lambda trial: (-_gain(trial, wanted), _draw(trial))
        )
        folds = set()
        for trial in trials:
            if trial.request.fold not in folds and _gain(trial, wanted):
                folds.add(trial.request.fold)
                wanted.subtract(rule.id for rule in trial.rules)
                self._make(trial)
        return bool(folds)

    def _wanted(self, rule: LearnedRule, others: Iterable[LearnedRule]) -> int:
        """On how many more pages a rule is to be tried."""
        of_one = [other for other in others if _argument(other) == _argument(rule)]
        values = sum(map(_values, of_one))
        wanted = ceil(PROVEN * _values(rule) / max(1, values - 1))
        return max(0, wanted - max(rule.trials, self._examined[rule.id]))

    def _trials(self, rules: Iterable[LearnedRule]) -> Iterator[_Trial]:
        for rule in rules:
            for request in self._state.skipped.candidates(rule.id):
                needed = self._needed(request.url, request.key)
                if needed:
                    yield _Trial(request, needed)

    def _needed(self, url: str, key: bytes) -> list[LearnedRule]:
        """The rules that a URL and the one that stands for it prove, if they lead to one page."""
        other, learnable = self._state.skipped.url(key), self._state.addresses.learnable
        one, standing = learnable(url), None if other is None else learnable(other)
        return self._state.rules.needed(one, standing) if one and standing else []

    def _make(self, trial: _Trial) -> None:
        self._examined.update(rule.id for rule in trial.rules)
        self._state.folds.mark_explored(trial.request.fold)
        self._state.skipped.fix([trial.request.id])
        self._state.skipped.put_back(trial.request.host, [trial.request.id])
        for rule in trial.rules:
            if rule.id == trial.request.rule:
                rule.explored += 1
                self._state.store.note_change(rule)


def _draw(trial: _Trial) -> int:
    """In the order of arrival it would be one value of all pages, the one that is linked first."""
    return xxhash.xxh3_64_intdigest(trial.request.url.encode("utf-8", "surrogatepass"))


def _gain(trial: _Trial, wanted: Counter[int]) -> int:
    """How many rules it would bring nearer to their proof."""
    return sum(wanted[rule.id] > 0 for rule in trial.rules)


def _argument(rule: LearnedRule) -> tuple[str, ...]:
    return (rule.context.host, *about(rule.transform))


def _values(rule: LearnedRule) -> int:
    """Of how many values of its argument a rule speaks, as far as it was tried."""
    return min((len(values - {""}) for values in rule.values), default=1) if rule.drops else 1
