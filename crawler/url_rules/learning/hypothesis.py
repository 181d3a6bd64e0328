"""A rule that may hold, and the pages that it is tried on."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.evidence import (
    CounterExample,
    PageContent,
    RuleEvidence,
    Sight,
    agreement,
    lower_bound,
)
from crawler.url_rules.learning.template import looks_like_an_id
from crawler.url_rules.learning.transforms import (
    Compound,
    Pairing,
    ReplaceHost,
    ReplaceSegments,
    Rewrite,
    SortSegments,
    about,
    is_open,
)
from crawler.url_rules.learning.versions import takes_names

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from crawler.url_rules.learning.context import Context
    from crawler.url_rules.learning.proposals import Proposal
    from crawler.url_rules.learning.transforms import Transform

_MIN_VALUES = 3
_MIN_WORDS = 14  # articles, print and editions are no open part

_HEAD_START = 14 / 5
"""The weight of a text for a rule that is known from elsewhere: five do for fourteen."""

_MIN_TEXTS = 5
"""No rule is believed by fewer texts; a confidence of 0.5, the least that there is, wants them."""

_LAST = 99

_ONE_IN = 5
"""A rule is lopsided if at least one in this many texts leads to more, which it never skips."""

MAX_EXCEPTIONS = 3
"""Exclude at most this many kinds of pages from a rule for a whole host."""


@dataclass(frozen=True, slots=True)
class LearningPolicy:
    """The conditions on which a rule is believed.

    Attributes:
        confidence: The share of cases in which it must hold at least, with 95 % certainty.
        largest_cluster: Number of duplicates of one text above which nothing is learned from it: a
            text at that many addresses is an error page in disguise.
        cluster_budget: Pages that may be fetched of each cluster of URLs; 0: any number.
        is_breadth_first: Whether all kinds of URLs are requested in the order of their depths.
        across_domains: Whether hosts of two registered domains may be found to be one.
    """

    confidence: float = 0.8
    largest_cluster: int = 50
    cluster_budget: int = 0
    is_breadth_first: bool = False
    across_domains: bool = False


class Observation(NamedTuple):
    """A page that was fetched, with its address and its content.

    Attributes:
        raw: Its address.
        place: The address after every rule that holds.
        pattern: Path pattern of ``place``.
        key: Hash of the address of ``place``.
    """

    raw: Address
    place: Address
    pattern: str
    content: PageContent
    key: int


class RulePart(NamedTuple):
    """A rule as which a hypothesis holds, and the values that were met of each part of it."""

    context: Context
    transform: Transform
    values: list[set[Hashable]]


Lookup = Callable[[Address], PageContent | None]
"""Looks up the content of the page at an address after the rules; None where none was fetched."""


@dataclass(slots=True)
class Hypothesis:
    """A rule that may hold.

    A rule about a whole host may have exceptions: a page that differs at
    every fetch proves nothing against a rule that holds for all others.

    Attributes:
        shapes: Matches ``Address.text`` of every page that the rule may take for another one, or
            another one for it; None: of any page. All others need not be shown to it: a host has
            a hundred hypotheses, and most pages have the shapes of none.
        about: The names of the arguments that it is about.
        is_open: Whether it applies to values never seen.
    """

    context: Context
    transform: Transform
    evidence: RuleEvidence
    refuted: CounterExample | None = None
    shapes: re.Pattern[str] | None = field(init=False, default=None, repr=False)
    about: tuple[str, ...] = field(init=False, default=(), repr=False)
    is_open: bool = field(init=False, default=False, repr=False)

    def __post_init__(self) -> None:
        transform = self.transform
        self.about, self.is_open = about(transform), is_open(transform)
        if isinstance(transform, Rewrite):
            shapes = [transform.source.expression]
            shapes += [] if transform.is_open else [transform.target.expression]
            self.shapes = re.compile("|".join(shapes))

    def observe(self, seen: Observation, lookup: Lookup | None = None) -> bool:
        """Take a page into account; return whether that was news.

        With a ``lookup``, a page that the rule does not change is remembered there only: it is
        found again when another one comes that the rule takes for it.
        """
        target = self.transform(seen.place)
        is_same = target is seen.place
        if is_same and lookup is not None and not self.evidence.holds(seen.key):
            return False
        if not self._speaks_of(seen):
            return False
        sight = self._sight(seen)
        key = seen.key if is_same else hash(target)
        first = self.evidence.first_of(key, sight)
        news = first is not None and self._judge(first, sight, seen)
        # The page at the address that counts instead, if that was ever fetched.
        found = None if lookup is None or is_same else lookup(target)
        # What was news may have taken this kind of page out of the rule.
        if found is not None and (not news or self._speaks_of(seen)):
            news |= self._judge(Sight(self.transform.varying(target), key, found), sight, seen)
        return news

    def compare(self, one: Observation, other: Observation) -> bool:
        """Take two addresses of one page into account; return whether that was news."""
        if not (self._speaks_of(one) and self._speaks_of(other)):
            return False
        if self.transform(one.place) != self.transform(other.place):
            return False
        return self._judge(self._sight(one), self._sight(other), other)

    def _judge(self, one: Sight, other: Sight, seen: Observation) -> bool:
        if one.form == other.form:
            return False
        agree = agreement(one.content, other.content)
        if agree is None:
            return False
        kind = self.context.at(seen.place, seen.pattern, self.about)
        if agree:
            return self._agree(one, other, kind.cluster)
        self.object(kind, CounterExample(other.content.page, one.content.page))
        return True

    def object(self, kind: Context, example: CounterExample) -> None:
        """Exclude a kind of page for which the rule is wrong, or refute the rule.

        Args:
            kind: The context in which it is wrong.
            example: Two pages that prove it.
        """
        if self.context.pattern is None and not takes_names(self.transform):
            self.context = self.context.apart(kind)
            self.evidence.clusters.pop(kind.cluster, None)
            exceptions = len(self.context.apart_from)
            if exceptions <= min(MAX_EXCEPTIONS, max(1, len(self.evidence.clusters))):
                return
        self.refuted = example

    def _agree(self, one: Sight, other: Sight, cluster: str) -> bool:
        texts = self.evidence.texts
        is_news = self.evidence.count(one, other, cluster)
        if self.evidence.texts > texts:
            self._count_links(one, other)
        return is_news

    def _count_links(self, one: Sight, other: Sight) -> None:
        transform = self.transform
        is_pair = isinstance(transform, Pairing)
        if isinstance(transform, Pairing) and transform.is_source(other.form):
            one, other = other, one
        self.evidence.count_links(one, other, is_pair=is_pair)

    def parts(self) -> Iterator[RulePart]:
        """Yield the rules as which it holds, each with the values that were met of it.

        What speaks for a ``Compound`` speaks for each of its two rules: pages that one of them
        takes for one, it takes for one too.
        """
        context, values = self.context, self.evidence.values
        if not isinstance(self.transform, Compound):
            yield RulePart(context, self.oriented, values)
            return
        segments, arguments = self.transform.segments, self.transform.arguments
        # To the rule about segments the arguments are no others: its exceptions have any.
        apart_from = tuple(replace(other, beside=None) for other in context.apart_from)
        elsewhere = replace(context, apart_from=tuple(dict.fromkeys(apart_from)))
        yield RulePart(elsewhere, segments, values[:1])
        # The newest is blamed first where two pages differ: an argument matters more often than an
        # id, without whose rule a site has no end.
        yield RulePart(context, arguments, values[1:])

    @property
    def oriented(self) -> Transform:
        """The rule in the direction in which it may be used: pages with fewer links are skipped."""
        transform, (poor_source, poor_target) = self.transform, self.evidence.poor
        if not isinstance(transform, Pairing) or not self._is_often(poor_source + poor_target):
            return transform
        if poor_target > poor_source:
            transform = transform.reversed()
        return replace(transform, one_way=True)

    def _is_often(self, count: int) -> bool:
        return _ONE_IN * count >= self.evidence.texts

    @property
    def _loses_links(self) -> bool:
        """Whether pages that are skipped may have links that the others do not have."""
        poor_source, poor_target = self.evidence.poor
        if isinstance(self.transform, Pairing) and not self.is_open:
            return bool(poor_source and poor_target) and self._is_often(
                min(poor_source, poor_target)
            )
        return self._is_often(poor_target if isinstance(self.transform, Pairing) else poor_source)

    def _sight(self, seen: Observation) -> Sight:
        # A shape is matched against the address after the other rules, which drop what hides it.
        # So is an order: raw paths also differ in what those rules drop.
        is_after_rules = isinstance(self.transform, Rewrite | SortSegments)
        form = self.transform.varying(seen.place if is_after_rules else seen.raw)
        return Sight(form, seen.key, seen.content)

    def _speaks_of(self, seen: Observation) -> bool:
        return self.context.holds(seen.place, self.about) or self._spans(seen)

    def _spans(self, seen: Observation) -> bool:
        """Return whether the rule takes another host for the host of this page."""
        transform = self.transform
        return isinstance(transform, ReplaceHost) and transform.new_host == seen.place.host

    def _positives(self, *, has_head_start: bool) -> int:
        """Return the texts that support it; for a whole host, at most twice those that are pages.

        Pages of several languages may share all their pictures.
        """
        positives = self.evidence.positives(has_head_start=has_head_start)
        if self.context.pattern is not None:
            return positives
        return min(positives, 2 * (self.evidence.texts - self.evidence.files))

    def is_believed(self, policy: LearningPolicy, *, has_head_start: bool = False) -> bool:
        """Return whether there is enough evidence for the rule, and none against it.

        Args:
            policy: The conditions.
            has_head_start: Whether the same is known from elsewhere, so that fewer texts are
                enough. It changes nothing else.
        """
        evidence = self.evidence
        if self.refuted is not None or not evidence.is_useful:
            return False
        # More than its positives, and known without a sum: most hypotheses are far from it.
        weight = _HEAD_START if has_head_start else 1
        if lower_bound(weight * evidence.most_positives) < policy.confidence or self._loses_links:
            return False
        positives = self._positives(has_head_start=has_head_start)
        if positives < _MIN_TEXTS or lower_bound(weight * positives) < policy.confidence:
            return False
        return not self.is_open or self._has_enough_values

    @property
    def _has_enough_values(self) -> bool:
        """Whether a rule about any value was seen with enough of them.

        A few words in one place of a path choose between views or languages of a page.
        """
        if self.evidence.fewest_values < _MIN_VALUES:
            return False
        values = self.evidence.values
        if isinstance(self.transform, Compound):
            values = values[:1]
        elif not isinstance(self.transform, ReplaceSegments | Rewrite):
            return True
        seen = [value for some in values for value in some]
        is_of_many = min(map(len, values)) >= _MIN_WORDS
        return is_of_many or 2 * sum(map(_has_an_id, seen)) > len(seen)


@dataclass(slots=True)
class Refuted:
    """A rule that does not hold, and two pages that prove it."""

    context: Context
    transform: Transform
    positives: int
    example: CounterExample


def narrowness(proposal: Proposal) -> tuple[int, bool, int, int]:
    """Return a sort key: rules for whole hosts, then narrow values, then many arguments first.

    Rules for the order of segments come after the closed ones for whole hosts. Of them that for the
    deepest folder comes first: the folders above it may have no evidence but its own.
    """
    context, transform = proposal
    parts = (context.pattern, context.beside, context.where)
    count = sum(part is not None for part in parts)
    if isinstance(transform, ReplaceSegments):
        return count, transform.is_open, transform.offset, 0
    if isinstance(transform, SortSegments):
        return count, False, _LAST, -len(transform.before)
    if isinstance(transform, Compound):
        return count, True, transform.segments.offset, -len(transform.arguments.names)
    if isinstance(transform, Rewrite) and transform.is_open:
        return count, True, _LAST, 0  # one shape of path alone
    return count, False, 0, -len(about(transform))


def _has_an_id(value: object) -> bool:
    """Return whether a text, or one of some segments, looks like an id."""
    parts = value if isinstance(value, tuple) else (value,)
    return any(looks_like_an_id(str(part)) for part in parts if part is not None)
