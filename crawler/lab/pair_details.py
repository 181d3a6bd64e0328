"""The details of a pair of pages, to be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup import diff
from neardup.names import difference, unpacked
from neardup.verification import split
from neardup.whole import readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from crawler.lab.border_pairs import NearPair
    from crawler.lab.crawl_source import LabPage
    from crawler.lab.crawl_sources import Loaded
    from neardup.comparison.diff import WordRun

MAX_SHINGLES = 20
"""At most this many shingles of each text are named."""


@dataclass(frozen=True, slots=True)
class OwnShingles:
    """Distinct shingles that the other text has not.

    Attributes:
        count: The number of all of them.
        of: The number of distinct shingles of the text.
        first: The first of them as they stand in the folded text, at most ``MAX_SHINGLES``.
    """

    count: int
    of: int
    first: tuple[str, ...]


def own_shingles(first: str, second: str, size: int) -> tuple[OwnShingles, OwnShingles]:
    """Return the shingles of each text that the other one has not.

    As in ``neardup.jaccard``, a text of fewer words than ``size`` is one shingle.

    Complexity: O(words * size).
    """
    ours, theirs = _shingles(split(first), size), _shingles(split(second), size)
    return _own(ours, theirs), _own(theirs, ours)


def _shingles(words: Sequence[bytes], size: int) -> dict[tuple[bytes, ...], None]:
    if len(words) < size:
        return {tuple(words): None}
    return dict.fromkeys(zip(*(words[place:] for place in range(size)), strict=False))


def _own(ours: dict[tuple[bytes, ...], None], theirs: dict[tuple[bytes, ...], None]) -> OwnShingles:
    own = [shingle for shingle in ours if shingle not in theirs]
    shown = tuple(b" ".join(shingle).decode("utf-8", "replace") for shingle in own[:MAX_SHINGLES])
    return OwnShingles(len(own), len(ours), shown)


@dataclass(frozen=True, slots=True)
class PairDetails:
    """A pair with its pages and where their texts differ.

    Attributes:
        pair: As the session names it.
        first: The earlier page.
        second: The later page.
        own_of_first: Shingles that the first alone has; None where a text is not held.
        own_of_second: Shingles that the second alone has; None where a text is not held.
        runs: The diff; None where a text is not held.
    """

    pair: NearPair
    first: LabPage
    second: LabPage
    own_of_first: OwnShingles | None
    own_of_second: OwnShingles | None
    runs: tuple[WordRun, ...] | None

    @property
    def names_differ_by(self) -> str:
        """The reason why the names show different things; empty: they do not."""
        return difference(unpacked(self.second.name), unpacked(self.first.name))


def details_of(found: Loaded, pair: NearPair) -> PairDetails:
    """Read the texts of a pair and compare them.

    Raises:
        SourceError: They cannot be read.
    """
    first, second = (found.session.pages[place] for place in (pair.first, pair.second))
    one, other = found.sources.texts([first.id, second.id])
    if one is None or other is None:
        return PairDetails(pair, first, second, None, None, None)
    size = found.session.running.verify_shingle_size
    one, other = readable(one), readable(other)
    ours, theirs = own_shingles(one, other, size)
    return PairDetails(pair, first, second, ours, theirs, tuple(diff(one, other)))
