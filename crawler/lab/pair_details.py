"""The details of a pair of pages, to be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.lab.shared_shingles import own_shingles
from neardup import diff
from neardup.whole import readable

if TYPE_CHECKING:
    from crawler.lab.lab_page import LabPage
    from crawler.lab.loading import Loaded
    from crawler.lab.near_pair import NearPair
    from crawler.lab.shared_shingles import OwnShingles
    from neardup.comparison.diff import WordRun


@dataclass(frozen=True, slots=True)
class PairDetails:
    """A pair with its pages and where their texts differ.

    Attributes:
        pair: As the session names it.
        first: The earlier page.
        second: The later page.
        own_of_first: Shingles that it alone has; None where a text is not held.
        own_of_second: Likewise.
        runs: The diff; None where a text is not held.
    """

    pair: NearPair
    first: LabPage
    second: LabPage
    own_of_first: OwnShingles | None
    own_of_second: OwnShingles | None
    runs: tuple[WordRun, ...] | None


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
