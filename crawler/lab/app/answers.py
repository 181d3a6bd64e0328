"""One question answered after the other, of those that wait only the last one."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from nicegui import background_tasks, ui

from crawler.lab.app.crawled_text import plain
from crawler.lab.app.lab_state import StoppedError
from crawler.lab.crawl_source import SourceError
from crawler.lab.judgement import Choice
from crawler.lab.prepared import key_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial

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
                button = ui.button("Stop", on_click=self._leave, color=None)
                button.props("flat dense").classes("plain")
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


class TabQuestion(Protocol):
    """The question that a tab answers; equal ones have equal answers."""

    @property
    def choice(self) -> Choice: ...


Asked = TypeVar("Asked", bound=TabQuestion)


class Answers(Generic[Asked]):
    """Shows the current answer in a tab, in the background, so that nothing waits for it.

    Nothing queues up: while one question is answered, those that come replace each other. The
    preparation for a question that is no longer asked is stopped, and the reader may leave it.

    Args:
        lab: The lab that answers.
        trial: The trial, set back to what was shown last where the reader leaves.
        ask: Returns the current question.
        answer: Shows the answer to a question.
    """

    def __init__(
        self,
        lab: Lab,
        trial: Trial,
        ask: Callable[[], Asked],
        answer: Callable[[Asked], Awaitable[None]],
    ) -> None:
        self._lab = lab
        self._trial = trial
        self._ask = ask
        self._answer = answer
        self._shown: Asked | None = None
        self._answering: Asked | None = None
        with ui.element().classes("unboxed") as self._place:
            self._waiting = _Waiting(lab, self._leave)
            self._fault = ui.label().classes("fault").props("role=alert")

    def wake(self) -> None:
        """Look whether something else is asked."""
        asked = self._ask()
        if self._answering is None:
            self._answering = asked
            background_tasks.create(self._work(), name="answers", context=self._place)
        elif key_of(self._answering.choice) != key_of(asked.choice):
            self._leave()

    async def _work(self) -> None:
        try:
            while not self._place.is_deleted and (asked := self._ask()) != self._shown:
                self._answering = asked
                with self._waiting.for_answer():
                    if not await self._try(asked):
                        return
        finally:
            self._answering = None

    async def _try(self, asked: Asked) -> bool:
        """Answer, or say why not; say whether to look for another question."""
        try:
            await self._answer(asked)
            self._fault.text = ""
        except SourceError as error:
            # Asked again at once it would be said again: it is, when something else is asked.
            self._fault.text = plain(str(error))
        except StoppedError:
            return await self._return_from(asked)
        self._shown = asked
        return True

    async def _return_from(self, asked: Asked) -> bool:
        """Go back to what was shown last, unless something else is wanted already."""
        if self._trial.choice != asked.choice:
            return True
        last = Choice(self._trial.holds) if self._shown is None else self._shown.choice
        await self._trial.set(last)
        # Where there is nothing to go back to, or the lab is being closed, no more is asked.
        return last != asked.choice

    def _leave(self) -> None:
        if self._answering is not None:
            self._lab.stop(self._answering.choice)
