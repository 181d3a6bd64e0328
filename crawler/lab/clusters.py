"""What would be one page, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crawler.lab.distance_text import in_bits
from neardup.evaluation.judging_arrays import LAYERS

if TYPE_CHECKING:
    from crawler.lab.judgement import Judgement

_MOST_MEMBERS = 1000


@dataclass(frozen=True, slots=True)
class ClusterMember:
    """A page that repeats the representative.

    Attributes:
        place: Of the page.
        layer: One of ``LAYERS``.
        distance: In bits; -1: none.
        similarity: 0 to 1; None: not known.
        why: The same in words.
    """

    place: int
    layer: str
    distance: int
    similarity: float | None
    why: str


@dataclass(frozen=True, slots=True)
class LabCluster:
    """A kept page with those that repeat it.

    Attributes:
        representative: Place of the kept page.
        size: Pages in it, the representative among them.
        members: The others in crawl order; of very many the first ones.
    """

    representative: int
    size: int
    members: tuple[ClusterMember, ...]


def largest_clusters(judgement: Judgement, limit: int) -> list[LabCluster]:
    """Return the kept pages that most others repeat, with these."""
    dropped = np.flatnonzero(~judgement.kept)
    # Stable, so members stay in crawl order.
    order = dropped[np.argsort(judgement.original[dropped], kind="stable")]
    originals, starts, counts = np.unique(
        judgement.original[order], return_index=True, return_counts=True
    )
    largest = np.lexsort((originals, -counts))[:limit]
    return [
        LabCluster(
            int(originals[row]),
            int(counts[row]) + 1,
            tuple(
                _member(judgement, int(place))
                for place in order[starts[row] : starts[row] + min(counts[row], _MOST_MEMBERS)]
            ),
        )
        for row in largest
    ]


def _member(judgement: Judgement, place: int) -> ClusterMember:
    layer = LAYERS[judgement.layer[place]]
    bits, similarity = int(judgement.distance[place]), float(judgement.similarity[place])
    known = None if np.isnan(similarity) else similarity
    return ClusterMember(place, layer, bits, known, _why(layer, bits, known))


def _why(layer: str, bits: int, similarity: float | None) -> str:
    if layer == "payload":
        return "the same bytes"
    if layer == "text":
        return "the same words"
    measured = [in_bits(bits)] if bits >= 0 else []
    if similarity is not None:
        measured.append(f"similarity {similarity:.2f}")
    return ", ".join(measured) or "near, by what the crawl stored"
