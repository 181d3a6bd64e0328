"""The tab Threshold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

if TYPE_CHECKING:
    from crawler.lab.app.state import Lab
    from crawler.lab.app.trial import Trial


class ThresholdTab:
    """Nothing to show yet."""

    def __init__(self, lab: Lab, trial: Trial) -> None:
        self._lab = lab
        self._trial = trial

    def build(self) -> None:
        """Put the tab's elements into the panel that is open."""
        ui.label("Nothing to show yet.").classes("empty")

    async def refresh(self) -> None:
        """Show what is so now."""
