"""The newest pages as a table: text only, and a click says all that is known of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from crawler.lab.app.deep_links import inert_link
from crawler.lab.app.plain_text import plain
from crawler.lab.app.words import NOTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from nicegui.events import GenericEventArguments

MAX_ROWS = 200

Row = dict[str, str | int]

_VERDICT = """
<q-td :props="props"><span :class="'verdict ' + props.row.kind">{{ props.value }}</span></q-td>
"""


def _column(name: str, label: str, style: str, *, is_number: bool = False) -> dict[str, Any]:
    return {
        "name": name,
        "label": label,
        "field": name,
        "align": "right" if is_number else "left",
        "headerStyle": style,
        "classes": f"column-{name} crawled",
        "headerClasses": f"column-{name}",
    }


_COLUMNS = [
    _column("time", "time", "width: 8.5em"),
    _column("verdict", "verdict", "width: 10em"),
    _column("title", "title", "width: 32%"),
    _column("url", "URL", "width: auto"),
    _column("words", "words", "width: 5.5em", is_number=True),
    _column("distance", "bits", "width: 4em", is_number=True),
    _column("similarity", "similarity", "width: 6em", is_number=True),
]


class PageTable:
    """Some hundred rows at most; what is not shown is not sent.

    Args:
        on_click: Called with the id of the row that was clicked.
    """

    def __init__(self, on_click: Callable[[int], Any]) -> None:
        self._table = ui.table(rows=[], columns=_COLUMNS, row_key="id")
        self._table.props("flat dense separator=horizontal").classes("plain-table pages")
        self._table.add_slot("body-cell-verdict", _VERDICT)
        self._table.add_slot("no-data", '<div class="empty">No page yet.</div>')

        def clicked(event: GenericEventArguments) -> Any:
            row = event.args[1] if isinstance(event.args, list) and len(event.args) > 1 else None
            number = row.get("id") if isinstance(row, dict) else None
            return on_click(number) if isinstance(number, int) else None

        self._table.on("rowClick", clicked, [[], ["id"], []])

    def show(self, rows: Sequence[Row]) -> None:
        """Show these rows and no others."""
        if rows != self._table.rows:
            self._table.rows = list(rows)


def page_dialog(url: str, facts: Sequence[tuple[str, str]], original: str | None) -> None:
    """Show all that is known of a page; its URLs are opened only after another question."""
    with ui.dialog(value=True) as dialog, ui.card():
        with ui.element().classes("line"):
            ui.label("Page").classes("title")
            ui.element().classes("spacer")
            ui.button("Close", on_click=dialog.close, color=None).props("flat dense").classes(
                "plain"
            )
        inert_link(url, url).classes(remove="one-line", add="mono")
        with ui.element("table").classes("grid-table facts"):
            for name, value in (fact for fact in facts if fact[1] != NOTHING):
                with ui.element("tr"):
                    with ui.element("td"):
                        ui.label(name).classes("soft")
                    with ui.element("td"):
                        ui.label(plain(value, 2_000)).classes("crawled")
        if original is not None:
            ui.label("repeats").classes("soft")
            inert_link(original, original).classes(remove="one-line", add="mono")
    dialog.on("hide", dialog.delete)
