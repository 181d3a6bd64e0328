"""One learned rule: its context, its transform, its evidence, and its trials."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from crawler.url_rules.learning.transforms import (
    DropArguments,
    ReplaceHost,
    ReplaceValues,
    about,
    includes,
    is_open,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

    from crawler.url_rules.learning.address import Address
    from crawler.url_rules.learning.context import Context
    from crawler.url_rules.learning.proposals import Proposal
    from crawler.url_rules.learning.transforms import Transform

Part = tuple[int, int, str]
"""The number of a rule, the number of a part that it changed in an address, and the old value."""

Form = frozenset[Part]
"""The difference between an address and the plainest one of its page, ids apart."""

Proof = tuple[int, str]
"""A part that a rule drops, by number, and a value of it; ``(0, "")`` for a rule about one value.

A proof counts the pages on which that value was tried. ``(-N, "")`` counts those on which the rule
was tried together with rule N, an older one: each may be right alone where both are wrong.
"""

NOT_EXAMINED, PROVEN, ALL_TRIED, OF_IDS, UNDECIDED = "no", "proven", "all", "ids", "undecided"
SELDOM = "seldom"
"""States of the validation of a rule at the end of a crawl.

NOT_EXAMINED: not at all, or not to the end. PROVEN: on enough pages. ALL_TRIED: on each page that
it skips, which are fewer. OF_IDS: never, since it drops ids of sessions. UNDECIDED: as often as is
worth while, where most pages cannot be compared. SELDOM: a standard rule, which is tried in the
crawl, ever more seldom.
"""

_TRIES = 1
_MAX_PATTERNS = 30
_MAX_VALUES = 20  # with as many known, further ones may be ids
OTHER_VALUES = "*"
"""The value that all values beyond the first twenty of a part are counted under."""
_MAX_VALUE = 60  # characters that a report shows
_FEW = re.compile(r"[A-Za-z_/-]{0,20}|[0-9]{1,2}")


class FetchedForms(set[Form]):
    """The forms of a page's URLs that were fetched, and the parts that these prove together.

    A URL is best compared with one that has fewer parts, or more: a view of all of a page and one
    to be printed may have the same text, and the plain page another. Where no such URL was fetched,
    it is compared with all.

    Complexity: quadratic in the forms, which are few, once for all further URLs of the page.
    """

    def gained(self, form: Form) -> AbstractSet[Part]:
        """Return the parts that a further URL of the page would prove."""
        if form in self:
            return frozenset()
        strong = [form ^ other for other in self if _is_nested(form, other)]
        if strong:
            return frozenset().union(*map(_with_pairs, strong)) - self._proved_by_nested
        return frozenset().union(*(form ^ other for other in self)) - self.proved

    @cached_property
    def proved(self) -> Form:
        """The parts that are proved since the URLs lead to the same text."""
        return _proved(combinations(self, 2))

    @cached_property
    def _proved_by_nested(self) -> Form:
        """The same from pairs in which one has all parts of the other."""
        return _proved(pair for pair in combinations(self, 2) if _is_nested(*pair))


def _proved(pairs: Iterable[tuple[Form, Form]]) -> Form:
    return frozenset[Part]().union(*(_with_pairs(one ^ other) for one, other in pairs))


def _with_pairs(difference: Form) -> Form:
    """Return the parts of a difference, and a part for every two rules that it is by."""
    rules = sorted({part[0] for part in difference})
    return difference.union((newer, -older, "") for older, newer in combinations(rules, 2))


def _is_nested(one: Form, other: Form) -> bool:
    return one <= other or other <= one


class Variety(NamedTuple):
    """The values of a part that a rule drops, as of the last validation.

    Attributes:
        is_many: Whether there are too many for each to be a form of the page.
        frequent: Those that several pages have.
        are_shared: Whether most are met on several pages each, as those of sessions are.
    """

    is_many: bool = False
    frequent: frozenset[str] = frozenset()
    are_shared: bool = False


_UNKNOWN = Variety()


@dataclass(slots=True)
class LearnedRule:
    """A part of a host's addresses that does not matter.

    Attributes:
        context: The addresses for which it holds.
        transform: The change that it makes to such an address.
        positives: Number of texts that were met under two addresses which it makes one.
        patterns: Path patterns in which it was tried, with the number of trials.
        values: Values that it dropped or replaced in trials, a set for each part.
        clusters: Kinds of pages for which it was right.
        saved: Requests that were not made because of it, in the visits before this one.
        explored: Requests that were made all the same, to try it.
        origin: "learned", or the file that it came from.
        head_start: Where it was known from, so that fewer texts were enough; "" for others.
        tried: Number of pages on which each value was tried, those included from which it was
            learned.
        varieties: What is known of the values of each part that it drops.
        since: Number of the capture after which pages count as trials.
        asked: Number of requests made at the end of the crawl to try each value.
        examined: State of its validation at the end of the crawl.
        due_at: A standard rule is tried again once it was met this many times.
    """

    id: int
    context: Context
    transform: Transform
    positives: int = 0
    patterns: dict[str, int] = field(default_factory=dict)
    values: list[set[str]] = field(default_factory=list)
    clusters: set[str] = field(default_factory=set)
    saved: int = 0
    explored: int = 0
    origin: str = "learned"
    head_start: str = ""
    tried: Counter[Proof] = field(default_factory=Counter)
    asked: Counter[Proof] = field(default_factory=Counter)
    examined: str = NOT_EXAMINED
    varieties: list[Variety] = field(default_factory=list)
    since: int = 0
    due_at: int = 1
    _few: dict[int, tuple[int, int]] = field(default_factory=dict, repr=False)

    @property
    def has_many_values(self) -> bool:
        """Whether it drops arguments with many values each, such as a session id.

        No site has a page for each of those; an argument of few values may matter on some pages.
        """
        fewest = min(map(len, self.values), default=0)
        return self.drops and fewest >= _MAX_VALUES

    @property
    def drops(self) -> bool:
        return isinstance(self.transform, DropArguments)

    @property
    def has_few_values(self) -> bool:
        """Whether it is about an argument of few values, or about one of its values."""
        is_about_arguments = isinstance(self.transform, DropArguments | ReplaceValues)
        return is_about_arguments and not self.has_many_values

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts whose addresses it changes, and the host that it changes them to."""
        if isinstance(self.transform, ReplaceHost):
            return self.transform.host, self.transform.new_host
        return (self.context.host,)

    @property
    def is_of_ids(self) -> bool:
        """Whether each part that it drops has ids of sessions, and no value of it is frequent."""
        things = range(len(self.values))
        return bool(things) and all(
            self.has_session_ids(n) and not self.frequent(n) for n in things
        )

    def has_ids(self, thing: int) -> bool:
        """Return whether a part that it drops has ids: many values, most of which look like that.

        Words are ids too where there are more of them than any page has forms.
        """
        values = self.values[thing] if 0 <= thing < len(self.values) else ()
        if len(values) < _MAX_VALUES or not is_open(self.transform):
            return False
        if self._variety(thing).is_many:
            return True
        count, few = self._few.get(thing, (0, 0))
        if count != len(values):
            count, few = len(values), sum(map(is_one_of_few, values))
            self._few[thing] = count, few
        return 2 * few < count

    def has_session_ids(self, thing: int) -> bool:
        """Return whether the ids of a part are those of sessions: no page is of one of them alone.

        The id of a revision stands on one page, whose text may be another one for that.
        """
        return self.has_ids(thing) and self._variety(thing).are_shared

    def has_many(self, thing: int) -> bool:
        """Return whether twenty values of a part are known, so that further ones may be ids."""
        return len(self.values[thing]) >= _MAX_VALUES

    def frequent(self, thing: int) -> AbstractSet[str]:
        """Return the values of a part of ids that several pages have: such a one may matter."""
        return self._variety(thing).frequent

    def _variety(self, thing: int) -> Variety:
        return self.varieties[thing] if thing < len(self.varieties) else _UNKNOWN

    def is_an_id(self, thing: int, value: str) -> bool:
        """Return whether a value of a part is that of a session, so that it proves nothing."""
        return self.has_session_ids(thing) and value not in self.frequent(thing)

    def known_values(self, thing: int) -> int:
        return len(self.values[thing] - {""}) if thing < len(self.values) else 0

    def proofs(self, address: Address) -> list[Proof]:
        """Return the proofs that an address gives if it leads to the text of another one.

        Values beyond the first twenty of a part count as one, but for those that are frequent; the
        ids of sessions prove nothing.
        """
        if not is_open(self.transform):
            return [(0, "")]
        values = list(map(shown_value, self.transform.varying(address)))
        found = [
            (thing, self._told_apart(thing, value))
            for thing, value in enumerate(values)
            if value and not self.is_an_id(thing, value)
        ]
        return found or ([] if any(values) else [(0, "")])

    def _told_apart(self, thing: int, value: str) -> str:
        seen = self.values[thing] if thing < len(self.values) else set()
        is_told = value in seen or len(seen) < _MAX_VALUES or value in self.frequent(thing)
        return value if is_told or self.has_ids(thing) else OTHER_VALUES

    def counted_as(self, thing: int, value: str) -> Proof:
        """Return the proof that a part of an address is: the ids of single pages are one."""
        is_id = self.has_ids(thing) and value not in self.frequent(thing)
        return thing, OTHER_VALUES if is_id else value

    def note_proof(self, proof: Proof) -> None:
        thing, value = proof
        if is_open(self.transform) and value not in {"", OTHER_VALUES}:
            self.values.extend(set() for _ in range(thing + 1 - len(self.values)))
            self.values[thing].add(value)

    def start_over(self, page: int) -> None:
        """Discard the trials up to a capture: the rule may be wrong, or be about other pages."""
        self.since = page
        self.tried.clear()
        self.asked.clear()
        self.examined = NOT_EXAMINED

    def is_like(self, context: Context, transform: Transform) -> bool:
        """Return whether it is another rule but for its exceptions."""
        return self.transform == transform and replace(self.context, apart_from=()) == context

    def apply(self, address: Address) -> Address:
        if not self.context.holds(address, about(self.transform)):
            return address
        return self.transform(address)

    def is_new_ground(self, address: Address, pattern: str) -> bool:
        """Return whether it was never tried on such a path, or with such a value."""
        if len(self.patterns) < _MAX_PATTERNS and self.patterns.get(pattern, 0) < _TRIES:
            return True
        return any(
            len(seen) < _MAX_VALUES and value not in seen and is_one_of_few(value)
            for value, seen in self._values(address)
        )

    def note_try(self, address: Address, pattern: str) -> None:
        """Remember the path and the values of a trial."""
        if pattern in self.patterns or len(self.patterns) < _MAX_PATTERNS:
            self.patterns[pattern] = self.patterns.get(pattern, 0) + 1
        for value, seen in self._values(address):
            if len(seen) < _MAX_VALUES:
                seen.add(value)

    def _values(self, address: Address) -> Iterable[tuple[str, set[str]]]:
        form = self.transform.varying(address)
        self.values.extend(set() for _ in range(len(form) - len(self.values)))
        return zip(map(shown_value, form), self.values, strict=False)

    def __str__(self) -> str:
        return f"{self.context}: {self.transform}"


def overlap(one: Proposal, other: Proposal) -> bool:
    """Return whether two rules change some addresses in the same way."""
    (here, does), (there, did) = one, other
    if not (here.covers(there) or there.covers(here)):
        return False
    shared = set(about(does)) & set(about(did))
    return bool(shared) or includes(does, did) or includes(did, does)


def shown_value(value: object) -> str:
    """Return a part that a rule drops as a short text: the values of an argument, or segments."""
    parts = value if isinstance(value, tuple) else (value,)
    return "/".join("" if part is None else str(part) for part in parts)[:_MAX_VALUE]


def is_one_of_few(value: str) -> bool:
    """Return whether a value may be one of a few, unlike an id, which no two pages share."""
    return _FEW.fullmatch(value) is not None


def weakest(rules: Iterable[LearnedRule]) -> LearnedRule:
    """Return the rule with the least evidence, of several such rules the newest."""
    return min(rules, key=lambda rule: (rule.positives, -rule.id))
