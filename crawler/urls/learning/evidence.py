"""What speaks for a rule, and what against it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable

    from crawler.urls.learning.transforms import Form
_DOUBT = 0.05
"""One in twenty of the bounds that are stated may be too high."""

_VERY_NEAR = 0.95
"""Measured on gitweb and on SQLite's release notes: redundant arguments leave pages that are .93 to
1.0 alike, neighbours in a series are .80 to .95."""

_MOST_GROUPS = 256
_MOST_CONTENTS = 256
_MOST_VALUES = 24
_ENOUGH_OF_A_PATTERN = 5
_FEWEST_PATTERNS = 2


def lower_bound(positives: int) -> float:
    """The share of cases in which a rule holds at least, if it held in each that was seen.

    The one-sided bound of Clopper and Pearson (1934) without a failure, at 95 %.

    >>> round(lower_bound(19), 2)
    0.85
    """
    return _DOUBT ** (1 / positives) if positives else 0.0


@dataclass(frozen=True, slots=True)
class CounterExample:
    """Two captures that a rule takes for one page, and that are not."""

    page: int
    other: int


class Said(NamedTuple):
    """What a page said, as far as two of them can be compared.

    Attributes:
        words: Digest of its words in any order.
        kept: Number of the kept page that it is, or repeats.
        similarity: Jaccard similarity to that one.
        page: Number of the capture.
        counts: Whether it may speak for a rule.
    """

    words: bytes
    kept: int
    similarity: float
    page: int
    counts: bool = True


def agreement(one: Said, other: Said) -> bool | None:
    """Whether two pages are the same; None where that cannot be told.

    The same words are the same page, whatever they were taken for. Two that are
    nearly the words of a third one are the same where both are *very* nearly so;
    below that they may be neighbours in a series, such as two pages of a log.
    """
    if one.words == other.words:
        return True
    if one.kept != other.kept:
        return False
    return True if min(one.similarity, other.similarity) >= _VERY_NEAR else None


class Sight(NamedTuple):
    """An address as a rule sees it.

    Attributes:
        form: What the rule drops or replaces in it.
        folded: Hash of the address after the rules that hold already.
        said: What was there.
    """

    form: Form
    folded: int
    said: Said


@dataclass(slots=True)
class Evidence:
    """Groups of addresses that a rule would make one, and what their pages said.

    Each page text speaks once: a thousand addresses that all lead to one
    "not found" are one piece of evidence. Memory is bounded: of the groups
    those are held whose hash ends in some zeros, so that a group is either
    followed from its first address to its last, or not at all.

    Attributes:
        is_useful: Whether it would make one what no other rule does.
        spreads: Whether it is stated of every path of a host; then five texts
            of each of two path patterns are wanted before any of them counts.
    """

    spreads: bool = False
    groups: dict[int, Sight] = field(default_factory=dict)
    contents: set[int] = field(default_factory=set)
    values: list[set[Hashable]] = field(default_factory=list)
    patterns: dict[str, int] = field(default_factory=dict)
    negative: CounterExample | None = None
    is_useful: bool = False
    _zeros: int = 0

    def observe(self, key: int, sight: Sight, pattern: str) -> bool:
        """Take an address that was fetched, beside the first of its group.

        Args:
            key: Hash of what the rule makes of it.
            sight: What it is.
            pattern: Its path pattern.

        Returns:
            Whether that was new evidence for the rule or against it.
        """
        if key & ((1 << self._zeros) - 1):
            return False
        held = self.groups.get(key)
        if held is None:
            self._hold(key, sight)
            return False
        return self.compare(held, sight, pattern)

    def compare(self, one: Sight, other: Sight, pattern: str) -> bool:
        """Take two addresses that the rule makes one."""
        if one.form == other.form:
            return False
        agree = agreement(one.said, other.said)
        if agree is False:
            self.negative = CounterExample(other.said.page, one.said.page)
            return True
        if not agree or not (one.said.counts and other.said.counts):
            return False
        if any(a == b for a, b in zip(one.form, other.form, strict=True)):
            return False  # nothing is known of what stayed the same
        self.is_useful |= one.folded != other.folded
        self._note_values(one.form)
        self._note_values(other.form)
        return self._count(other.said.kept, pattern)

    def _note_values(self, form: Form) -> None:
        if not self.values:
            self.values.extend(set() for _ in form)
        for values, value in zip(self.values, form, strict=True):
            if len(values) < _MOST_VALUES:
                values.add(value)

    def forms(self) -> set[Form]:
        """What was dropped, or replaced, where that is one thing."""
        return {(value,) for value in self.values[0]} if len(self.values) == 1 else set()

    @property
    def fewest_values(self) -> int:
        """Distinct values that were met of what the rule speaks of; of several, the fewest."""
        return min(map(len, self.values), default=0)

    def _hold(self, key: int, sight: Sight) -> None:
        self.groups[key] = sight
        while len(self.groups) > _MOST_GROUPS:
            self._zeros += 1
            mask = (1 << self._zeros) - 1
            self.groups = {key: entry for key, entry in self.groups.items() if not key & mask}

    def _count(self, content: int, pattern: str) -> bool:
        if content in self.contents or len(self.contents) >= _MOST_CONTENTS:
            return False
        self.contents.add(content)
        self.patterns[pattern] = self.patterns.get(pattern, 0) + 1
        return True

    @property
    def positives(self) -> int:
        """Texts that speak for the rule."""
        spread = sum(count >= _ENOUGH_OF_A_PATTERN for count in self.patterns.values())
        return 0 if self.spreads and spread < _FEWEST_PATTERNS else len(self.contents)

    def start_over(self) -> None:
        """Forget the groups, whose hashes mean something else from now on, and nothing else."""
        self.groups.clear()
        self._zeros = 0
        self.is_useful = False
