"""The choice that one reader tries, and the answers to it: each window has its own."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from nicegui import background_tasks, ui

from crawler.lab.app.elements import button, plain
from crawler.lab.app.lab_state import StoppedError
from crawler.lab.crawl_source import SourceError
from crawler.lab.judgement import EXACT, SIMHASH, Choice
from crawler.lab.prepared import key_of
from crawler.pages.live_parameters import TUNABLE
from neardup import Features
from neardup.checks import MAX_SHINGLE_SIZE
from neardup.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from crawler.lab.app.lab_state import Lab
    from neardup import Parameters

METHODS = {
    SIMHASH: "SimHash, as in the crawl",
    EXACT: "Exact: equal texts alone",
}
UNITS = {"word": "Words", "character": "Characters"}
WEIGHTS = {"set": "Set", "log_count": "Log counts", "count": "Counts"}
SIZES = range(1, MAX_SHINGLE_SIZE + 1)

_POSITIONS = {False: "off", True: "on"}


class Trial:
    """The choice that is tried, beside what holds.

    Attributes:
        choice: The choice that is tried.
        holds: The parameters that hold in the crawl.

    Args:
        holds: The parameters that hold at first, which are tried too.
        changed: Called after each change.
    """

    def __init__(self, holds: Parameters, changed: Callable[[], Awaitable[None]]) -> None:
        self.holds = holds
        self.choice = Choice(holds)
        self._changed = changed

    @property
    def is_what_holds(self) -> bool:
        return self.choice == Choice(self.holds)

    async def set(self, choice: Choice) -> None:
        if choice != self.choice:
            self.choice = choice
            await self._changed()

    async def reset(self) -> None:
        await self.set(Choice(self.holds))

    async def hold(self, parameters: Parameters) -> None:
        """Note that other parameters hold now; a reader who tried nothing else goes with them."""
        if parameters == self.holds:
            return
        follows = self.is_what_holds
        self.holds = parameters
        if follows:
            self.choice = Choice(parameters)
        await self._changed()


@dataclass(frozen=True, slots=True)
class Scale:
    """A number that can be chosen.

    Attributes:
        name: The name in ``Parameters``.
        unit: The unit of the number, empty for none.
        lowest: The smallest number that may be chosen.
        highest: The largest number of the slider.
        step: The step from one number to the next.
        most: The largest number that may be typed, where the slider ends sooner.
    """

    name: str
    unit: str
    lowest: float
    highest: float
    step: float
    most: float

    def checked(self, value: float | None) -> float | None:
        """Return the number as it may stand in ``Parameters``; None: it may not."""
        if value is None or not self.lowest <= value <= self.most:
            return None
        return round(value, 4) if self.step < 1 else int(value)


SCALES = (
    Scale("max_distance", "bits", 0, 8, 1, 8),
    Scale("min_similarity", "", 0, 1, 0.01, 1),
    Scale("min_words", "", 1, 300, 1, 1_000_000),
)


def with_verify(choice: Choice, *, verify: bool) -> Choice:
    """Choose whether similarity confirms; what fingerprints are made of stays as it is.

    Without it parts of pages are not looked for.
    """
    drop_contained = choice.parameters.drop_contained and verify
    features = choice.parameters.fingerprint_features
    return choice.with_parameters(verify=verify, features=features, drop_contained=drop_contained)


def with_features(choice: Choice, holds: Parameters, **changes: str | int) -> Choice:
    """Choose what fingerprints are made of.

    Args:
        choice: The choice to change.
        holds: The parameters that hold in the crawl.
        changes: ``unit``, ``size`` or ``weight``.
    """
    features = replace(choice.parameters.fingerprint_features, idf=None, **changes)  # type: ignore[arg-type]
    parameters = replace(choice.parameters, features=features)
    return replace(choice, parameters=_with_own_features(parameters, holds))


def _with_own_features(parameters: Parameters, holds: Parameters) -> Parameters:
    """Write the features as the crawl does, where they come to the same."""
    if parameters.features == holds.fingerprint_features and parameters.verify == holds.verify:
        return replace(parameters, features=holds.features)
    return parameters


def used_numbers(choice: Choice) -> frozenset[str]:
    """Return the numbers that count for anything where all else is chosen so."""
    if choice.method == EXACT:
        return frozenset()
    if not choice.parameters.verify:
        return frozenset({"max_distance", "min_words"})
    return frozenset(scale.name for scale in SCALES)


def shown_values(choice: Choice) -> dict[str, str]:
    """Return a choice in words, by the names of the parameters."""
    words = {name: _words(getattr(choice.parameters, name)) for name in TUNABLE}
    features = str(choice.parameters.fingerprint_features)
    return {**words, "features": features, "method": choice.method}


def _words(value: object) -> str:
    if isinstance(value, bool):
        return _POSITIONS[value]
    return f"{value:g}" if isinstance(value, float) else str(value)


def choice_key(choice: Choice) -> str:
    """Return a choice as one word, by which a window and its URL say what is tried."""
    return "/".join(f"{name}:{value}" for name, value in shown_values(choice).items())


def parsed_choice(key: str, holds: Parameters) -> Choice | None:
    """Return the choice of such a word; None where it names none that is valid."""
    positions = {word: position for position, word in _POSITIONS.items()}
    try:
        written = dict(part.split(":") for part in key.split("/"))
        values: dict[str, Any] = {"features": Features.parsed(written["features"])}
        for name in TUNABLE:
            kind = type(getattr(holds, name))
            values[name] = (positions.__getitem__ if kind is bool else kind)(written[name])
        parameters = replace(holds, **values)
        return Choice(_with_own_features(parameters, holds), written["method"])
    except (KeyError, ParameterError, ValueError):
        return None


_SOON_SECS = 0.4
"""Progress is shown after this many seconds, so that no line comes and goes for a short wait."""

_LOOK_SECS = 0.2


class _Waiting:
    """The progress of an answer, and a button with which the reader leaves it."""

    def __init__(self, lab: Lab, leave: Callable[[], None]) -> None:
        self._lab = lab
        self._leave = leave
        self._since: float | None = None
        with ui.element().classes("waiting card") as self._line:
            self._bar = ui.linear_progress(show_value=False, size="4px")
            with ui.element().classes("line"):
                self._words = ui.label().classes("soft")
                ui.element().classes("spacer")
                button("Stop", self._leave)
        self._line.set_visibility(False)
        ui.timer(_LOOK_SECS, self._look)

    @contextmanager
    def for_answer(self) -> Iterator[None]:
        """Show the progress as long as the block lasts, if that is long."""
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
        known = f"{progress.words} ({progress.share:.0%})" if progress else "Counting"
        self._words.text = known


class Answers:
    """Shows the current answer in a tab, in the background, so that nothing waits for it.

    Nothing queues up: while one question is answered, those that come replace each other. The
    preparation for a question that is no longer asked is stopped, and the reader may leave it.

    Args:
        lab: The lab that answers.
        trial: The trial, set back to what was shown last where the reader leaves.
        basis: Returns what the answer rests on besides the choice that is tried and the pages.
        answer: Shows the answer to what is asked when it is called.
    """

    def __init__(
        self,
        lab: Lab,
        trial: Trial,
        basis: Callable[[], tuple[object, ...]],
        answer: Callable[[], Awaitable[None]],
    ) -> None:
        self._lab = lab
        self._trial = trial
        self._basis = basis
        self._answer = answer
        self._shown: tuple[object, ...] | None = None
        self._shown_choice: Choice | None = None
        self._answering: Choice | None = None
        with ui.element().classes("unboxed") as self._place:
            self._waiting = _Waiting(lab, self._leave)
            self._fault = ui.label().classes("fault").props("role=alert")

    def wake(self) -> None:
        """Look whether something else is asked."""
        choice = self._trial.choice
        if self._answering is None:
            self._answering = choice
            background_tasks.create(self._work(), name="answers", context=self._place)
        elif key_of(self._answering) != key_of(choice):
            self._leave()

    def _asked(self) -> tuple[object, ...]:
        return self._trial.choice, self._lab.reading, *self._basis()

    async def _work(self) -> None:
        try:
            while not self._place.is_deleted and (asked := self._asked()) != self._shown:
                self._answering = self._trial.choice
                with self._waiting.for_answer():
                    if not await self._try(asked, self._answering):
                        return
        finally:
            self._answering = None

    async def _try(self, asked: tuple[object, ...], choice: Choice) -> bool:
        """Answer, or say why not; say whether to look for another question."""
        try:
            await self._answer()
            self._fault.text = ""
        except SourceError as error:
            # Asked again at once it would be said again: it is, when something else is asked.
            self._fault.text = plain(str(error))
        except StoppedError:
            return await self._return_from(choice)
        self._shown, self._shown_choice = asked, choice
        return True

    async def _return_from(self, choice: Choice) -> bool:
        """Go back to what was shown last, unless something else is wanted already."""
        if self._trial.choice != choice:
            return True
        last = self._shown_choice or Choice(self._trial.holds)
        await self._trial.set(last)
        # Where there is nothing to go back to, or the lab is being closed, no more is asked.
        return last != choice

    def _leave(self) -> None:
        if self._answering is not None:
            self._lab.stop(self._answering)
