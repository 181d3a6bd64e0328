"""A number as a slider and as a field, of which each follows the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nicegui.events import ValueChangeEventArguments

    from crawler.lab.app.choices import Scale

    Choose = Callable[[str, float], Awaitable[None]]


class _Slider(ui.slider):
    """Moves in the browser at once; else what the server heard late would pull it back."""

    LOOPBACK = False


class ScaleField:
    """One number that can be chosen.

    Args:
        scale: Its name and bounds.
        choose: Is told of what was chosen, by the reader alone, and only of what is allowed.
    """

    def __init__(self, scale: Scale, choose: Choose) -> None:
        self._scale = scale
        self._choose = choose
        self._is_showing = False

    def build(self) -> None:
        """Put it where the page is being made."""
        scale = self._scale
        with ui.element().classes("scale"):
            ui.label(scale.words).classes("scale-name")
            self._number = ui.number(
                min=scale.lowest,
                max=scale.most,
                step=scale.step,
                format="%.2f" if scale.step < 1 else "%d",
                on_change=self._changed,
            )
            self._number.props(f'dense outlined aria-label="{scale.name}"')
            self._slider = _Slider(
                min=scale.lowest, max=scale.highest, step=scale.step, on_change=self._changed
            )
            self._slider.props(f'dense aria-label="{scale.name}" data-scale={scale.name}')

    def show(self, value: float, *, is_used: bool) -> None:
        """Show a number that was chosen here or elsewhere, and whether it counts for anything."""
        self._is_showing = True
        try:
            self._slider.value = min(value, self._scale.highest)
            if self._number.value != value:
                self._number.value = value
        finally:
            self._is_showing = False
        self._slider.set_enabled(is_used)
        self._number.set_enabled(is_used)

    def _changed(self, event: ValueChangeEventArguments[float | None]) -> Awaitable[None] | None:
        """Pass on what the reader chose; what is half typed waits for the rest."""
        value = None if self._is_showing else self._scale.checked(event.value)
        return None if value is None else self._choose(self._scale.name, value)
