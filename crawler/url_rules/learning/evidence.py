"""The evidence for a rule and against it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Hashable

    from crawler.url_rules.learning.transforms import Form
_DOUBT = 0.05
"""The probability, 0 to 1, that a bound stated here is too high."""

_VERY_NEAR = 0.95
"""Two pages this similar (Jaccard, 0 to 1) are one page although their words differ.

Measured on gitweb and on SQLite's release notes: redundant arguments leave pages that are .93 to
1.0 alike, neighbours in a series are .80 to .95.
"""

MAX_GROUPS = 256
_FEW_LINKS = 2
_SHARE_OF_LINKS = 0.7  # fewer: a print view of the page

_MAX_CONTENTS = 256
_MAX_VALUES = 24
_ENOUGH_OF_A_PATTERN = 5
_MIN_PATTERNS = 2
_MANY_PATTERNS = 8


def lower_bound(positives: float) -> float:
    """Return the least share of cases in which a rule holds, if it held in each that was seen.

    The one-sided bound of Clopper and Pearson (1934) without a failure, at 95 %.

    >>> round(lower_bound(19), 2)
    0.85
    """
    return _DOUBT ** (1 / positives) if positives else 0.0


@dataclass(frozen=True, slots=True)
class CounterExample:
    """Two captures of different pages that a rule takes for one page."""

    page: int
    other: int


UNREAD = -1.0
"""The similarity of a page that is known by its bytes alone."""


class PageContent(NamedTuple):
    """The content of a page, as far as two pages can be compared.

    Attributes:
        words: Digest of its words in any order; for a file that is no page, of its bytes.
        kept: Number of the kept page that it is, or repeats.
        similarity: Jaccard similarity to that one, 0 to 1; ``UNREAD`` where no text was read.
        page: Number of the capture.
        links: Number of links to follow; None where that is not known.
        counts: Whether it may be evidence for a rule.
        is_file: Whether it is no page.
    """

    words: bytes
    kept: int
    similarity: float
    page: int
    links: int | None = None
    counts: bool = True
    is_file: bool = False

    def leads_to_less_than(self, other: PageContent) -> bool:
        """Return whether this page has clearly fewer links than another, as a print view has."""
        if self.links is None or other.links is None:
            return False
        return self.links + _FEW_LINKS < _SHARE_OF_LINKS * other.links


def agreement(one: PageContent, other: PageContent) -> bool | None:
    """Return whether two pages are the same; None where that cannot be told.

    The same words are the same page, whatever they were taken for. Two that are
    nearly the words of a third one are the same where both are *very* nearly so;
    below that they may be neighbours in a series, such as two pages of a log.
    """
    if one.words == other.words:
        return True
    if UNREAD in {one.similarity, other.similarity}:
        return None
    if one.kept != other.kept:
        return False
    return True if min(one.similarity, other.similarity) >= _VERY_NEAR else None


class Sight(NamedTuple):
    """An address as a rule sees it.

    Attributes:
        form: The parts that the rule drops or replaces in it.
        after_rules: Hash of the address after the rules that hold already.
    """

    form: Form
    after_rules: int
    content: PageContent


@dataclass(slots=True)
class RuleEvidence:
    """Groups of addresses that a rule would make one, and the contents of their pages.

    Each page text counts once: a thousand addresses that all lead to one
    "not found" are one piece of evidence. Memory is bounded: a group is kept
    only if its hash ends in some zeros, so that it is either followed from
    its first address to its last, or not at all.

    Attributes:
        spreads: Whether the rule is about every path of a host. None of its texts counts before
                there are five of each of two path patterns, or texts of eight patterns.
        is_useful: Whether the rule would make one what no other rule does.
        clusters: Numbers of texts that support it, by the kind of path and the names of the
            other arguments.
        poor: Two counts of pairs in which one address leads to less. The first counts those where
            the address that is replaced does, the second those where the other one does. Where the
            two are on an equal footing, the first counts both.
        contents: Numbers of the kept pages that support it.
        values: Distinct forms that were met, by part of the form.
        files: Number of those contents that are no pages.
    """

    spreads: bool = False
    is_useful: bool = False
    clusters: dict[str, int] = field(default_factory=dict)
    poor: list[int] = field(default_factory=lambda: [0, 0])
    _groups: dict[int, Sight] = field(default_factory=dict)
    contents: set[int] = field(default_factory=set)
    values: list[set[Hashable]] = field(default_factory=list)
    files: int = 0
    _zeros: int = 0

    def first_of(self, key: int, sight: Sight) -> Sight | None:
        """Return the first address of a group that was fetched.

        Args:
            key: Hash of the address after the rule.
            sight: The address that is fetched now.

        Returns:
            None where ``sight`` is the first one, and for a group that is not kept.
        """
        if key & ((1 << self._zeros) - 1):
            return None
        held = self._groups.get(key)
        if held is None:
            self._hold(key, sight)
        return held

    def _hold(self, key: int, sight: Sight) -> None:
        self._groups[key] = sight
        while len(self._groups) > MAX_GROUPS:
            self._zeros += 1
            mask = (1 << self._zeros) - 1
            self._groups = {key: entry for key, entry in self._groups.items() if not key & mask}

    def holds(self, key: int) -> bool:
        """Return whether an address of a group was met; ``key`` as in ``first_of``."""
        return key in self._groups

    def count(self, one: Sight, other: Sight, cluster: str) -> bool:
        """Count two addresses with one page that the rule makes one; return whether it is news."""
        if not (one.content.counts and other.content.counts):
            return False
        if any(a == b for a, b in zip(one.form, other.form, strict=True)):
            return False  # nothing is known of what stayed the same
        before = self.is_useful, self.fewest_values
        self.is_useful |= one.after_rules != other.after_rules
        self._note_values(one.form)
        self._note_values(other.form)
        is_more = (self.is_useful, self.fewest_values) != before
        return self._count_text(other.content, cluster) or is_more

    def _count_text(self, content: PageContent, cluster: str) -> bool:
        if content.kept in self.contents or len(self.contents) >= _MAX_CONTENTS:
            return False
        self.contents.add(content.kept)
        self.files += content.is_file
        self.clusters[cluster] = self.clusters.get(cluster, 0) + 1
        return True

    def count_links(self, source: Sight, target: Sight, *, is_pair: bool) -> None:
        """Note which of two addresses led to less; ``is_pair`` where one counts as the other."""
        if source.content.leads_to_less_than(target.content):
            self.poor[0] += 1
        elif target.content.leads_to_less_than(source.content):
            self.poor[int(is_pair)] += 1

    def _note_values(self, form: Form) -> None:
        if not self.values:
            self.values.extend(set() for _ in form)
        for values, value in zip(self.values, form, strict=True):
            if len(values) < _MAX_VALUES:
                values.add(value)

    @property
    def fewest_values(self) -> int:
        """Number of distinct forms that were met of a part of the rule, of several the least."""
        return min(map(len, self.values), default=0)

    @property
    def texts(self) -> int:
        return sum(self.clusters.values())

    def positives(self, *, has_head_start: bool = False) -> int:
        """Return the texts that speak for the rule, 0 where they speak of too little of it.

        Args:
            has_head_start: Whether the same is known from elsewhere. One text is then enough of
                each of two path patterns.
        """
        total = self.texts
        if not self.spreads:
            return total
        patterns: dict[str, int] = {}
        for cluster, texts in self.clusters.items():
            pattern = cluster.partition("?")[0]
            patterns[pattern] = patterns.get(pattern, 0) + texts
        enough = 1 if has_head_start else _ENOUGH_OF_A_PATTERN
        spread = sum(texts >= enough for texts in patterns.values())
        is_spread = spread >= _MIN_PATTERNS or len(patterns) >= _MANY_PATTERNS
        return total if is_spread else 0

    @property
    def most_positives(self) -> int:
        """A number that ``positives`` never exceeds, known without a sum."""
        return len(self.contents)

    def start_over(self) -> None:
        """Forget the groups, whose hashes mean something else from now on, and nothing else."""
        self._groups.clear()
        self._zeros = 0
        self.is_useful = False
