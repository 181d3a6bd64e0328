"""What a rule does to an address: pure, and the identity where it has nothing to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.url_rules.learning.patterns import ANY
from crawler.url_rules.learning.template import Template  # noqa: TC001  # what is read is held against it

if TYPE_CHECKING:
    from collections.abc import Hashable

    from crawler.url_rules.learning.address import Address

Form = tuple["Hashable", ...]
"""What a rule drops or replaces in an address, one entry for each thing that it speaks of."""

ANYTHING = None
"""Stands for any one segment in the old part of ``ReplaceSegments``."""


@dataclass(frozen=True, slots=True)
class DropArguments:
    """Arguments that do not matter, whatever their values."""

    names: tuple[str, ...]

    def __call__(self, address: Address) -> Address:
        """The address without them."""
        kept = tuple(a for a in address.arguments if a[0] not in self.names)
        return address if len(kept) == len(address.arguments) else address._replace(arguments=kept)

    def varying(self, address: Address) -> Form:
        """What is dropped of each name."""
        return tuple(address.values(name) for name in self.names)

    def __str__(self) -> str:
        """As people read it."""
        return "any " + ", ".join(f"{name}=" for name in self.names) + " is irrelevant"


@dataclass(frozen=True, slots=True)
class ReplaceValues:
    """Values of an argument that say the same as other values, or as none.

    Attributes:
        name: Of the argument.
        old: Its values, in their order.
        new: What they count as; empty for an argument that is not there.
        one_way: Whether only the old ones are ever skipped, since their pages lead to less.
    """

    name: str
    old: tuple[str | None, ...]
    new: tuple[str | None, ...]
    one_way: bool = False

    def is_source(self, form: Form) -> bool:
        """Whether an address with this form is one that counts as another."""
        return form == (self.old,)

    def reversed(self) -> ReplaceValues:
        """The same rule, with the other values for those that count."""
        return ReplaceValues(self.name, self.new, self.old)

    def __call__(self, address: Address) -> Address:
        """The address with the other values, in the place of the first."""
        if address.values(self.name) != self.old or self.old == self.new:
            return address
        arguments = list(address.arguments)
        places = [i for i, (name, _) in enumerate(arguments) if name == self.name]
        start = places[0] if places else sum(name < self.name for name, _ in arguments)
        kept = [argument for argument in arguments if argument[0] != self.name]
        kept[start:start] = [(self.name, value) for value in self.new]
        return address._replace(arguments=tuple(kept))

    def varying(self, address: Address) -> Form:
        """Which values it has."""
        return (address.values(self.name),)

    def __str__(self) -> str:
        """As people read it."""
        return f"{self._written(self.old)} {_equals(self.one_way)} {self._written(self.new)}"

    def _written(self, values: tuple[str | None, ...]) -> str:
        written = [self.name if value is None else f"{self.name}={value}" for value in values]
        return "&".join(written) or f"no {self.name}="


@dataclass(frozen=True, slots=True)
class ReplaceSegments:
    """A stretch of the path that stands for another, or that does not matter.

    Attributes:
        at_end: Whether the place is counted from the end.
        offset: Segments before the stretch, or behind it.
        old: What stands there, ``ANYTHING`` for a segment that may be anything.
        new: What it counts as.
        one_way: Whether only the old one is ever skipped, since its pages lead to less.
    """

    at_end: bool
    offset: int
    old: tuple[str | None, ...]
    new: tuple[str, ...]
    one_way: bool = False

    def is_source(self, form: Form) -> bool:
        """Whether an address with this form is one that counts as another."""
        return form != (None,)

    def reversed(self) -> ReplaceSegments:
        """The same rule, with the other stretch for the one that counts.

        Raises:
            ValueError: It speaks of segments that may be anything.
        """
        old = tuple(segment for segment in self.old if segment is not None)
        if len(old) != len(self.old):
            raise ValueError("what may be anything cannot be what counts")
        return ReplaceSegments(self.at_end, self.offset, self.new, old)

    def __call__(self, address: Address) -> Address:
        """The address with the stretch replaced where it stands there."""
        found = self._found(address)
        if found is None:
            return address
        segments = address.segments
        replaced = (*segments[: found[0]], *self.new, *segments[found[1] :]) or ("",)
        return address if replaced == segments else address._replace(segments=replaced)

    def _found(self, address: Address) -> tuple[int, int] | None:
        count = len(address.segments)
        start = count - self.offset - len(self.old) if self.at_end else self.offset
        end = start + len(self.old)
        if start < 0 or end > count:
            return None
        stands = zip(self.old, address.segments[start:end], strict=True)
        return (start, end) if all(o == s or (o is None and s) for o, s in stands) else None

    def varying(self, address: Address) -> Form:
        """What stands there."""
        found = self._found(address)
        return (None if found is None else address.segments[found[0] : found[1]],)

    @property
    def is_open(self) -> bool:
        """Whether it speaks of segments that were never seen."""
        return ANYTHING in self.old

    def __str__(self) -> str:
        """As people read it."""
        old = "/".join(ANY if segment is None else segment for segment in self.old)
        new = "/".join(self.new)
        equals = _equals(self.one_way)
        if self.at_end and self.offset == 0:
            return f".../{old} {equals} .../{new}" if self.new else f".../{old} {equals} ..."
        if self.at_end:
            behind = "/".join("..." for _ in range(self.offset))
            return f".../{old}/{behind} {equals} .../{new + '/' if new else ''}{behind}"
        before = "/" + "".join(f"{ANY}/" for _ in range(self.offset))
        return f"{before}{old}/... {equals} {before}{new + '/' if new else ''}..."


@dataclass(frozen=True, slots=True)
class LowerPath:
    """Capital letters in the path that do not matter."""

    def __call__(self, address: Address) -> Address:
        """The address with small letters."""
        lowered = tuple(segment.lower() for segment in address.segments)
        return address if lowered == address.segments else address._replace(segments=lowered)

    def varying(self, address: Address) -> Form:
        """The path as it is written."""
        return (address.segments,)

    def __str__(self) -> str:
        """As people read it."""
        return "capital letters in the path equal small ones"


@dataclass(frozen=True, slots=True)
class ReplaceHost:
    """A host, or a scheme, under which the whole of another is served again."""

    scheme: str
    host: str
    new_scheme: str
    new_host: str
    one_way: bool = False

    def is_source(self, form: Form) -> bool:
        """Whether an address with this form is one that counts as another."""
        return form == ((self.scheme, self.host),)

    def reversed(self) -> ReplaceHost:
        """The same rule, with the other host for the one that counts."""
        return ReplaceHost(self.new_scheme, self.new_host, self.scheme, self.host)

    def __call__(self, address: Address) -> Address:
        """The address at the other host."""
        old, new = (self.scheme, self.host), (self.new_scheme, self.new_host)
        if (address.scheme, address.host) != old or old == new:
            return address
        return address._replace(scheme=self.new_scheme, host=self.new_host)

    def varying(self, address: Address) -> Form:
        """Which of them it is."""
        return ((address.scheme, address.host),)

    def __str__(self) -> str:
        """As people read it."""
        new = f"{self.new_scheme}://{self.new_host}"
        return f"{self.scheme}://{self.host} {_equals(self.one_way)} {new}"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A shape of addresses that says the same as another shape."""

    source: Template
    target: Template
    one_way: bool = False

    def is_source(self, form: Form) -> bool:
        """Whether an address with this form is one that counts as another."""
        return form == (True,)

    def reversed(self) -> Rewrite:
        """The same rule, with the other shape for the one that counts."""
        return Rewrite(self.target, self.source)

    def __call__(self, address: Address) -> Address:
        """The address in the other shape."""
        variables = self.source.match(address)
        filled = address if variables is None else self.target.fill(address, variables)
        return address if filled == address else filled

    def varying(self, address: Address) -> Form:
        """Which of the two shapes it has."""
        return (self.source.match(address) is not None,)

    def __str__(self) -> str:
        """As people read it."""
        return f"{self.source} {_equals(self.one_way)} {self.target}"


Transform = DropArguments | ReplaceValues | ReplaceSegments | LowerPath | ReplaceHost | Rewrite


def _equals(one_way: bool) -> str:
    return "says what is at" if one_way else "equals"


Pairing = ReplaceValues | ReplaceSegments | ReplaceHost | Rewrite
"""Rules that have an address counted as one of another form."""
