"""The addresses for which a rule holds: a host, a kind of path, certain other arguments."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crawler.urls.path_patterns import fits

if TYPE_CHECKING:
    from crawler.url_rules.learning.address import Address


@dataclass(frozen=True, slots=True)
class Context:
    """Addresses for which a rule is stated.

    Attributes:
        host: The host with its port.
        pattern: A pattern of paths, as ``crawler.urls.path_patterns`` makes them; None for
            every path.
        beside: Names of all arguments but those that the rule is about, None for any.
        where: An argument and its value that must be there.
        apart_from: Narrower contexts that are exceptions.
    """

    host: str
    pattern: str | None = None
    beside: frozenset[str] | None = None
    where: tuple[str, str] | None = None
    apart_from: tuple[Context, ...] = ()

    def holds(self, address: Address, about: tuple[str, ...] = ()) -> bool:
        """Return whether the context includes an address.

        Args:
            address: The address.
            about: The names of the arguments that the rule is about.
        """
        if address.host != self.host:
            return False
        if self.pattern is not None and not fits(self.pattern, address.path):
            return False
        if self.where is not None and self.where not in address.arguments:
            return False
        if self.beside is not None and address.names.difference(about) != self.beside:
            return False
        if not self.apart_from:
            return True
        return not any(other.holds(address, about) for other in self.apart_from)

    def at(self, address: Address, pattern: str, about: tuple[str, ...]) -> Context:
        """Return the narrow context of an address: its kind of path beside its other arguments."""
        return Context(self.host, pattern, address.names.difference(about))

    def apart(self, other: Context) -> Context:
        return replace(self, apart_from=(*self.apart_from, other))

    @property
    def cluster(self) -> str:
        """A short name: kind of path, and names of arguments."""
        return f"{self.pattern}?{'&'.join(sorted(self.beside or ()))}"

    def covers(self, other: Context) -> bool:
        """Return whether this context includes every address of another one."""
        return (
            self.host == other.host
            and self.pattern in (None, other.pattern)
            and self.where in (None, other.where)
            and self.beside in (None, other.beside)
            and set(self.apart_from) <= set(other.apart_from)
        )

    def __str__(self) -> str:
        where = f"{self.host}{self.pattern or ''}"
        if self.where is not None:
            where += f" with {self.where[0]}={self.where[1]}"
        if self.beside is not None:
            where += f" beside {', '.join(sorted(self.beside)) or 'no other argument'}"
        if self.apart_from:
            others = "; ".join(other.cluster for other in self.apart_from)
            where += f" (not at {others})"
        return where
