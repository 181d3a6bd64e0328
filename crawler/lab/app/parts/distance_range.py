"""From so many bits to so many, as two short lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nicegui.events import ValueChangeEventArguments

FARTHEST = 8


class DistanceRange:
    """The distances of the pairs that are looked at.

    Lists and no slider: arrow keys walk through pairs here, and a slider would take them.

    Args:
        changed: Called when the reader chose another range.
    """

    def __init__(self, changed: Callable[[], Awaitable[None]]) -> None:
        self._changed = changed
        self._is_following = False

    def build(self) -> None:
        """Put it where the page is being made."""
        bits = {bits: str(bits) for bits in range(FARTHEST + 1)}
        self._low = ui.select(bits, label="From", value=0, on_change=self._chose_low)
        self._high = ui.select(bits, label="To", value=FARTHEST, on_change=self._chose_high)
        for element, name in ((self._low, "from"), (self._high, "to")):
            element.props(f"dense outlined options-dense data-bits={name}").classes("bits")
        ui.label("bits apart").classes("soft bits-words")

    @property
    def distances(self) -> range:
        """What was chosen."""
        return range(int(self._low.value or 0), int(self._high.value or 0) + 1)

    def _chose_low(self, _: ValueChangeEventArguments[Any]) -> Awaitable[None] | None:
        return self._follow(self._high, max(self._low.value, self._high.value))

    def _chose_high(self, _: ValueChangeEventArguments[Any]) -> Awaitable[None] | None:
        return self._follow(self._low, min(self._low.value, self._high.value))

    def _follow(self, other: ui.select, value: int) -> Awaitable[None] | None:
        """The other end goes along, where it would lie on the wrong side."""
        if self._is_following:
            return None
        self._is_following = True
        other.value = value
        self._is_following = False
        for element in (self._low, self._high):
            # Keys belong to the pairs again.
            element.run_method("blur")
        return self._changed()
