"""One learned rule: what it does where, how much speaks for it, and where it was tried."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crawler.urls.learning.evidence import lower_bound
from crawler.urls.learning.transform_relations import about, includes
from crawler.urls.learning.transforms import DropArguments, ReplaceHost, ReplaceValues

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.urls.learning.address import Address
    from crawler.urls.learning.context import Context, Place
    from crawler.urls.learning.proposals import Proposal
    from crawler.urls.learning.transforms import Transform

_TRIES = 1
_MOST_PATTERNS = 30
_MOST_VALUES = 20
_LONGEST_VALUE = 60
_FEW = re.compile(r"[A-Za-z_/-]{0,20}|[0-9]{1,2}")


@dataclass(slots=True)
class LearnedRule:
    """A part of a host's addresses that does not matter.

    Attributes:
        id: Number in the crawl's directory.
        context: Where it holds.
        transform: What it does to an address there.
        positives: Texts that were met under two addresses which it makes one.
        trials: Those of them that were met since it holds.
        patterns: Path patterns in which it was tried, and how often.
        values: What it drops, or replaces, as far as it was tried: of each thing that it speaks of.
        clusters: Kinds of pages of which it was right.
        saved: Requests that were not made because of it, in the visits before this one.
        explored: Requests that were made all the same, to try it.
        origin: "learned", or the file that it came from.
    """

    id: int
    context: Context
    transform: Transform
    positives: int = 0
    trials: int = 0
    patterns: dict[str, int] = field(default_factory=dict)
    values: list[set[str]] = field(default_factory=list)
    clusters: set[str] = field(default_factory=set)
    saved: int = 0
    explored: int = 0
    origin: str = "learned"

    @property
    def confidence(self) -> float:
        """The share of cases in which it holds at least, with 95 % certainty."""
        return lower_bound(self.positives)

    @property
    def has_many_values(self) -> bool:
        """Whether it is about arguments with many values each, such as a session id.

        Nobody makes pages for each of those; one of few values may matter on some pages.
        """
        fewest = min(map(len, self.values), default=0)
        return self.drops and fewest >= _MOST_VALUES

    @property
    def drops(self) -> bool:
        """Whether it drops arguments, whatever their values."""
        return isinstance(self.transform, DropArguments)

    @property
    def has_few_values(self) -> bool:
        """Whether it is about an argument of few values, or about one of its values."""
        is_about_arguments = isinstance(self.transform, DropArguments | ReplaceValues)
        return is_about_arguments and not self.has_many_values

    @property
    def hosts(self) -> tuple[str, ...]:
        """Whose addresses it changes, or what they become."""
        if isinstance(self.transform, ReplaceHost):
            return self.transform.host, self.transform.new_host
        return (self.context.host,)

    def apply(self, place: Place) -> Address:
        """The address that counts instead of another one."""
        if not self.context.holds(place, about(self.transform)):
            return place.address
        return self.transform(place.address)

    def is_new_ground(self, place: Place, pattern: str) -> bool:
        """Whether it was never tried on such a path, or with such a value."""
        if len(self.patterns) < _MOST_PATTERNS and self.patterns.get(pattern, 0) < _TRIES:
            return True
        return any(
            len(seen) < _MOST_VALUES and value not in seen and is_one_of_few(value)
            for value, seen in self._values(place)
        )

    def note_try(self, place: Place, pattern: str) -> None:
        """Remember where it was tried."""
        if pattern in self.patterns or len(self.patterns) < _MOST_PATTERNS:
            self.patterns[pattern] = self.patterns.get(pattern, 0) + 1
        for value, seen in self._values(place):
            if len(seen) < _MOST_VALUES:
                seen.add(value)

    def _values(self, place: Place) -> Iterable[tuple[str, set[str]]]:
        form = self.transform.varying(place.address)
        self.values.extend(set() for _ in range(len(form) - len(self.values)))
        return zip(map(shown_value, form), self.values, strict=False)

    def __str__(self) -> str:
        """As people read it."""
        return f"{self.context}: {self.transform}"


def overlap(one: Proposal, other: Proposal) -> bool:
    """Whether there are addresses of which two rules say the same."""
    (here, does), (there, did) = one, other
    if not (here.covers(there) or there.covers(here)):
        return False
    shared = set(about(does)) & set(about(did))
    return bool(shared) or includes(does, did) or includes(did, does)


def shown_value(value: object) -> str:
    """What a rule drops as a short text: the values of an argument, or segments."""
    parts = value if isinstance(value, tuple) else (value,)
    return "/".join("" if part is None else str(part) for part in parts)[:_LONGEST_VALUE]


def is_one_of_few(value: str) -> bool:
    """Whether a value may be one of a few, unlike an id, which no page has twice."""
    return _FEW.fullmatch(value) is not None


def weakest(rules: Iterable[LearnedRule]) -> LearnedRule:
    """Of several rules the one for which the least speaks, of these the newest."""
    return min(rules, key=lambda rule: (rule.positives, -rule.id))
