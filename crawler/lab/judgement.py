"""The verdicts of a choice of parameters on each page."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from neardup.evaluation.judging import LAYERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["KEEPING", "LAYERS", "Judgement", "VerdictChanges"]

KEEPING = LAYERS[:3]
"""The layers that keep a page; the others drop it."""


class VerdictChanges(NamedTuple):
    """Pages that two judgements treat differently.

    Attributes:
        now_kept: int64, places of pages, ascending.
        now_dropped: int64, places of pages, ascending.
    """

    now_kept: NDArray[np.int64]
    now_dropped: NDArray[np.int64]


@dataclass(frozen=True)
class Judgement:
    """The verdicts on all pages, in crawl order.

    Attributes:
        kept: bool, (pages,).
        original: int64, (pages,): place of the kept page that this one repeats; -1: none, or by
            a stored verdict one that is not among them.
        distance: int16, (pages,): bits between the two; 0 for equal ones, -1: none.
        similarity: float32, (pages,): 1 for equal ones, NaN: none, or not known.
        layer: uint8, (pages,): a place in ``LAYERS``.
        body_bytes: int64, (pages,).
        unknown: The number of pages that are near another one while the text of one of them is not
            stored. Their verdict rests on what the crawl stored of them.
    """

    kept: NDArray[np.bool_]
    original: NDArray[np.int64]
    distance: NDArray[np.int16]
    similarity: NDArray[np.float32]
    layer: NDArray[np.uint8]
    body_bytes: NDArray[np.int64]
    unknown: int = 0

    def __len__(self) -> int:
        return len(self.kept)

    @cached_property
    def kept_count(self) -> int:
        return int(np.count_nonzero(self.kept))

    @property
    def dropped_count(self) -> int:
        return len(self) - self.kept_count

    @cached_property
    def saved_bytes(self) -> int:
        return int(self.body_bytes[~self.kept].sum())

    def counts(self) -> dict[str, int]:
        """Return the number of pages that each of ``LAYERS`` decided, 0 included."""
        found = np.bincount(self.layer, minlength=len(LAYERS)).tolist()
        return dict(zip(LAYERS, found, strict=True))

    def cluster_sizes(self) -> NDArray[np.int64]:
        """Return the pages of each cluster, the kept one included: int64, the largest first.

        A kept page that nothing repeats is none.
        """
        repeats = np.bincount(self.original[~self.kept], minlength=0)
        return np.sort(repeats[repeats > 0] + 1)[::-1].astype(np.int64)

    def changes_from(self, other: Judgement) -> VerdictChanges:
        """Return the pages that are kept or dropped here and were not in the other judgement.

        Pages that came since the other one are no changes.
        """
        common = min(len(self), len(other))
        ours, theirs = self.kept[:common], other.kept[:common]
        return VerdictChanges(np.flatnonzero(ours & ~theirs), np.flatnonzero(~ours & theirs))
