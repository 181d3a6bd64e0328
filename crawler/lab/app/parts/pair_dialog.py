"""A pair to be read, over what is shown else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from crawler.lab.app.parts.pair_view import PairView

if TYPE_CHECKING:
    from crawler.lab.app.lab_state import Lab


async def open_pair(lab: Lab, title: str, first: int, second: int, shingle_size: int) -> None:
    """Show two pages by their places until the reader has seen them."""
    view = PairView(lab)
    with ui.dialog(value=True) as dialog, ui.card().classes("wide"):
        with ui.element().classes("line"):
            ui.label(title).classes("title")
            ui.element().classes("spacer")
            ui.button("Close", on_click=dialog.close, color=None).props("flat").classes("plain")
        with ui.element().classes("scrolled"):
            view.build()
    dialog.on("hide", dialog.delete)
    await view.show(first, second, shingle_size)
