"""Where a rule holds: on a whole host, for a kind of path, beside other arguments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from crawler.urls.learning.patterns import fits

if TYPE_CHECKING:
    from crawler.urls.learning.address import Address


class Place(NamedTuple):
    """An address with what contexts ask of it, found once."""

    address: Address
    path: str
    names: frozenset[str]

    @classmethod
    def of(cls, address: Address) -> Place:
        """Look at an address."""
        return cls(address, "/" + "/".join(address.segments), address.names)


@dataclass(frozen=True, slots=True)
class Context:
    """Addresses for which a rule is stated.

    Attributes:
        host: With its port.
        pattern: Of paths, as ``crawler.urls.learning.patterns`` makes them; None for every path.
        beside: Names of all arguments but those that the rule is about, None for any.
        where: An argument and its value that must be there.
    """

    host: str
    pattern: str | None = None
    beside: frozenset[str] | None = None
    where: tuple[str, str] | None = None

    def holds(self, place: Place, about: tuple[str, ...] = ()) -> bool:
        """Whether an address is meant; ``about`` are the names that the rule is about."""
        if place.address.host != self.host:
            return False
        if self.pattern is not None and not fits(self.pattern, place.path):
            return False
        if self.where is not None and self.where not in place.address.arguments:
            return False
        return self.beside is None or place.names.difference(about) == self.beside

    def covers(self, other: Context) -> bool:
        """Whether this one speaks of every address of which the other does."""
        return (
            self.host == other.host
            and self.pattern in (None, other.pattern)
            and self.where in (None, other.where)
            and self.beside in (None, other.beside)
        )

    def __str__(self) -> str:
        """As people read it."""
        where = f"{self.host}{self.pattern or ''}"
        if self.where is not None:
            where += f" with {self.where[0]}={self.where[1]}"
        if self.beside is not None:
            where += f" beside {', '.join(sorted(self.beside)) or 'no other argument'}"
        return where
