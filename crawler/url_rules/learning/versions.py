"""Tell names in a URL that choose a version of a page: languages, and what hreflang declares."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from crawler.url_rules.learning.template import WORD
from crawler.url_rules.learning.transforms import (
    ANYTHING,
    Compound,
    ReplaceHost,
    ReplaceSegments,
    ReplaceValues,
    Rewrite,
    SortSegments,
    about,
    parts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from crawler.url_rules.learning.address import Address
    from crawler.url_rules.learning.template import Template
    from crawler.url_rules.learning.transforms import Transform

    Difference = ReplaceHost | ReplaceSegments | ReplaceValues

_ANY_LANGUAGE = "x-default"
_SCRIPT = 4  # letters: zh-Hant is another text than zh-Hans


def language_of(hreflang: str) -> str:
    """Return the language of an hreflang with its script, without its region.

    ``en-GB`` and ``en-US`` may well be one text. ``x-default``, which may be any of the others, is
    no language.
    """
    tag = hreflang.strip().lower().replace("_", "-")
    if tag == _ANY_LANGUAGE:
        return ""
    first, *others = tag.split("-")
    return "-".join([first, *(part for part in others if len(part) == _SCRIPT and part.isalpha())])


def one_of_each(alternates: Iterable[tuple[str, str]], most: int, first: int) -> list[str]:
    """Return the URLs of some translations, each in another language.

    Args:
        alternates: The hreflang and URL of each.
        most: Return at most this many.
        first: Begin with another one for another number, so that each has its turn.
    """
    urls: dict[str, str] = {}
    for hreflang, url in alternates:
        if language := language_of(hreflang):
            urls.setdefault(language, url)
    found = list(urls.values())
    start = first % len(found) if found else 0
    return [*found[start:], *found[:start]][:most]


def differences(
    translations: Sequence[Address], after_rules: Callable[[Address], Address]
) -> Iterator[Difference]:
    """Yield the one thing in which each translation of a page differs from the first.

    Args:
        translations: Their addresses.
        after_rules: Returns an address after the rules that hold. They drop what else may differ,
            such as a session, and where one of them folds languages, these too.
    """
    for other in translations[1:]:
        first = translations[0]
        found = difference(first, other) or difference(after_rules(first), after_rules(other))
        if found is not None:
            yield found


def difference(a: Address, b: Address) -> Difference | None:
    """Return the one thing in which two addresses differ, as the rule that would drop it.

    Returns:
        A host, an argument, or one segment that the path has in place of another or of none. None
        where they differ in more, or in nothing: that tells nothing of languages.
    """
    if a.host != b.host:
        is_all = (a.segments, a.arguments) == (b.segments, b.arguments)
        return ReplaceHost(a.scheme, a.host, b.scheme, b.host) if is_all else None
    if a.segments == b.segments:
        names = [name for name in a.names | b.names if a.values(name) != b.values(name)]
        if len(names) != 1:
            return None
        return ReplaceValues(names[0], a.values(names[0]), b.values(names[0]))
    return _segment(a, b) if a.arguments == b.arguments else None


def _segment(a: Address, b: Address) -> ReplaceSegments | None:
    longer, shorter = sorted((a.segments, b.segments), key=len, reverse=True)
    pairs = zip(longer, shorter, strict=False)
    place = next((at for at, (one, other) in enumerate(pairs) if one != other), len(shorter))
    rest = place + 1
    if len(longer) == len(shorter) and longer[rest:] == shorter[rest:]:
        return ReplaceSegments(False, place, longer[place:rest], shorter[place:rest])
    if longer[rest:] == shorter[place:]:
        return ReplaceSegments(False, place, longer[place:rest], ())
    return None


MIN_TEXTS = 3
"""Names choose versions if at least this many texts are shared by two names that differ elsewhere.

