"""Everything that can be tried, to be set by a reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from crawler.lab.app.choices import (
    METHODS,
    SCALES,
    SIZES,
    UNITS,
    WEIGHTS,
    used_numbers,
    with_features,
    with_method,
    with_number,
    with_verify,
)
from crawler.lab.app.parts.scale_field import ScaleField
from crawler.lab.choice import SIMHASH

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nicegui.events import ValueChangeEventArguments

    from crawler.lab.app.parameter_trial import Trial


class Controls:
    """Sliders, fields and lists of one window, which change its trial."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._is_showing = False
        self._scales = {scale.name: ScaleField(scale, self._set_number) for scale in SCALES}

    def build(self) -> None:
        """Put them where the page is being made."""
        self._method = self._list("Method", METHODS, self._set_method)
        for scale in self._scales.values():
            scale.build()
        self._verify = ui.switch(
            "verify: similarity confirms", on_change=self._told(self._set_verify)
        ).props("dense")
        ui.separator()
        ui.label("Fingerprints are made of").classes("title")
        with ui.element().classes("features"):
            self._unit = self._list("Unit", UNITS, self._set_unit)
            self._size = self._list("Size", {size: str(size) for size in SIZES}, self._set_size)
            self._weight = self._list("Weighed as", WEIGHTS, self._set_weight)
        self.show()

    def show(self) -> None:
        """Show what is tried now, whoever chose it."""
        choice = self._trial.choice
        used = used_numbers(choice)
        for name, scale in self._scales.items():
            scale.show(getattr(choice.parameters, name), is_used=name in used)
        features = choice.parameters.fingerprint_features
        self._is_showing = True
        try:
            self._method.value = choice.method
            self._verify.value = choice.parameters.verify
            self._unit.value, self._size.value = features.unit, features.size
            self._weight.value = features.weight if features.weight in WEIGHTS else None
        finally:
            self._is_showing = False
        for element in (self._unit, self._size, self._weight, self._verify):
            element.set_enabled(choice.method == SIMHASH)

    def _list(
        self,
        label: str,
        options: dict[Any, str],
        choose: Callable[[Any], Awaitable[None]],
    ) -> ui.select:
        element = ui.select(options, label=label, on_change=self._told(choose))
        return element.props("dense outlined options-dense")

    def _told(
        self, choose: Callable[[Any], Awaitable[None]]
    ) -> Callable[[ValueChangeEventArguments[Any]], Awaitable[None] | None]:
        """Pass on what the reader chose, not what is shown because it was chosen elsewhere."""

        def changed(event: ValueChangeEventArguments[Any]) -> Awaitable[None] | None:
            return None if self._is_showing or event.value is None else choose(event.value)

        return changed

    async def _set_number(self, name: str, value: float) -> None:
        await self._trial.set(with_number(self._trial.choice, name, value))

    async def _set_method(self, method: str) -> None:
        await self._trial.set(with_method(self._trial.choice, method))

    async def _set_verify(self, verify: bool) -> None:
        await self._trial.set(with_verify(self._trial.choice, verify=verify))

    async def _set_unit(self, unit: str) -> None:
        await self._set_features(unit=unit)

    async def _set_size(self, size: int) -> None:
        await self._set_features(size=size)

    async def _set_weight(self, weight: str) -> None:
        await self._set_features(weight=weight)

    async def _set_features(self, **changes: str | int) -> None:
        await self._trial.set(with_features(self._trial.choice, self._trial.holds, **changes))
