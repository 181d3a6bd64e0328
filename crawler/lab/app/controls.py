"""Everything that can be tried, to be set by a reader."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from nicegui import ui

from crawler.lab.app.parameter_trial import (
    METHODS,
    SCALES,
    SIZES,
    UNITS,
    WEIGHTS,
    used_numbers,
    with_features,
    with_verify,
)
from crawler.lab.judgement import SIMHASH

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from nicegui.elements.mixins.value_element import ValueElement

    from crawler.lab.app.parameter_trial import Scale, Trial

FARTHEST = 8
_CHOOSE_SECS = 0.05
"""A slider that moves tells so no more often than this, in seconds."""

SWITCHES = {
    "compare_names": "names decide",
    "ignore_boilerplate": "what a site repeats does not count",
    "drop_contained": "parts of pages are dropped",
}


class DistanceRange:
    """The distances of the pairs that are looked at.

    Lists and no slider: arrow keys walk through pairs here, and a slider would take them.

    Args:
        changed: Called when the reader chose another range.
    """

    def __init__(self, changed: Callable[[], Awaitable[None]]) -> None:
        self._changed = changed
        bits = {bits: str(bits) for bits in range(FARTHEST + 1)}
        self._low = ui.select(bits, label="From", value=0)
        self._high = ui.select(bits, label="To", value=FARTHEST)
        for element, name in ((self._low, "from"), (self._high, "to")):
            element.props(f"dense outlined options-dense data-bits={name}").classes("bits")
            element.tooltip(HINTS["distances"])
        _when_chosen(self._low, lambda low: self._follow(self._high, max(low, self._high.value)))
        _when_chosen(self._high, lambda high: self._follow(self._low, min(high, self._low.value)))
        ui.label("bits apart").classes("soft bits-words")

    @property
    def distances(self) -> range:
        return range(int(self._low.value or 0), int(self._high.value or 0) + 1)

    def _follow(self, other: ui.select, value: int) -> Awaitable[None]:
        """Move the other end along, where it would lie on the wrong side."""
        other.value = value
        for element in (self._low, self._high):
            # Keys belong to the pairs again.
            element.run_method("blur")
        return self._changed()


class _Slider(ui.slider):
    """Moves in the browser at once; else what the server heard late would pull it back."""

    LOOPBACK = False


def _when_chosen(
    element: ValueElement[Any], choose: Callable[[Any], Awaitable[None] | None]
) -> None:
    """Pass on what the reader chose, not what is shown because it was chosen elsewhere."""
    element.on("update:model-value", lambda: choose(element.value), [])


def _hint(element: ui.element, name: str) -> None:
    """Show the hint of a parameter beside it, where it hides none of the others."""
    with element:
        ui.tooltip(HINTS[name]).props('anchor="center right" self="center left"')


class ScaleField:
    """One number that can be chosen.

    Args:
        scale: The name and the bounds of the number.
        choose: Called with the name and the number when the reader chose one that is allowed.
    """

    def __init__(self, scale: Scale, choose: Callable[[str, float], Awaitable[None]]) -> None:
        self._scale = scale
        self._choose = choose
        self._value: float | None = None
        with ui.element().classes("scale") as whole:
            unit = f" ({scale.unit})" if scale.unit else ""
            ui.label(f"{scale.name}{unit}").classes("scale-name")
            self._number = ui.number(
                min=scale.lowest,
                max=scale.most,
                step=scale.step,
                # The browser writes a number as it is: 0.7996 is not 0.80.
                format=None if scale.step < 1 else "%d",
                validation=self._fault,
            )
            self._number.on("blur", self._leave, [])
            self._number.props(f'dense outlined aria-label="{scale.name}"')
            self._slider = _Slider(min=scale.lowest, max=scale.highest, step=scale.step)
            self._slider.props(f'dense aria-label="{scale.name}" data-scale={scale.name}')
        _hint(whole, scale.name)
        _when_chosen(self._number, self._chose)
        # The value of a slider comes by an event of its own, which may be the later one.
        self._slider.on(
            "update:model-value",
            lambda event: self._chose(event.args),
            [None],
            throttle=_CHOOSE_SECS,
        )

    def show(self, value: float, *, is_used: bool) -> None:
        """Show a number that was chosen here or elsewhere, and whether it counts for anything."""
        self._value = self._number.value = value
        self._slider.value = min(value, self._scale.highest)
        self._slider.set_enabled(is_used)
        self._number.set_enabled(is_used)

    def _fault(self, value: float | None) -> str | None:
        """Return why a number is not tried, None for one that is."""
        if self._value is None or self._scale.checked(value) is not None:
            return None
        return f"{self._scale.lowest:g} to {self._scale.most:,g}; {self._value:g} is tried"

    def _leave(self) -> Awaitable[None] | None:
        """Show again what is tried, where the reader leaves a field without a number.

        A number out of bounds was set to the bound by NiceGUI, which is tried then.
        """
        if self._value is not None and self._scale.checked(self._number.value) is None:
            self._number.value = self._value
        return self._chose(self._number.value)

    def _chose(self, number: float | None) -> Awaitable[None] | None:
        """Pass on what the reader chose; what is half typed waits for the rest."""
        value = self._scale.checked(number)
        return None if value is None else self._choose(self._scale.name, value)


class Controls:
    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._method = self._list("method", "Method", METHODS, self._set_method)
        self._scales = {scale.name: ScaleField(scale, self._set_value) for scale in SCALES}
        self._verify = ui.switch("verify: similarity confirms").props("dense")
        _when_chosen(self._verify, self._set_verify)
        _hint(self._verify, "verify")
        self._switches = {name: self._switch(name, words) for name, words in SWITCHES.items()}
        ui.separator()
        ui.label("Fingerprints are made of").classes("title")
        with ui.element().classes("features"):
            sizes = {size: str(size) for size in SIZES}
            self._unit = self._feature("unit", "Unit", UNITS)
            self._size = self._feature("size", "Size", sizes)
            self._weight = self._feature("weight", "Weighed as", WEIGHTS)
        self.show()

    def show(self) -> None:
        """Show the choice that is tried now, whichever part chose it."""
        choice = self._trial.choice
        used = used_numbers(choice)
        for name, scale in self._scales.items():
            scale.show(getattr(choice.parameters, name), is_used=name in used)
        features = choice.parameters.fingerprint_features
        self._method.value = choice.method
        self._verify.value = choice.parameters.verify
        for name, switch in self._switches.items():
            switch.value = getattr(choice.parameters, name)
        self._unit.value, self._size.value = features.unit, features.size
        self._weight.value = features.weight if features.weight in WEIGHTS else None
        for element in (self._unit, self._size, self._weight):
            element.set_enabled(choice.method == SIMHASH)
        for switch in (self._verify, *self._switches.values()):
            switch.set_enabled(choice.method == SIMHASH)
        may_drop = choice.method == SIMHASH and choice.parameters.verify
        self._switches["drop_contained"].set_enabled(may_drop)

    def _switch(self, name: str, words: str) -> ui.switch:
        switch = ui.switch(f"{name}: {words}")
        _when_chosen(switch, partial(self._set_value, name))
        _hint(switch, name)
        return switch.props(f"dense aria-label={name}")

    def _feature(self, name: str, label: str, options: dict[Any, str]) -> ui.select:
        return self._list(name, label, options, lambda value: self._set_features(**{name: value}))

    def _list(
        self,
        name: str,
        label: str,
        options: dict[Any, str],
        choose: Callable[[Any], Awaitable[None]],
    ) -> ui.select:
        element = ui.select(options, label=label)
        _when_chosen(element, choose)
        _hint(element, name)
        return element.props("dense outlined options-dense")

    async def _set_value(self, name: str, value: float) -> None:
        await self._trial.set(self._trial.choice.with_parameters(**{name: value}))

    async def _set_method(self, method: str) -> None:
        await self._trial.set(replace(self._trial.choice, method=method))

    async def _set_verify(self, verify: bool) -> None:
        await self._trial.set(with_verify(self._trial.choice, verify=verify))

    async def _set_features(self, **changes: str | int) -> None:
        await self._trial.set(with_features(self._trial.choice, self._trial.holds, **changes))


HINTS = {
    "min_similarity": "Are too many pages called duplicates? Raise this: near texts repeat each"
    " other from this share of common shingles on.",
    "max_distance": "Do texts that differ in a few words count as new? Raise this: fingerprints"
    " that differ in at most this many bits are a match.",
    "min_words": "Are short pages called duplicates of each other? Raise this: texts of fewer"
    " words repeat only what is equal.",
    "verify": "Does a match of fingerprints drop texts that are not alike? Leave this on: a match"
    " counts only where the texts themselves are similar enough.",
    "compare_names": "Do products or persons on one template get lost? Leave this on: near texts"
    " of pages with other names are both kept.",
    "ignore_boilerplate": "Are short pages dropped because menus and footers are alike? Leave this"
    " on: what the site repeats on many pages does not count.",
    "drop_contained": "Are pages kept that stand in full on another page? Turn this on: a page"
    " that is a part of a kept one is dropped.",
    "method": "Would equal texts alone be enough to drop pages? Try Exact here, which looks for no"
    " near texts; a crawl always uses SimHash.",
    "features": "Is every text near every other one? Try other pieces of text under Threshold:"
    " this says what fingerprints are made of, as unit, size and weight.",
    "unit": "Has the site's language no spaces between words? Try Characters: fingerprints are"
    " made of pieces of so many words or characters.",
    "size": "Do texts with the same words in another order count as near? Raise this: so many"
    " units in a row make one piece.",
    "weight": "Do words that stand in a text a hundred times decide everything? Choose Set, which"
    " counts each piece once; counts weigh it as often as it stands there.",
    "distances": "Do you look for the pairs at the border? Choose the distances around"
    " max_distance: only pairs so many bits apart are shown.",
}
"""Hints by the name of the parameter: a question, and one sentence that says what to do."""
