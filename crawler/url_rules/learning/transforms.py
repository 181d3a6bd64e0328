"""Changes that rules make to addresses: pure, and the identity where a rule does not apply.

A transform is called with an address and returns the changed one. Its ``varying`` returns the parts
that it drops or replaces in an address, their form. One that replaces a form by another tells its
own form (``is_source``), and can be ``reversed``. As text it is what people read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from crawler.url_rules.learning.template import Template  # noqa: TC001  # rules that are read are checked by it
from crawler.urls.path_patterns import ANY

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator

    from crawler.url_rules.learning.address import Address

Form = tuple["Hashable", ...]
"""The parts of an address that a rule drops or replaces, one entry for each thing it is about."""

ANYTHING = None
"""Matches any one segment in the old part of ``ReplaceSegments``."""


@dataclass(frozen=True, slots=True)
class DropArguments:
    """Arguments that do not matter, whatever their values."""

    names: tuple[str, ...]

    def __call__(self, address: Address) -> Address:
        kept = tuple(a for a in address.arguments if a[0] not in self.names)
        return address if len(kept) == len(address.arguments) else address._replace(arguments=kept)

    def varying(self, address: Address) -> Form:
        """Return the values that are dropped, one tuple for each name."""
        return tuple(address.values(name) for name in self.names)

    def __str__(self) -> str:
        return "any " + ", ".join(f"{name}=" for name in self.names) + " is irrelevant"


@dataclass(frozen=True, slots=True)
class ReplaceValues:
    """Values of an argument that are equivalent to other values, or to none.

    Attributes:
        old: The values that are replaced, in their order.
        new: The values that replace them; empty for an argument that is not there.
        one_way: Whether only the old ones are ever skipped, since their pages lead to less.
    """

    name: str
    old: tuple[str | None, ...]
    new: tuple[str | None, ...]
    one_way: bool = False

    def is_source(self, form: Form) -> bool:
        return form == (self.old,)

    def reversed(self) -> ReplaceValues:
        return ReplaceValues(self.name, self.new, self.old)

    def __call__(self, address: Address) -> Address:
        """Return the address with the new values, in the place of the first old one."""
        if address.values(self.name) != self.old or self.old == self.new:
            return address
        arguments = list(address.arguments)
        places = [i for i, (name, _) in enumerate(arguments) if name == self.name]
        own = sum(name.startswith(";") for name, _ in arguments)  # those of segments come first
        start = places[0] if places else sum(name < self.name for name, _ in arguments[own:]) + own
        kept = [argument for argument in arguments if argument[0] != self.name]
        kept[start:start] = [(self.name, value) for value in self.new]
        return address._replace(arguments=tuple(kept))

    def varying(self, address: Address) -> Form:
        return (address.values(self.name),)

    def __str__(self) -> str:
        return f"{self._written(self.old)} {_equals(self.one_way)} {self._written(self.new)}"

    def _written(self, values: tuple[str | None, ...]) -> str:
        written = [self.name if value is None else f"{self.name}={value}" for value in values]
        return "&".join(written) or f"no {self.name}="


@dataclass(frozen=True, slots=True)
class ReplaceSegments:
    """A stretch of the path that is equivalent to another, or that does not matter.

    Attributes:
        at_end: Whether the place is counted from the end.
        offset: Number of segments before the stretch, or after it.
        old: The segments that are replaced, ``ANYTHING`` for one that may be anything.
        one_way: Whether only the old ones are ever skipped, since their pages lead to less.
    """

    at_end: bool
    offset: int
    old: tuple[str | None, ...]
    new: tuple[str, ...]
    one_way: bool = False

    def is_source(self, form: Form) -> bool:
        return form != (None,)

    def reversed(self) -> ReplaceSegments:
        """Return the rule in the other direction.

        Raises:
            ValueError: The rule replaces segments that may be anything.
        """
        old = tuple(segment for segment in self.old if segment is not None)
        if len(old) != len(self.old):
            raise ValueError("what may be anything cannot be what counts")
        return ReplaceSegments(self.at_end, self.offset, self.new, old)

    def __call__(self, address: Address) -> Address:
        """Return the address with the stretch replaced; the same one where it does not occur."""
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
        stretch = address.segments[start:end]
        if ANYTHING not in self.old:
            return (start, end) if stretch == self.old else None
        stands = zip(self.old, stretch, strict=True)
        return (start, end) if all(o == s or (o is None and s) for o, s in stands) else None

    def varying(self, address: Address) -> Form:
        """Return the segments in the place of the stretch; None where they do not match."""
        found = self._found(address)
        return (None if found is None else address.segments[found[0] : found[1]],)

    @property
    def is_open(self) -> bool:
        """Whether the rule replaces segments that were never seen."""
        return ANYTHING in self.old

    def __str__(self) -> str:
        old = "/".join(ANY if segment is None else segment for segment in self.old)
        new = "/".join(self.new)
        equals = _equals(self.one_way)
        if self.at_end and self.offset == 0:
            return f".../{old} {equals} .../{new}" if self.new else f".../{old} {equals} ..."
        if self.at_end:
            behind = "/".join("..." for _ in range(self.offset))
            return f".../{old}/{behind} {equals} .../{new + '/' if new else ''}{behind}"
        before = "/" + "".join(f"{ANY}/" for _ in range(self.offset))
        if old == new == ANY:
            return f"segment {self.offset + 1} of the path is irrelevant"
        if old == new:
            return f"any {ANY} in {before}{old}/... is irrelevant"
        return f"{before}{old}/... {equals} {before}{new + '/' if new else ''}..."


@dataclass(frozen=True, slots=True)
class LowerPath:
    """Capital letters in the path that do not matter."""

    def __call__(self, address: Address) -> Address:
        lowered = tuple(segment.lower() for segment in address.segments)
        return address if lowered == address.segments else address._replace(segments=lowered)

    def varying(self, address: Address) -> Form:
        return (address.segments,)

    def __str__(self) -> str:
        return "capital letters in the path equal small ones"


@dataclass(frozen=True, slots=True)
class SortSegments:
    """Segments of the path that may come in any order, such as the facets of a shop.

    Attributes:
        before: The segments that the path begins with, whose order counts.
    """

    before: tuple[str, ...]

    def __call__(self, address: Address) -> Address:
        """Return the address with the further segments sorted; an empty last one stays last."""
        segments, start = address.segments, len(self.before)
        if segments[:start] != self.before:
            return address
        end = max(start, len(segments) - (segments[-1] == ""))
        ordered = (*self.before, *sorted(segments[start:end]), *segments[end:])
        return address if ordered == segments else address._replace(segments=ordered)

    def varying(self, address: Address) -> Form:
        """Return the segments in their order; it is one form, however many there are."""
        return (address.segments,)

    def __str__(self) -> str:
        folder = "/" + "".join(f"{segment}/" for segment in self.before)
        return f"the order of segments below {folder} is irrelevant"


@dataclass(frozen=True, slots=True)
class ReplaceHost:
    """A host, or a scheme, that serves all pages of another one too."""

    scheme: str
    host: str
    new_scheme: str
    new_host: str
    one_way: bool = False

    def is_source(self, form: Form) -> bool:
        return form == ((self.scheme, self.host),)

    def reversed(self) -> ReplaceHost:
        return ReplaceHost(self.new_scheme, self.new_host, self.scheme, self.host)

    def __call__(self, address: Address) -> Address:
        old, new = (self.scheme, self.host), (self.new_scheme, self.new_host)
        if (address.scheme, address.host) != old or old == new:
            return address
        return address._replace(scheme=self.new_scheme, host=self.new_host)

    def varying(self, address: Address) -> Form:
        return ((address.scheme, address.host),)

    def __str__(self) -> str:
        new = f"{self.new_scheme}://{self.new_host}"
        return f"{self.scheme}://{self.host} {_equals(self.one_way)} {new}"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A shape of addresses that equals another one, or has a part that does not matter."""

    source: Template
    target: Template
    one_way: bool = False

    def is_source(self, form: Form) -> bool:
        return form != (False,) if self.is_open else form == (True,)

    def reversed(self) -> Rewrite:
        return Rewrite(self.target, self.source)

    @property
    def is_open(self) -> bool:
        """Whether the rule applies to texts that were never seen."""
        return self.source.is_open

    def __call__(self, address: Address) -> Address:
        variables = self.source.match(address)
        filled = address if variables is None else self.target.fill(address, variables)
        return address if filled == address else filled

    def varying(self, address: Address) -> Form:
        """Return the texts that may be anything; of other rules whether the shape is there."""
        found = self.source.match(address)
        if found is None or not self.is_open:
            return (found is not None,)
        return tuple(value for number, value in found.items() if number < 0)

    def __str__(self) -> str:
        if self.is_open:
            return f"any {ANY} in {self.source} is irrelevant"
        return f"{self.source} {_equals(self.one_way)} {self.target}"


