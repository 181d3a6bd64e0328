"""Keys with which pairs are labelled; they mean nothing while a field is typed in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from nicegui.events import KeyEventArguments

    Deeds = Mapping[str, Callable[[], Awaitable[None]]]

_MAY_REPEAT = frozenset({"ArrowLeft", "ArrowRight"})


class PairKeys:
    """Listens as long as what it stands in is shown.

    Args:
        deeds: What each key does, by its name as browsers have it, letters in lower case.
    """

    def __init__(self, deeds: Deeds) -> None:
        self._deeds = deeds

    def build(self) -> None:
        """Put it where the page is being made."""
        # A button keeps the focus after it was clicked on; keys are to go on working then.
        ui.keyboard(self._pressed, ignore=["input", "select", "textarea"])

    def _pressed(self, event: KeyEventArguments) -> Awaitable[None] | None:
        with_others = event.modifiers.ctrl or event.modifiers.alt or event.modifiers.meta
        if not event.action.keydown or with_others:
            return None
        name = event.key.name if len(event.key.name) > 1 else event.key.name.lower()
        # Who holds a letter down has labelled one pair, not all of them.
        if name not in self._deeds or (event.action.repeat and name not in _MAY_REPEAT):
            return None
        return self._deeds[name]()
