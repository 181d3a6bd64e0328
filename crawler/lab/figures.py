"""The data of the charts, and the lines of a sweep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from crawler.lab.choice import Choice


@dataclass(frozen=True)
class Histogram:
    """The distances from each distinct text to the one nearest to it, earlier or later.

    Attributes:
        counts: int64, (65,): the number of texts at each distance in bits.
        texts: The number of texts that were measured.
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
    """The outcome of one distance: ``choice.within(max_distance)``.

    Attributes:
        max_distance: The largest distance of a match, in bits.
        choice: The choice that judged.
        kept: The number of pages kept.
        dropped: The number of pages dropped.
        layers: The number of pages that each layer decided.
        now_kept: The number of pages kept that the running parameters drop.
        now_dropped: The number of pages dropped that the running parameters keep.
        precision: The share of pairs with at least ``min_similarity`` among those within
            ``max_distance`` bits; None where there is no pair.
        recall: The share of pairs within ``max_distance`` bits among those within 8 bits that have
            at least ``min_similarity``; None where there is no pair.
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
