"""A canonical URL as the parts that a rule can speak of."""

from __future__ import annotations

import re
from functools import cached_property
from typing import NamedTuple

import xxhash

Argument = tuple[str, str | None]
"""Name and value as the URL has them; the value is None where there is no ``=``."""

_NAME = "[^=;&/?]+"
_BY_SEMICOLONS = re.compile(f"{_NAME}(?:=[^;&]*)?(?:[;&]{_NAME}(?:=[^;&]*)?)*")
_MAX_DEPTH = 12
_NO_NAMES: frozenset[str] = frozenset()


class _Parts(NamedTuple):
    scheme: str
    host: str
    segments: tuple[str, ...]
    arguments: tuple[Argument, ...]


class Address(_Parts):
    """The parts of a canonical URL; two URLs with the same parts are one page.

    ``/a/`` has the segments ``a`` and an empty one, ``/`` only an empty one.
    Arguments keep their order, which in a canonical URL is that of their names.
    ``;`` separates like ``&`` where the whole query can be read so. Arguments of a segment, as in
    ``/a/5;view=all``, come first, under names that begin with ``;``; the segment, ``5;view=``,
    keeps their names.

    What is asked of an address is computed once: every rule and hypothesis of its host asks it.
    """

    @classmethod
    def parse(cls, url: str) -> Address:
        """Take a canonical URL apart. Complexity: linear."""
        scheme, _, rest = url.partition("://")
        rest, _, query = rest.partition("?")
        host, _, path = rest.partition("/")
        segments, arguments = tuple(path.split("/")), _arguments(query)
        if ";" in path:
            found: list[Argument] = []
            segments = tuple(_without_values(segment, found) for segment in segments)
            arguments = (*found, *arguments)
        return cls(scheme, host, segments, arguments)

    @cached_property
    def hostname(self) -> str:
        """The host without its port, and without the brackets around an IPv6 address."""
        name = self.host.rpartition(":")[0] if _PORT.search(self.host) else self.host
        return name.strip("[]")

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset([name for name, _ in self.arguments]) if self.arguments else _NO_NAMES

    @cached_property
    def path(self) -> str:
        return "/" + "/".join(self.segments)

    @cached_property
    def text(self) -> str:
        """Path and arguments, without the first slash: addresses of a host differ where it does."""
        arguments = [f"\n{n}" if v is None else f"\n{n}\t{v}" for n, v in self.arguments]
        return self.path[1:] + "".join(arguments)

    @cached_property
    def digest(self) -> bytes:
        """The key of the address in the tables: its xxh3-128, 16 bytes."""
        return xxhash.xxh3_128_digest(repr(tuple(self)).encode("utf-8", "surrogatepass"))

    def values(self, name: str) -> tuple[str | None, ...]:
        """Return every value of an argument, in the order of the URL."""
        return tuple([value for other, value in self.arguments if other == name])

    def __str__(self) -> str:
        left = list(self.arguments)
        path = "/".join(_with_values(segment, left) for segment in self.segments)
        query = "&".join(n if v is None else f"{n}={v}" for n, v in left)
        return f"{self.scheme}://{self.host}/{path}" + (f"?{query}" if query else "")

    @cached_property
    def is_learnable(self) -> bool:
        """Whether the address has few enough parts to look at all of them."""
        return len(self.segments) <= _MAX_DEPTH and len(self.arguments) <= _MAX_DEPTH


def _without_values(segment: str, found: list[Argument]) -> str:
    """Return a segment without the values of its arguments, which are appended to a list."""
    first, *parts = segment.split(";")
    names = []
    for part in parts:
        name, equals, value = part.partition("=")
        if name and equals:
            found.append((f";{name}", value))
        names.append(f"{name}=" if name and equals else part)
    return ";".join([first, *names])


def _with_values(segment: str, left: list[Argument]) -> str:
    """Return a segment with its values, which are taken from the front of a list."""
    first, *names = segment.split(";")
    parts = []
    for name in names:
        has_value = name[:-1] and name.endswith("=") and left and left[0][0] == f";{name[:-1]}"
        parts.append(f"{name}{left.pop(0)[1] or ''}" if has_value else name)
    return ";".join([first, *parts])


_PORT = re.compile(r":[0-9]+\Z")


def _arguments(query: str) -> tuple[Argument, ...]:
    if not query:
        return ()
    if ";" in query and _BY_SEMICOLONS.fullmatch(query):
        query = query.replace(";", "&")
    found = []
    for argument in query.split("&"):
        name, equals, value = argument.partition("=")
        found.append((name, value if equals else None))
    return tuple(found)
