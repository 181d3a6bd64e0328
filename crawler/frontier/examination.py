"""Trying, at the end of a crawl, what may matter on a few pages only."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crawler.urls.learning.transform_relations import about

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.frontier.rule_state import RuleState
    from crawler.urls.learned_rule import LearnedRule

PROVEN = 59
"""Texts under two URLs each, none that differed: it holds in 19 of 20 cases, 95 times in 100."""

MOST_EXAMINED = 30
"""Requests that are made to prove what was learned of an argument, where nothing else waits."""


class Examination:
    """Holds rules about arguments of few values against more of the pages that they skip."""

    def __init__(self, state: RuleState) -> None:
        self._state = state
        self._rules = state.rules
        self._skipped = state.skipped
        self._examined: Counter[tuple[str, ...]] = Counter()

    def try_more(self) -> bool:
        """Let some of what rules skip wait, where nothing else does; say whether that is anything.

        What may matter on a few pages only is held against as many pages as prove it.
        """
        by_argument: dict[tuple[str, ...], list[LearnedRule]] = {}
        for rule in self._rules:
            if rule.has_few_values and rule.positives < PROVEN:
                key = (rule.context.host, *about(rule.transform))
                by_argument.setdefault(key, []).append(rule)
        return sum(self._examine(key, rules) for key, rules in by_argument.items()) > 0

    def _examine(self, argument: tuple[str, ...], rules: Sequence[LearnedRule]) -> int:
        """Try the rules about an argument, each on as many pages as the others."""
        left = MOST_EXAMINED - self._examined[argument]
        tried = 0
        for place, rule in enumerate(rules):
            share = (left - tried) // (len(rules) - place)
            tried += self._try_some(rule, min(share, PROVEN - rule.positives))
        self._examined[argument] += tried
        return tried

    def _try_some(self, rule: LearnedRule, wanted: int) -> int:
        if wanted <= 0:
            return 0
        tried: dict[bytes, tuple[int, int]] = {}
        for known in self._skipped.candidates(rule.id):
            if known.fold not in tried and self._is_needed(rule, known.url, known.key):
                tried[known.fold] = known.host, known.id
                if len(tried) == wanted:
                    break
        for fold, (host, number) in tried.items():
            self._state.folds.mark_explored(fold)
            self._skipped.fix([number])
            self._skipped.put_back(host, [number])
        rule.explored += len(tried)
        self._state.store.note_change(rule)
        return len(tried)

    def _is_needed(self, rule: LearnedRule, url: str, key: bytes) -> bool:
        other, learnable = self._skipped.url(key), self._state.addresses.learnable
        one, standing = learnable(url), None if other is None else learnable(other)
        return bool(one and standing and rule in self._rules.needed(one, standing))
