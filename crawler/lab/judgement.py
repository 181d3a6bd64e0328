"""The verdicts of a choice of parameters on each page, and what is drawn of several choices."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from neardup.errors import ParameterError
from neardup.evaluation.near_arrays import CONTAINED, LAYERS
from neardup.parameters import DEFAULTS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from neardup import Parameters

SIMHASH, EXACT = "simhash", "exact"
METHODS = (SIMHASH, EXACT)


@dataclass(frozen=True, slots=True)
class Choice:
    """Parameters, and the method that finds what they decide on.

    Attributes:
        parameters: Features of None mean what suits ``verify``, as in a crawl.
        method: ``simhash``: as a crawl does it, candidates by bands included. ``exact``: equal
            bytes and equal texts alone.

    Raises:
        ParameterError: There is no such method.
    """

    parameters: Parameters = DEFAULTS
    method: str = SIMHASH

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ParameterError(f"method must be one of {', '.join(METHODS)}, got {self.method!r}")

    def with_parameters(self, **changes: Any) -> Choice:
        """Return the choice with other values of some parameters.

        Where similarity confirms, candidates are found farther out too, so that ``max_distance``
        drops hardly a page more or less: it names the layer.
        """
        return replace(self, parameters=replace(self.parameters, **changes))


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
        kept, original, distance, similarity, layer, resembles: As those of ``Verdicts``, (pages,);
            a stored verdict may name a page that is not among them, which is -1 here.
        body_bytes: int64, (pages,).
        part_of: int64, (pages,): place of the kept page that contains this kept one; -1: none;
            None: parts were not looked for.
        containment: float32, (pages,): the share of its shingles that stand there, or in its
            original where it is dropped for that; NaN: none.
    """

    kept: NDArray[np.bool_]
    original: NDArray[np.int64]
    distance: NDArray[np.int16]
    similarity: NDArray[np.float32]
    layer: NDArray[np.uint8]
    resembles: NDArray[np.int64]
    body_bytes: NDArray[np.int64]
    part_of: NDArray[np.int64] | None = None
    containment: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.kept)

    @cached_property
    def kept_count(self) -> int:
        return int(np.count_nonzero(self.kept))

    @property
    def dropped_count(self) -> int:
        return len(self) - self.kept_count

    def containment_of(self, place: int) -> float | None:
        """Return the share of a page that stands in the one that it is a part of; None: none."""
        return None if self.containment is None else float(self.containment[place])

    def named(self, place: int) -> int:
        """Return the place of the page that one repeats or is a part of; -1: none."""
        original = int(self.original[place])
        return original if original >= 0 or self.part_of is None else int(self.part_of[place])

    @property
    def parts(self) -> NDArray[np.int64] | None:
        """The places of the kept pages that are parts of kept ones, ascending; None: as above."""
        return None if self.part_of is None else np.flatnonzero(self.part_of >= 0)

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


class PartPairs(NamedTuple):
    """Pages with those that they are a part of, by the part, then as they are looked at.

    Attributes:
        part: int64, (pairs,): places.
        container: int64, (pairs,): places, each the first of its text.
        containment: float64, (pairs,): the share of the part's shingles that stand there, 0 to 1.
    """

    part: NDArray[np.int64]
    container: NDArray[np.int64]
    containment: NDArray[np.float64]


def with_parts(judgement: Judgement, pairs: PartPairs, texts: NDArray[np.int32]) -> Judgement:
    """Return a judgement with the pages that are parts of kept ones.

    Args:
        judgement: The judgement.
        pairs: Pages with those that they are a part of.
        texts: The number of each page's text: int32, (pages,).
    """
    part_of = np.full(len(judgement), -1, np.int64)
    containment = np.full(len(judgement), np.nan, np.float32)
    kept, (part, container, share) = judgement.kept, pairs
    is_dropped = judgement.layer[part] == CONTAINED
    is_dropped &= judgement.original[part] == container
    containment[part[is_dropped]] = share[is_dropped]
    # Of several the first counts, so it is written last.
    container = _first_kept(kept, texts)[texts[container]]
    rows = np.flatnonzero(kept[part] & (container >= 0))[::-1]
    part_of[part[rows]], containment[part[rows]] = container[rows], share[rows]
    return replace(judgement, part_of=part_of, containment=containment)


def _first_kept(kept: NDArray[np.bool_], texts: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return the first kept page of each text, which need not be the first page of it; -1: none."""
    first = np.full(int(texts.max(initial=-1)) + 1, -1, np.int64)
    # Of several the first counts, so it is written last.
    places = np.flatnonzero(kept)[::-1]
    first[texts[places]] = places
    return first


@dataclass(frozen=True)
class SweepLine:
    """The outcome of one choice of a sweep.

    Attributes:
        choice: The choice that judged.
        kept: The number of pages kept.
        dropped: The number of pages dropped.
        layers: The number of pages that each layer decided.
        now_kept: The number of pages kept that the running parameters drop.
        now_dropped: The number of pages dropped that the running parameters keep.
    """

    choice: Choice
    kept: int
    dropped: int
    layers: dict[str, int]
    now_kept: int
    now_dropped: int


NO_BOUND, MAX_DISTANCE, MIN_SIMILARITY = "", "max_distance", "min_similarity"
"""Names of the parameter that a sweep varies."""


class Sweep(NamedTuple):
    """The outcomes of one bound's values.

    Attributes:
        bound: ``MAX_DISTANCE``, ``MIN_SIMILARITY`` or ``NO_BOUND``.
        lines: A line for each value.
    """

    bound: str
    lines: list[SweepLine]

    @property
    def values(self) -> list[float]:
        """The value of the bound in each line."""
        return [self.value_of(line.choice.parameters) for line in self.lines]

    @property
    def is_same(self) -> bool:
        """Whether several values were tried, and all keep and drop the same numbers of pages."""
        counts = {(one.kept, one.dropped, one.now_kept, one.now_dropped) for one in self.lines}
        return len(self.lines) > 1 and len(counts) == 1

    def value_of(self, parameters: Parameters) -> float:
        """Return the value of the bound in parameters."""
        return float(getattr(parameters, self.bound))
