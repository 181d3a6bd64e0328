"""Count the values of the parts of addresses that rules drop, in bounded memory."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import xxhash

from crawler.url_rules.learned_rule import Variety, is_one_of_few, shown_value
from crawler.url_rules.learning.transforms import is_open
from crawler.url_rules.skipped import START

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.url_rules.learned_rule import LearnedRule
    from crawler.url_rules.learning.address import Address
    from crawler.url_rules.rule_state import RuleState

MANY = 100
"""Words of which there are more than this are as good as ids: no page has that many forms."""

_COUNTED = 1_000
_SAMPLED = 200
_FEW, _RECURRING = 20, 3
_SHARE = 0.02  # an exception of one in fifty is found by exploration

_SLICE = 500
_GROWTH = 1.5


@dataclass(slots=True)
class ValueCounts:
    """Counts on how many pages each value of a part was met.

    Up to 1,000 values are counted as they are. Beyond that, each new value takes one from all
    counts, so that a count is at most a thousandth of ``total`` too low. The values of the least
    hashes, some 200, are counted as they are whatever there is besides: a sample of all values.

    Source: Misra and Gries, "Finding repeated elements", 1982; for the sample Gibbons, "Distinct
    sampling", 2001.
    """

    total: int = 0
    _counts: dict[str, int] = field(default_factory=dict)
    _is_full: bool = False
    _sample: Counter[int] = field(default_factory=Counter)
    _largest: int = 1 << 64

    def note(self, value: str) -> None:
        """Count a value. Complexity: O(1) amortised."""
        self.total += 1
        self._note_in_sample(xxhash.xxh3_64_intdigest(value.encode("utf-8", "surrogatepass")))
        known = self._counts.get(value)
        if known is not None or len(self._counts) < _COUNTED:
            self._counts[value] = (known or 0) + 1
        else:
            self._is_full = True
            self._counts = {one: count - 1 for one, count in self._counts.items() if count > 1}

    def _note_in_sample(self, digest: int) -> None:
        """Count a value if it is of the sample, which holds each of its values from the first."""
        if digest < self._largest:
            self._sample[digest] += 1
            if len(self._sample) > 2 * _SAMPLED:
                self._largest = sorted(self._sample)[_SAMPLED]
                self._sample = Counter({d: n for d, n in self._sample.items() if d < self._largest})

    @property
    def is_many(self) -> bool:
        """Whether there were more than a hundred values."""
        return self._is_full or len(self._counts) > MANY

    @property
    def are_shared(self) -> bool:
        """Whether most values were met on three pages or more."""
        return 2 * sum(n >= _RECURRING for n in self._sample.values()) > len(self._sample)

    @property
    def frequent(self) -> frozenset[str]:
        """The values that may choose a form of the page, rather than be its own.

        Those are the words and small numbers of three pages and more. Where more than twenty are,
        as with any words behind an id, only those of one page in fifty. What looks like an id may
        be that of a session, on many pages.
        """
        recurring = {
            one: count
            for one, count in self._counts.items()
            if count >= _RECURRING and is_one_of_few(one)
        }
        least = _SHARE * self.total if len(recurring) > _FEW else 0
        return frozenset(one for one, count in recurring.items() if count >= least)


class ValueSurvey:
    """Looks at the values in all requests that rules skip, a slice at a time.

    Parts of few values are left aside: each of those is tried by itself.

    Attributes:
        is_under_way: Whether some requests are still to be looked at.
    """

    def __init__(self, state: RuleState) -> None:
        self._state = state
        self.is_under_way = False
        self._counts: dict[int, list[ValueCounts]] = {}
        self._after = START
        self._noted: tuple[bytes, set[tuple[int, int, str]]] = (b"", set())
        self._surveyed = 0
        self._known: set[int] = set()
        self._looked_at: dict[int, list[int]] = {}

    def begin(self) -> None:
        """Begin, if there is half as much more than at the last time, or another rule."""
        counts = self._state.skipped.counts()
        skipped = sum(count for rule, count in counts.items() if rule > 0)
        self._looked_at = {rule.id: list(_with_many(rule)) for rule in self._state.rules}
        are_new = any(
            things and rule not in self._known for rule, things in self._looked_at.items()
        )
        has_grown = any(self._looked_at.values()) and skipped > _GROWTH * self._surveyed
        if skipped and (are_new or has_grown):
            self._surveyed = skipped
            self.is_under_way, self._after = True, START
            self._counts.clear()

    def start_over(self) -> None:
        """Forget what was surveyed: another visit begins, and skips other requests."""
        self.is_under_way, self._surveyed = False, 0
        self._known.clear()

    def step(self) -> None:
        """Look at some more requests."""
        found, after = self._state.skipped.candidates(self._after, _SLICE)
        for one in found:
            address = self._state.addresses.learnable(one.url)
            if address is not None:
                self._note(address, one.group)
        if after is None:
            self._end()
        else:
            self._after = after

    def _note(self, address: Address, group: bytes) -> None:
        """Note the values of an address, each once a page."""
        if self._noted[0] != group:
            self._noted = group, set()
        for rule in self._state.rules.changing(address):
            things = self._looked_at.get(rule.id)
            if not things:
                continue
            form = rule.transform.varying(self._state.rules.seen_by(rule, address))
            counts = self._counts.setdefault(rule.id, [])
            counts.extend(ValueCounts() for _ in range(len(form) - len(counts)))
            for thing in things:
                value = shown_value(form[thing])
                noted = rule.id, thing, value
                if value and noted not in self._noted[1]:
                    self._noted[1].add(noted)
                    counts[thing].note(value)

    def _end(self) -> None:
        self.is_under_way = False
        self._known.update(rule for rule, things in self._looked_at.items() if things)
        for rule in self._state.rules:
            if rule.id in self._counts:
                counts = self._counts[rule.id]
                rule.varieties = [
                    Variety(one.is_many, one.frequent, one.are_shared) for one in counts
                ]
                self._state.store.note_change(rule)
        self._state.rules.forget_ways()


def _with_many(rule: LearnedRule) -> Iterator[int]:
    """Yield the parts that a rule drops whose values may be ids, with words among them."""
    if is_open(rule.transform):
        yield from (thing for thing in range(len(rule.values)) if rule.has_many(thing))
