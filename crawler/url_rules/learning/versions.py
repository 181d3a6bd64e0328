"""Names in URLs that choose a version of a page, such as its language."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, TypeVar

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
    from collections.abc import Collection

    from crawler.url_rules.learning.address import Address
    from crawler.url_rules.learning.alternates import Difference
    from crawler.url_rules.learning.template import Template
    from crawler.url_rules.learning.transforms import Transform

MIN_TEXTS = 3
"""Names choose versions if at least this many texts are shared by two names that differ elsewhere.

One shared text may be "not found", whatever the name.
"""

_NAME = re.compile(r"[A-Za-z][A-Za-z_-]{0,19}")

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
        return all(isinstance(name, str) and _NAME.fullmatch(name) for name in names)


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
