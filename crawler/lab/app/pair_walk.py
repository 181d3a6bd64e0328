"""A walk through pairs, from one that nobody labelled to the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawler.lab.near_pair import NearPair


@dataclass
class PairWalk:
    """Pairs in their order, of which one is looked at.

    Attributes:
        pairs: All so far.
        at: Number of the one that is looked at; 0 where there is none.
    """

    pairs: list[NearPair] = field(default_factory=list)
    at: int = 0

    @property
    def current(self) -> NearPair | None:
        """The pair that is looked at; None: there is none."""
        return self.pairs[self.at] if self.pairs else None

    @property
    def is_at_end(self) -> bool:
        """Whether no pair comes after this one."""
        return self.at >= len(self.pairs) - 1

    def begin(self, pairs: Iterable[NearPair], is_labelled: Callable[[NearPair], bool]) -> None:
        """Walk through other pairs, from the first one without a label."""
        self.pairs, self.at = list(pairs), 0
        if self.pairs and is_labelled(self.pairs[0]):
            self.go_on(is_labelled)

    def add(self, pairs: Iterable[NearPair]) -> int:
        """Append pairs that are not there yet; say how many."""
        known = {(pair.first, pair.second) for pair in self.pairs}
        new = [pair for pair in pairs if (pair.first, pair.second) not in known]
        self.pairs += new
        return len(new)

    def step(self, by: int) -> bool:
        """Go so many pairs on, or back; say whether it is another one then."""
        before = self.at
        self.at = max(0, min(len(self.pairs) - 1, self.at + by))
        return self.at != before

    def go_on(self, is_labelled: Callable[[NearPair], bool]) -> bool:
        """Go to the next one without a label, round past the end; say whether there is one."""
        count = len(self.pairs)
        for step in range(1, count):
            place = (self.at + step) % count
            if not is_labelled(self.pairs[place]):
                self.at = place
                return True
        return False

    def go_to(self, first: int, second: int) -> bool:
        """Go to a pair by its places; say whether it is there."""
        for number, pair in enumerate(self.pairs):
            if (pair.first, pair.second) == (first, second):
                self.at = number
                return True
        return False
