"""Rows of input and their fields, with a progress bar where a terminal can show one."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from neardup.errors import InputError

_MAX_NAMES = 20
_REFRESHED_EVERY = 64

Id: TypeAlias = str | int

Pass: TypeAlias = Callable[[InputError], None]
"""A function called with the error of an unreadable row: it returns to pass over it, or raises."""


def pass_none(error: InputError) -> None:
    raise error


@dataclass(frozen=True, slots=True)
class Row:
    """Fields by name, of the ``number``-th "line" or "row" of a source, counted from 1."""

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
        return InputError(f"{self.source}, {self.unit} {self.number}: {message}")


@dataclass(frozen=True, slots=True)
class RowSource:
    """Rows, to be read once; ``position`` says how much was read of ``total`` bytes or rows."""

    name: str
    rows: Iterator[Row]
    position: Callable[[], int]
    total: int | None

    def shown(self) -> Iterator[Row]:
        """Yield the rows, with a bar on standard error where that is a terminal.

        Elsewhere nothing is written, and rich is not even imported.
        """
        if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            return self._with_bar()
        return self.rows

    def _with_bar(self) -> Iterator[Row]:
        from rich.console import Console  # noqa: PLC0415  (a tenth of a second)
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: PLC0415

        columns = (
            TextColumn("{task.fields[texts]:,} texts"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%" if self.total else ""),
            TimeRemainingColumn(),
        )
        # Transient: the summary takes its place.
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("", total=self.total, texts=0)
            for number, row in enumerate(self.rows, start=1):
                if number % _REFRESHED_EVERY == 0:
                    progress.update(task, completed=self.position(), texts=number)
                yield row


def listed(names: Iterable[object]) -> str:
    known = [str(name) for name in names]
    more = ["..."] if len(known) > _MAX_NAMES else []
    return ", ".join(known[:_MAX_NAMES] + more) or "none"


def either(names: Sequence[str]) -> str:
    return " or ".join(f'"{name}"' for name in names)


def many(count: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not one."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def kind_of(value: object) -> str:
    """Return the name that people give to a kind of JSON value."""
    if isinstance(value, bool):
        return "true or false"
    names = {type(None): "null", str: "a text", int: "a number", float: "a number"}
    names |= {list: "a list", dict: "an object"}
    return names.get(type(value), type(value).__name__)
