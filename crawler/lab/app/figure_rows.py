"""Rows of figures: a number with its name, and small tables of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from crawler.lab.app.words import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class FigureRow:
    """Numbers in a row, each above its name.

    Args:
        names: The name under each number, by a key.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._values: dict[str, ui.label] = {}
        with ui.element().classes("figures"):
            for key, name in names.items():
                with ui.element().classes("figure"):
                    value = ui.label(NOTHING).classes("value").props(f"data-figure={key}")
                    ui.label(name).classes("name")
                self._values[key] = value

    def show(self, values: Mapping[str, str]) -> None:
        """Put other numbers in their places."""
        for key, value in values.items():
            self._values[key].text = value


class FigureTable:
    """A table whose rows come and go; cells are text and nothing else.

    Args:
        heads: The heads of the columns; those that begin with ``#`` hold numbers.
    """

    def __init__(self, heads: Sequence[str]) -> None:
        self._numbers = [head.startswith("#") for head in heads]
        self._shown: list[tuple[str, ...]] = []
        with ui.element("table").classes("grid-table"):
            if any(head.strip("#") for head in heads):
                with ui.element("thead"), ui.element("tr"):
                    self._cells([head.removeprefix("#") for head in heads], "th")
            self._body = ui.element("tbody")

    def show(self, rows: Iterable[Sequence[str]]) -> None:
        """Show these rows and no others."""
        wanted = [tuple(row) for row in rows]
        if wanted == self._shown:
            return
        self._shown = wanted
        self._body.clear()
        with self._body:
            for row in wanted:
                with ui.element("tr"):
                    self._cells(row, "td")

    def _cells(self, texts: Sequence[str], tag: str) -> None:
        for text, is_number in zip(texts, self._numbers, strict=True):
            with ui.element(tag).classes("number" if is_number else ""):
                ui.label(text).classes("crawled")