@dataclass(frozen=True, slots=True)
class Compound:
    """Ids in a path and arguments that do not matter, where addresses differ in both at once.

    It is tried as one rule and holds as two, so that it is never stored.
    """

    segments: ReplaceSegments
    arguments: DropArguments

    def __call__(self, address: Address) -> Address:
        return self.arguments(self.segments(address))

    def varying(self, address: Address) -> Form:
        """Return what both rules drop or replace, the segments first."""
        return (*self.segments.varying(address), *self.arguments.varying(address))

    def __str__(self) -> str:
        return f"{self.segments}, and {self.arguments}"


@dataclass(frozen=True, slots=True)
class Standard:
    """A rule of ``crawler.urls.standard``: it has made a canonical URL of what becomes an address.

    Attributes:
        name: The name by which it is switched off.
    """

    name: str

    def __call__(self, address: Address) -> Address:
        return address

    def varying(self, address: Address) -> Form:
        return ()

    def __str__(self) -> str:
        return f"{self.name} (docs/urls.md)"


Transform = (
    DropArguments
    | ReplaceValues
    | ReplaceSegments
    | LowerPath
    | SortSegments
    | ReplaceHost
    | Rewrite
    | Compound
    | Standard
)


def _equals(one_way: bool) -> str:
    return "says what is at" if one_way else "equals"