One shared text may be "not found", whatever the name.
"""

_MAX_NAMES = 200
"""Note at most this many arguments, and hosts, in which translations differ."""

_Stretch = tuple[object, ...]
_Spot = tuple[bool, int]
_Key = TypeVar("_Key")


class _Swap(NamedTuple):
    """The part of a path that a rule replaces, and its replacement.

    Attributes:
        spot: Whether its place is counted from the end, and how far it is from there.
    """

    spot: _Spot
    old: _Stretch
    new: _Stretch

    @property
    def is_of_names(self) -> bool:
        """Whether both parts are names; two ids hardly ever have many pages in common."""
        names = (*self.old, *self.new)
        return all(isinstance(name, str) and WORD.fullmatch(name) for name in names)


def swap(transform: Transform) -> _Swap | None:
    """Return the part of a path that a rule replaces; None where it replaces something else."""
    if isinstance(transform, ReplaceSegments):
        old, offset = transform.old, transform.offset
        if ANYTHING in old and not transform.at_end:
            offset += old.index(ANYTHING)
        return _Swap((transform.at_end, offset), old, transform.new)
    return _swap(transform.source, transform.target) if isinstance(transform, Rewrite) else None


def _swap(source: Template, target: Template) -> _Swap | None:
    """Return the first segment in which two shapes of one length differ."""
    if len(source.segments) != len(target.segments):
        return None
    for place, (old, new) in enumerate(zip(source.segments, target.segments, strict=True)):
        if old != new:
            return _Swap((False, place), old, new)
    return None


def takes_names(transform: Transform) -> bool:
    """Return whether a rule replaces or sorts given segments of a path: it has no exceptions.

    Two names that lead to one text here and to two there choose between versions, and most pages
    have only one version. Each order of segments is a kind of page of its own, so that to exclude
    one would leave the others.
    """
    if isinstance(transform, SortSegments):
        return True
    return isinstance(transform, ReplaceSegments | Rewrite) and not transform.is_open


@dataclass(slots=True)
class Versions:
    """The places in the URLs of one host where names choose versions of pages.

    Names in paths are tried in pairs, and one of two may have so few pages of its own that
    none of those is met. Other names that choose versions in the same place are proof enough.
    Of arguments and hosts only those choose versions that pages declare to be of translations.
    """

    _texts: dict[_Spot, set[int]] = field(default_factory=dict)
    _names: dict[_Spot, set[_Stretch]] = field(default_factory=dict)
    # Texts whose translations differ in an argument, by its name, and in the host, by each host.
    _arguments: dict[str, set[int]] = field(default_factory=dict)
    _hosts: dict[str, set[int]] = field(default_factory=dict)

    def note(self, transform: Transform, texts: Collection[int]) -> bool:
        """Note a rule that is wrong; return whether ``choose`` may answer otherwise from now on.

        Args:
            transform: The rule.
            texts: Numbers of the texts for which it was right.
        """
        swapped = swap(transform)
        if swapped is None or not swapped.is_of_names:
            return False
        was_one = self._is_one(swapped.spot)
        held = self._texts.setdefault(swapped.spot, set())
        if len(held) < MIN_TEXTS:
            held.update(texts)
        is_new = self._note_names(swapped)
        return self._is_one(swapped.spot) and (is_new or not was_one)

    def note_translations(self, found: Difference, text: int) -> bool:
        """Note in which one thing the URLs of two translations of a page differ.

        Args:
            found: The rule that would drop it.
            text: Number of the text of a page that declares them.

        Returns:
            Whether ``choose`` may answer otherwise from now on.
        """
        if isinstance(found, ReplaceSegments):
            return self.note(found, (text,))
        if isinstance(found, ReplaceValues):
            return _note_text(self._arguments, found.name, text)
        is_news = _note_text(self._hosts, found.host, text)
        return _note_text(self._hosts, found.new_host, text) or is_news

    def _note_names(self, swapped: _Swap) -> bool:
        names = self._names.setdefault(swapped.spot, set())
        count = len(names)
        names.update((swapped.old, swapped.new))
        return len(names) > count

    def tell_apart(self, one: Address, other: Address) -> bool:
        """Return whether two addresses differ only in names that choose versions of a page.

        No rule that they suggest would ever be believed. Their names are noted.

        Complexity: O(segments), where no name was ever seen to choose a version O(1).
        """
        if not self._texts or one.arguments != other.arguments:
            return False
        differences = zip(one.segments, other.segments, strict=False)
        place = next((at for at, (a, b) in enumerate(differences) if a != b), None)
        if place is None or not self._is_one((False, place)):
            return False
        rest = place + 1
        if one.segments[rest:] != other.segments[rest:]:
            return False
        swapped = _Swap((False, place), one.segments[place:rest], other.segments[place:rest])
        if not swapped.is_of_names:
            return False
        self._note_names(swapped)
        return True

    def choose(self, transform: Transform) -> bool:
        """Return whether a rule is about such a place, or equates two names of such a place."""
        if isinstance(transform, Compound):
            return any(map(self.choose, parts(transform)))
        if self._arguments and any(_is_enough(self._arguments, one) for one in about(transform)):
            return True
        if self._hosts and isinstance(transform, ReplaceHost):
            hosts = transform.host, transform.new_host
            return all(_is_enough(self._hosts, host) for host in hosts)
        swapped = swap(transform)
        if swapped is None:
            return False
        return self._is_one(swapped.spot) or any(
            {swapped.old, swapped.new} <= names and self._is_one(spot)
            for spot, names in self._names.items()
        )

    def _is_one(self, spot: _Spot) -> bool:
        return _is_enough(self._texts, spot)


def _note_text(texts: dict[str, set[int]], name: str, text: int) -> bool:
    """Note one more text of a name; return whether there are just enough of them now."""
    if len(texts) >= _MAX_NAMES and name not in texts:
        return False
    noted = texts.setdefault(name, set())
    was_enough = len(noted) >= MIN_TEXTS
    if not was_enough:
        noted.add(text)
    return not was_enough and len(noted) >= MIN_TEXTS


def _is_enough(texts: dict[_Key, set[int]], key: _Key) -> bool:
    return len(texts.get(key, ())) >= MIN_TEXTS
