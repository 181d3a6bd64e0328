"""What is drawn, and the lines of a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from crawler.lab.choice import Choice


@dataclass(frozen=True)
class Histogram:
    """How far it is from each distinct text to the one nearest to it, earlier or later.

    Attributes:
        counts: int64, (65,): texts by bits.
        texts: Texts that were asked for.
        sampled: Whether these are a sample of all.
    """

    counts: NDArray[np.int64]
    texts: int
    sampled: bool


@dataclass(frozen=True)
class Scatter:
    """Pairs of distinct texts within 8 bits; of each distance no more than its share.

    Attributes:
        distance: uint8, (pairs,), in bits.
        similarity: float32, (pairs,).
        earlier: int64, (pairs,): places of pages.
        later: int64, (pairs,).
        pairs: All pairs that these were taken from.
    """

    distance: NDArray[np.uint8]
    similarity: NDArray[np.float32]
    earlier: NDArray[np.int64]
    later: NDArray[np.int64]
    pairs: int


@dataclass(frozen=True)
class SweepLine:
    """What one distance does: ``choice.within(max_distance)``.

    Attributes:
        max_distance: In bits.
        choice: What was judged with.
        kept: Pages.
        dropped: Pages.
        layers: How many pages each layer decided.
        now_kept: Pages that the running parameters drop.
        now_dropped: Pages that the running parameters keep.
        precision: Of the pairs of texts within so many bits, the share of at least
            ``min_similarity``; None where there is no pair.
        recall: Of the pairs within 8 bits that are so similar, the share within so many bits; None
            where there is no pair.
    """

    max_distance: int
    choice: Choice
    kept: int
    dropped: int
    layers: dict[str, int]
    now_kept: int
    now_dropped: int
    precision: float | None
    recall: float | None
