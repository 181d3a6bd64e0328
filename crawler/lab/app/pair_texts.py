"""Two texts ready to be read beside each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.lab.app.side_views import count_changes, side_by_side
from crawler.lab.shared_shingles import own_shingles
from neardup.comparison.diff import diff
from neardup.whole import readable

if TYPE_CHECKING:
    from crawler.lab.app.side_views import Row
    from crawler.lab.shared_shingles import OwnShingles

MOST_CHARACTERS = 400_000
"""Of a text that are compared: nobody reads more, and these take a second or two."""


@dataclass(frozen=True, slots=True)
class PairTexts:
    """What there is to see.

    Attributes:
        rows: The texts side by side.
        changes: Places in which they differ.
        own_of_first: Shingles that the first text alone has.
        own_of_second: Shingles that the second text alone has.
        is_cut: Whether a text goes on beyond what was compared.
    """

    rows: list[Row]
    changes: int
    own_of_first: OwnShingles
    own_of_second: OwnShingles
    is_cut: bool


def pair_texts(first: str, second: str, shingle_size: int) -> PairTexts:
    """Compare two texts word by word and shingle by shingle.

    Args:
        first: Of the earlier page.
        second: Of the later page.
        shingle_size: Words in a row by which similarity is counted.
    """
    first, second = readable(first), readable(second)
    ours, theirs = first[:MOST_CHARACTERS], second[:MOST_CHARACTERS]
    runs = diff(ours, theirs)
    return PairTexts(
        side_by_side(runs),
        count_changes(runs),
        *own_shingles(ours, theirs, shingle_size),
        is_cut=max(len(first), len(second)) > MOST_CHARACTERS,
    )
