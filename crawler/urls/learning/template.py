"""Shapes of addresses: texts and variables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.urls.learning.address import Address

Part = tuple[str | int, ...]
"""A segment or a value: texts, and the numbers of the variables between them."""


@dataclass(frozen=True, slots=True)
class Template:
    """A shape of addresses.

    Attributes:
        segments: Of the path.
        arguments: Names with their values, None for one without ``=``.
    """

    segments: tuple[Part, ...]
    arguments: tuple[tuple[str, Part | None], ...]

    @property
    def variables(self) -> set[int]:
        """The numbers of its variables."""
        parts = (*self.segments, *(part for _, part in self.arguments))
        return {piece for part in parts if part for piece in part if isinstance(piece, int)}

    def match(self, address: Address) -> dict[int, str] | None:
        """What the variables stand for; None where the address has another shape."""
        if len(address.segments) != len(self.segments):
            return None
        if tuple(name for name, _ in address.arguments) != tuple(n for n, _ in self.arguments):
            return None
        found: dict[int, str] = {}
        parts = (*self.segments, *(part for _, part in self.arguments))
        texts = (*address.segments, *(value for _, value in address.arguments))
        for part, text in zip(parts, texts, strict=True):
            if (part is None) is not (text is None):
                return None
            if part is not None and text is not None and not _agrees(part, text, found):
                return None
        return found

    def fill(self, address: Address, variables: dict[int, str]) -> Address:
        """An address of this shape, at the host of another."""

        def text(part: Part) -> str:
            return "".join(variables[p] if isinstance(p, int) else p for p in part)

        segments = tuple(map(text, self.segments))
        arguments = tuple((n, None if part is None else text(part)) for n, part in self.arguments)
        return address._replace(segments=segments, arguments=arguments)

    def __str__(self) -> str:
        """As people read it."""
        path = "/" + "/".join(map(_shown, self.segments))
        query = "&".join(n if v is None else f"{n}={_shown(v)}" for n, v in self.arguments)
        return path + (f"?{query}" if query else "")


def _shown(part: Part) -> str:
    return "".join(f"<{piece + 1}>" if isinstance(piece, int) else piece for piece in part)


@lru_cache(4096)
def _expression(part: Part) -> re.Pattern[str]:
    pieces = ["([A-Za-z0-9_%.-]+)" if isinstance(p, int) else re.escape(p) for p in part]
    return re.compile("".join(pieces))


def _agrees(part: Part, text: str, found: dict[int, str]) -> bool:
    matched = _expression(part).fullmatch(text)
    if matched is None:
        return False
    numbers = [piece for piece in part if isinstance(piece, int)]
    values = zip(numbers, matched.groups(), strict=True)
    return all(found.setdefault(number, value) == value for number, value in values)


_PIECES = re.compile(r"([A-Za-z]*[0-9][A-Za-z0-9]*)")
_WORD = re.compile(r"[A-Za-z][A-Za-z_-]{0,19}")


def templates(source: Address, target: Address) -> tuple[Template, Template] | None:
    """Two addresses as shapes, with what both hold as variables; None where they share nothing."""
    held = _variable_texts(source) & _variable_texts(target)
    if not held:
        return None
    numbers = {text: number for number, text in enumerate(sorted(held))}
    return _template(source, numbers), _template(target, numbers)


def _variable_texts(address: Address) -> set[str]:
    """What may be a variable: values, and of segments what is no plain word."""
    found = {value for _, value in address.arguments if value}
    for segment in address.segments:
        found.update(_PIECES.findall(segment))
        if segment and not _WORD.fullmatch(segment):
            found.add(segment)
    for _, value in address.arguments:
        found.update(_PIECES.findall(value or ""))
    return found


def _template(address: Address, numbers: dict[str, int]) -> Template:
    def part(text: str) -> Part:
        if text in numbers:
            return (numbers[text],)
        pieces = filter(None, _PIECES.split(text))
        return tuple(numbers.get(piece, piece) for piece in pieces)

    arguments = tuple((n, None if v is None else part(v)) for n, v in address.arguments)
    return Template(tuple(map(part, address.segments)), arguments)