Pairing = ReplaceValues | ReplaceSegments | ReplaceHost | Rewrite
"""Rules that replace one form of address by another."""


def is_one_way(transform: Transform) -> bool:
    """Return whether a transform only ever skips addresses of the form that it replaces."""
    return isinstance(transform, Pairing) and transform.one_way


def variants(transform: Transform) -> Iterator[Transform]:
    """Yield a rule in each direction in which it is proposed, without its one-way flag."""
    if not isinstance(transform, Pairing):
        yield transform
        return
    plain = replace(transform, one_way=False)
    yield plain
    if not is_open(plain):
        yield plain.reversed()


def parts(transform: Transform) -> tuple[Transform, ...]:
    """Return the rules as which a rule holds: itself, of a ``Compound`` its two."""
    if isinstance(transform, Compound):
        return transform.segments, transform.arguments
    return (transform,)


def is_open(transform: Transform) -> bool:
    """Return whether a rule applies to values never seen; it then needs several that were seen."""
    if isinstance(transform, ReplaceSegments | Rewrite):
        return transform.is_open
    return isinstance(transform, DropArguments | Compound)


def includes(wide: Transform, narrow: Transform) -> bool:
    """Return whether one rule does all that another does."""
    if wide == narrow:
        return True
    if isinstance(wide, ReplaceSegments) and isinstance(narrow, ReplaceSegments):
        return _includes_segments(wide, narrow)
    if isinstance(wide, SortSegments) and isinstance(narrow, SortSegments):
        return narrow.before[: len(wide.before)] == wide.before
    if not isinstance(wide, DropArguments):
        return False
    if isinstance(narrow, DropArguments):
        return set(narrow.names) <= set(wide.names)
    return isinstance(narrow, ReplaceValues) and narrow.name in wide.names


def _includes_segments(wide: ReplaceSegments, narrow: ReplaceSegments) -> bool:
    if (wide.at_end, wide.offset) != (narrow.at_end, narrow.offset):
        return False
    if wide.old == narrow.old:
        return len(wide.new) < len(narrow.new)
    if not _matches(wide.old, narrow.old):
        return False
    # What may be anything stays as an asterisk, or goes.
    return wide.new == narrow.new or _matches(wide.old, narrow.new)


def _matches(wide: tuple[str | None, ...], narrow: tuple[str | None, ...]) -> bool:
    return len(wide) == len(narrow) and all(
        a is ANYTHING or a == b for a, b in zip(wide, narrow, strict=True)
    )


def about(transform: Transform) -> tuple[str, ...]:
    if isinstance(transform, DropArguments):
        return transform.names
    if isinstance(transform, Compound):
        return transform.arguments.names
    return (transform.name,) if isinstance(transform, ReplaceValues) else ()
