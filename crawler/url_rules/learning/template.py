"""Shapes of addresses: texts and variables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.url_rules.learning.address import Address

ANY_TEXT = None
"""Stands for any text in a shape, one that does not matter."""

Part = tuple[str | int | None, ...]
"""A segment or a value: texts, between them the numbers of variables, and ``ANY_TEXT``."""


@dataclass(frozen=True)
class Template:
    """A shape of addresses.

    Attributes:
        arguments: Names with their values, None for one without ``=``.
    """

    segments: tuple[Part, ...]
    arguments: tuple[tuple[str, Part | None], ...]

    @property
    def variables(self) -> set[int]:
        return {piece for part in self._parts if part for piece in part if isinstance(piece, int)}

    @property
    def _parts(self) -> tuple[Part | None, ...]:
        return (*self.segments, *(part for _, part in self.arguments))

    @cached_property
    def is_open(self) -> bool:
        """Whether some of its texts may be anything."""
        return any(ANY_TEXT in part for part in self._parts if part)

    def match(self, address: Address) -> dict[int, str] | None:
        """Return the values of the variables; None where the address has another shape.

        The texts that may be anything come under the numbers -1, -2 and so on.
        """
        found = self._shape.fullmatch(address.text)
        return None if found is None else dict(zip(self._numbers, found.groups(), strict=True))

    @cached_property
    def _shape(self) -> re.Pattern[str]:
        return re.compile(self._written(set()))

    @cached_property
    def _numbers(self) -> list[int]:
        return list(map(_number, self._shape.groupindex))

    @property
    def expression(self) -> str:
        """A regular expression of which ``Address.text`` of each address of this shape is a match.

        Others may match too: what it does not ask is that a variable has one value.
        """
        return self._written(None)

    def _written(self, named: set[int] | None) -> str:
        """Return a regular expression, with a named group for each variable if names are noted."""
        path = "/".join(_part_expression(part, named) for part in self.segments)
        arguments = (
            f"\n{re.escape(name)}" + ("" if part is None else f"\t{_part_expression(part, named)}")
            for name, part in self.arguments
        )
        return path + "".join(arguments)

    def fill(self, address: Address, variables: dict[int, str]) -> Address:
        """Return an address of this shape, at the host of another."""

        def text(part: Part) -> str:
            return "".join([variables[p] if isinstance(p, int) else p or "" for p in part])

        segments = tuple(map(text, self.segments))
        arguments = tuple((n, None if part is None else text(part)) for n, part in self.arguments)
        return address._replace(segments=segments, arguments=arguments)

    def __str__(self) -> str:
        path = "/" + "/".join(map(_shown, self.segments))
        query = "&".join(n if v is None else f"{n}={_shown(v)}" for n, v in self.arguments)
        return path + (f"?{query}" if query else "")


def _shown(part: Part) -> str:
    def shown(piece: str | int | None) -> str:
        return f"<{piece + 1}>" if isinstance(piece, int) else piece or STARRED

    return "".join(map(shown, part))


def _number(group: str) -> int:
    """Return the number of a variable, negative for a text that may be anything."""
    return -int(group[1:]) if group[0] == "a" else int(group[1:])


def _part_expression(part: Part, named: set[int] | None) -> str:
    """Return a regular expression for a segment or a value.

    Args:
        part: The segment or value.
        named: The variables that have a group in what comes before, which grows; None for an
            expression without names.
    """
    # Possessive: a text of many numbers that does not match would take ages with backtracking. What
    # is learned loses nothing by it: no variable is next to a letter or digit.
    variable = "[A-Za-z0-9_%.-]++" if len(part) == 1 else "[A-Za-z0-9]++"
    pieces = [_piece_expression(piece, variable, named) for piece in part]
    for place in range(1, len(part)):
        if part[place - 1] is ANY_TEXT and isinstance(part[place], int):
            pieces[place] = f"(?<![A-Za-z0-9]){pieces[place]}"  # all of it, not its end
    return "".join(pieces)


def _piece_expression(piece: str | int | None, variable: str, named: set[int] | None) -> str:
    if isinstance(piece, str):
        return re.escape(piece)
    text = _ANYTHING if piece is ANY_TEXT else variable
    if named is None:
        return f"(?:{text})"
    if piece in named:
        return f"(?P=v{piece})"
    number = -1 - sum(one < 0 for one in named) if piece is ANY_TEXT else piece
    named.add(number)
    return f"(?P<{'a' if number < 0 else 'v'}{abs(number)}>{text})"


_ANYTHING = r"[^/\n\t]*"
_VARIABLE = re.compile("[A-Za-z0-9_%.-]+")
_PIECES = re.compile(r"([A-Za-z]*[0-9][A-Za-z0-9]*)")
_NUMBERED = re.compile("[0-9]")
_TOKENS = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]")

_NAME = re.compile("[A-Za-z]{1,20}")
_FEW = re.compile(r"[A-Za-z_-]*|[0-9]{1,3}")

STARRED = "*"
"""Stands for what does not matter in an address after the rules."""

WORD = re.compile(r"[A-Za-z][A-Za-z_-]{0,19}")
"""A plain name, which may choose a view or a version, unlike an id."""


def templates(source: Address, target: Address) -> tuple[Template, Template] | None:
    """Return the shapes of two addresses, shared parts as variables; None if they share none."""
    held = _variable_texts(source) & _variable_texts(target)
    while held:
        numbers = {text: number for number, text in enumerate(sorted(held))}
        shapes = _template(source, numbers), _template(target, numbers)
        # A text within a longer variable in one of them is none: 7 in x-7-a and /7/x-7-a.
        used = shapes[0].variables & shapes[1].variables
        if len(used) == len(held):
            return shapes
        held = {text for text in held if numbers[text] in used}
    return None


def varying_part(one: Address, other: Address) -> tuple[Template, Template] | None:
    """Return the shape of two addresses that differ in a part of one segment, and without that.

    Whatever else holds a digit is a variable, so that the shape is that of many addresses. In the
    second shape an asterisk stands for what differs. None where they differ in more than that,
    where nothing else tells their pages apart, or where the segments are names.

    Complexity: linear in the addresses.
    """
    if len(one.segments) != len(other.segments) or one.arguments != other.arguments:
        return None
    places = [
        n for n, (a, b) in enumerate(zip(one.segments, other.segments, strict=True)) if a != b
    ]
    if len(places) != 1 or not _NUMBERED.search(one.text):
        return None
    at = places[0]
    if are_names(one.segments[at], other.segments[at]):
        return None
    before, after = _around(one.segments[at], other.segments[at])
    numbers: dict[str, int] = {}
    first, last = _pieces(before, numbers), _pieces(after, numbers)
    segments = [() if n == at else _whole(text, numbers) for n, text in enumerate(one.segments)]
    arguments = tuple((n, None if v is None else _whole(v, numbers)) for n, v in one.arguments)
    if not numbers:
        return None
    segments[at] = (*first, ANY_TEXT, *last)
    source = Template(tuple(segments), arguments)
    segments[at] = (*first, STARRED, *last)
    return source, Template(tuple(segments), arguments)


def _whole(text: str, numbers: dict[str, int]) -> Part:
    """Return a segment or a value as one variable where it holds a digit, else as it is."""
    if _NUMBERED.search(text) and _VARIABLE.fullmatch(text):
        return (numbers.setdefault(text, len(numbers)),)
    return (text,) if text else ()


def _pieces(texts: list[str], numbers: dict[str, int]) -> Part:
    """Return tokens as a part of a shape: those with digits are variables."""
    if not texts:
        return ()
    return tuple(
        numbers.setdefault(text, len(numbers)) if _NUMBERED.search(text) else text for text in texts
    )


def _around(one: str, other: str) -> tuple[list[str], list[str]]:
    """Return the tokens that two texts have in common at the start, and at the end."""
    tokens = [_TOKENS.findall(text) for text in (one, other)]
    start = end = 0
    least = min(map(len, tokens))
    while start < least and tokens[0][start] == tokens[1][start]:
        start += 1
    while end < least - start and tokens[0][-1 - end] == tokens[1][-1 - end]:
        end += 1
    return tokens[0][:start], tokens[0][len(tokens[0]) - end :]


def _variable_texts(address: Address) -> set[str]:
    """Return the texts that may be variables: values, and segments that are no plain words."""
    found = {value for _, value in address.arguments if value}
    for segment in address.segments:
        found.update(_PIECES.findall(segment))
        if segment and not WORD.fullmatch(segment):
            found.add(segment)
    for _, value in address.arguments:
        found.update(_PIECES.findall(value or ""))
    return set(filter(_VARIABLE.fullmatch, found))


def _template(address: Address, numbers: dict[str, int]) -> Template:
    def part(text: str) -> Part:
        if text in numbers:
            return (numbers[text],)
        pieces = enumerate(_PIECES.split(text))  # every second one matches
        return tuple(numbers.get(p, p) if place % 2 else p for place, p in pieces if p)

    arguments = tuple((n, None if v is None else part(v)) for n, v in address.arguments)
    return Template(tuple(map(part, address.segments)), arguments)


def are_names(*texts: str) -> bool:
    """Return whether some segments are plain words, which choose between views or languages."""
    return all(map(_NAME.fullmatch, texts))


def looks_like_an_id(text: str) -> bool:
    """Return whether a text has digits, and more than a number of three of them has."""
    return _FEW.fullmatch(text) is None
