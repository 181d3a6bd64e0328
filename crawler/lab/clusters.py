"""What would be one page, and why."""

from __future__ import annotations

from dataclasses import dataclass


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
