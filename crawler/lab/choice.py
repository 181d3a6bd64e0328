"""A choice of parameters to try, with the method that finds near texts."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from neardup.errors import ParameterError
from neardup.parameters import DEFAULTS

if TYPE_CHECKING:
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

    def within(self, distance: int) -> Choice:
        """Return the choice whose ``max_distance`` is a distance.

        Where similarity confirms, candidates are found farther out too, so that ``max_distance``
        drops hardly a page more or less: it names the layer.
        """
        return replace(self, parameters=replace(self.parameters, max_distance=distance))

    def confirmed_from(self, similarity: float) -> Choice:
        """Return the choice whose ``min_similarity`` is a similarity."""
        return replace(self, parameters=replace(self.parameters, min_similarity=similarity))
