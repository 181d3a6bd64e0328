"""A choice of parameters to try, with the method that finds near texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from neardup.errors import ParameterError
from neardup.parameters import DEFAULTS

if TYPE_CHECKING:
    from neardup import Parameters

SIMHASH, MINHASH, EXACT = "simhash", "minhash", "exact"
METHODS = (SIMHASH, MINHASH, EXACT)


@dataclass(frozen=True, slots=True)
class Choice:
    """Parameters, and the method that finds what they decide on.

    Attributes:
        parameters: Features of None mean what suits ``verify``, as in a crawl.
        method: ``simhash``: as a crawl does it. ``minhash``: LSH finds pairs of about half the
            similarity and more, exact Jaccard of at least ``min_similarity`` confirms them, and no
            distance counts. ``exact``: equal bytes and equal texts alone.

    Raises:
        ParameterError: There is no such method.
    """

    parameters: Parameters = DEFAULTS
    method: str = SIMHASH

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ParameterError(f"method must be one of {', '.join(METHODS)}, got {self.method!r}")

    def within(self, distance: int, candidate_distance: int | None = None) -> Choice:
        """Return the choice of a sweep's line, which looks at nothing beyond ``distance`` bits.

        Both ``max_distance`` and ``candidate_distance`` are the distance, unless a farther one is
        given. While candidates are looked at farther out and confirmed, ``max_distance`` alone
        drops no page more or less: it only names the layer. "What would 5 drop?" asks for both.
        """
        farthest = max(distance, candidate_distance or 0)
        bounds = replace(self.parameters, max_distance=distance, candidate_distance=farthest)
        return replace(self, parameters=bounds)
