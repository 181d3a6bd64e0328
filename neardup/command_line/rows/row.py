"""A row of input and its fields."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from neardup.command_line.errors import InputError

_MAX_NAMES = 20

Id: TypeAlias = str | int

Pass: TypeAlias = Callable[[InputError], None]
"""A function called with the error of an unreadable row: it returns to pass over it, or raises."""


def pass_none(error: InputError) -> None:
    """Raise what is wrong with a row."""
    raise error


@dataclass(frozen=True, slots=True)
class Row:
    """Fields by name, and where they come from.

    Attributes:
        source: The file.
        unit: "line" or "row".
        number: The number of the line or row, counted from 1.
        fields: Values by name.
    """

    source: str
    unit: str
    number: int
    fields: Mapping[str, object]

    def require(self, names: Sequence[str], option: str) -> str:
        """Return the first of the names that is one of a field.

        Raises:
            InputError: There is none; the message names those that there are, and the option.
        """
        for name in names:
            if name in self.fields:
                return name
        there = f"there are {listed(self.fields)}; choose with {option}"
        raise self.complaint(f"no field {either(names)}; {there}")

    def text(self, field: str) -> str | None:
        """Return a text; None where it is null or missing, as crawlers leave it out.

        Raises:
            InputError: It is something else.
        """
        value = self.fields.get(field)
        if value is not None and not isinstance(value, str):
            raise self.complaint(f'field "{field}" must be a text, got {kind_of(value)}')
        return value

    def id(self, field: str) -> Id:
        """Return the user's name of the text.

        Raises:
            InputError: There is no such field, or it holds neither text nor whole number.
        """
        self.require([field], "--id-field")
        value = self.fields[field]
        if not isinstance(value, str | int) or isinstance(value, bool):
            got = kind_of(value)
            raise self.complaint(f'field "{field}" must be a text or a whole number, got {got}')
        return value

    def complaint(self, message: str) -> InputError:
        """Return an error that says where it was found."""
        return InputError(f"{self.source}, {self.unit} {self.number}: {message}")


@dataclass(frozen=True, slots=True)
class RowSource:
    """Rows, with the progress of their reader.

    Attributes:
        name: The name in messages.
        rows: The rows, to be read one after the other, once.
        position: Returns how much of ``total`` was read.
        total: The number of bytes or rows; None where it is not known.
    """

    name: str
    rows: Iterator[Row]
    position: Callable[[], int]
    total: int | None


def listed(names: Iterable[object]) -> str:
    """Name the fields that are there."""
    known = [str(name) for name in names]
    more = ["..."] if len(known) > _MAX_NAMES else []
    return ", ".join(known[:_MAX_NAMES] + more) or "none"


def either(names: Sequence[str]) -> str:
    """Name the fields among which one is wanted."""
    return " or ".join(f'"{name}"' for name in names)


def kind_of(value: object) -> str:
    """Return the name that people give to a kind of JSON value."""
    if isinstance(value, bool):
        return "true or false"
    names = {type(None): "null", str: "a text", int: "a number", float: "a number"}
    names |= {list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)
