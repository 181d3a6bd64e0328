"""A line that says what is being prepared, with a way out of it."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nicegui import ui

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from crawler.lab.app.lab_state import Lab

_SOON_SECS = 0.4
"""What takes no longer is not worth a line that comes and goes."""

_LOOK_SECS = 0.2


class Waiting:
    """How far the answer to a question is.

    Args:
        lab: Who answers.
        leave: Called when the reader does not want it any more.
    """

    def __init__(self, lab: Lab, leave: Callable[[], None]) -> None:
        self._lab = lab
        self._leave = leave
        self._since: float | None = None

    def build(self) -> None:
        """Put it where the page is being made."""
        with ui.element().classes("waiting card") as self._line:
            self._bar = ui.linear_progress(show_value=False, size="4px")
            with ui.element().classes("line"):
                self._words = ui.label().classes("soft")
                ui.element().classes("spacer")
                button = ui.button("Stop", on_click=self._leave, color=None)
                button.props("flat dense").classes("plain")
        self._line.set_visibility(False)
        ui.timer(_LOOK_SECS, self._look)

    @contextmanager
    def for_answer(self) -> Iterator[None]:
        """Say how far it is as long as the block lasts, if that is long."""
        self._since = time.monotonic()
        try:
            yield
        finally:
            self._since = None
            self._line.set_visibility(False)

    def _look(self) -> None:
        progress = self._lab.progress
        is_long = self._since is not None and time.monotonic() - self._since > _SOON_SECS
        self._line.set_visibility(is_long)
        self._bar.props(remove="indeterminate") if progress else self._bar.props("indeterminate")
        self._bar.value = progress.share if progress else 0.0
        known = f"{progress.words} ({progress.share:.0%})" if progress else "Computing"
        self._words.text = known
