"""Estimate how much of what a kind of URLs leads to is new, so that the best kinds come first."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.url_rules.learning.address import Address

WINDOW = 40
"""Pages of a kind that its estimate is made of, the last ones."""

LEVELS = (0.5, 0.25, 0.12)
"""A kind is one level later for each of these shares of new pages that it hardly reaches."""

FLOOR_OF = 20
"""One URL in this many is requested in the first level, whatever its kind: kinds may change."""

_ALL = (1 << WINDOW) - 1
_STEP = 2
LOWEST = -_STEP * len(LEVELS)
"""The priority of the last level."""

_CERTAINTY = 1.645
"""The 95 % quantile of the normal distribution."""

_MAX_KINDS = 20_000
_MAX_HOSTS = 5_000
_MAX_WORDS = 12
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{0,19}")


@dataclass(slots=True)
class _Kind:
    """The last pages of a kind.

    Attributes:
        recent: The last of them, a bit each; 1 for a new one.
        level: The number of ``LEVELS`` that its share of new pages does not reach at best.
    """

    pages: int = 0
    recent: int = 0
    level: int = 0

    def note(self, *, is_new: bool) -> None:
        self.pages += 1
        self.recent = (self.recent << 1 | is_new) & _ALL
        share = upper_bound(self.recent.bit_count(), min(self.pages, WINDOW))
        self.level = 0 if share >= LEVELS[0] else sum(share < one for one in LEVELS)


def upper_bound(new: int, pages: int) -> float:
    """Return the largest share of new pages that some pages allow, with 95 % certainty.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference", 1927.
    """
    if not pages:
        return 1.0
    square = _CERTAINTY**2
    share = new / pages
    spread = _CERTAINTY * sqrt(share * (1 - share) / pages + square / (4 * pages**2))
    return (share + square / (2 * pages) + spread) / (1 + square / pages)


class KindYields:
    """The kinds of URLs of a crawl with what came of their last pages.

    A kind is a cluster of URLs as ``ClusterNames`` tells them apart, with the words that its
    arguments have as values: ``action=history`` is another kind than ``action=edit``. Kinds begin
    in the first level, and fall as far as their best estimate allows: a bandit with upper
    confidence bounds. Nothing is given up, and inside a level the order stays breadth first.

    Memory is bounded: 20,000 kinds, the ones that were met last. A new process begins anew.

    Source: Auer, Cesa-Bianchi and Fischer, "Finite-time analysis of the multiarmed bandit
    problem", 2002.
    """

    def __init__(self) -> None:
        self._kinds: dict[str, _Kind] = {}
        self._words: dict[str, set[str]] = {}
        self._hosts: dict[str, None] = {}

    def __contains__(self, host: object) -> bool:
        """Return whether a host has any kind that is not in the first level."""
        return host in self._hosts

    def note(self, address: Address, cluster: str, *, is_new: bool) -> bool:
        """Take a page into account; return whether its kind is to come earlier from now on.

        Args:
            address: Its address after the learned rules.
            cluster: Name of its cluster.
            is_new: Whether it was kept.

        Complexity: O(arguments).
        """
        name = self._name(address, cluster)
        kind = self._kinds.pop(name, None) or _Kind()
        self._kinds[name] = kind
        if len(self._kinds) > _MAX_KINDS:
            del self._kinds[next(iter(self._kinds))]
        before = kind.level
        kind.note(is_new=is_new)
        if not is_new and kind.level:
            self._hosts.pop(address.host, None)
            self._hosts[address.host] = None
            if len(self._hosts) > _MAX_HOSTS:
                del self._hosts[next(iter(self._hosts))]
        return kind.level < before

    def priority(self, address: Address, cluster: str) -> int:
        """Return the priority of a URL, 0 in the first level.

        Args:
            address: Its address after the learned rules.
            cluster: Name of its cluster.

        Complexity: O(arguments).
        """
        kind = self._kinds.get(self._name(address, cluster))
        level = 0 if kind is None else kind.level
        if not level or int.from_bytes(address.digest()[8:12]) % FLOOR_OF == 0:
            return 0
        return -_STEP * level

    def _name(self, address: Address, cluster: str) -> str:
        """Return the name of a kind: that of its cluster, and the words that arguments have."""
        if not address.arguments:
            return cluster
        words = [
            f"{name}={value}"
            for name, value in address.arguments
            if value and _WORD.fullmatch(value) and self._is_one_of_few(f"{cluster} {name}", value)
        ]
        return f"{cluster} {' '.join(words)}" if words else cluster

    def _is_one_of_few(self, place: str, word: str) -> bool:
        words = self._words.get(place)
        if words is None:
            if len(self._words) >= _MAX_KINDS:
                del self._words[next(iter(self._words))]
            words = self._words[place] = set()
        if len(words) <= _MAX_WORDS:
            words.add(word)
        return len(words) <= _MAX_WORDS
