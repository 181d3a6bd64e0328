"""One question answered after the other, of those that wait only the last one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from nicegui import background_tasks, ui

from crawler.lab.app.lab_state import StoppedError
from crawler.lab.app.parts.waiting import Waiting
from crawler.lab.app.plain_text import plain
from crawler.lab.choice import Choice
from crawler.lab.prepared import Key, key_of
from crawler.lab.sources.source import SourceError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from crawler.lab.app.lab_state import Lab
    from crawler.lab.app.parameter_trial import Trial


class Question(Protocol):
    """What a tab is to show; equal ones have equal answers."""

    @property
    def choice(self) -> Choice: ...


Asked = TypeVar("Asked", bound=Question)


class Answers(Generic[Asked]):
    """Lets a tab show what is so now, in the background, so that nothing waits for it.

    Nothing queues up: while one question is answered, those that come replace each other. What is
    being prepared for a question that nobody asks any more is stopped, and its reader may leave it.

    Args:
        lab: Who answers.
        trial: Set back to what was shown last where the reader leaves.
        ask: Says what is asked now.
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
        self._waiting = Waiting(lab, self._leave)
        self._shown: Asked | None = None
        self._answering: Asked | None = None

    def build(self) -> None:
        """Put the line that says how far it is where the page is being made."""
        with ui.element().classes("unboxed") as self._place:
            self._waiting.build()
            self._fault = ui.label().classes("fault").props("role=alert")

    def wake(self) -> None:
        """Look whether something else is asked."""
        asked = self._ask()
        if self._answering is None:
            self._answering = asked
            background_tasks.create(self._work(), name="answers", context=self._place)
        elif self._key(self._answering) != self._key(asked):
            self._leave()

    def _key(self, asked: Asked) -> Key:
        """What is prepared for a question."""
        return key_of(asked.choice)

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
        """Let go of what is being prepared."""
        if self._answering is not None:
            self._lab.stop(self._answering.choice)
