"""The choice that one reader tries: each window of a browser has its own."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

from crawler.lab.choice import Choice

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from neardup import Parameters


class Trial:
    """The choice that is tried, beside what holds; listeners are told of changes.

    Attributes:
        choice: The choice that is tried.
        holds: The parameters that hold in the crawl.
    """

    def __init__(self, holds: Parameters) -> None:
        self.holds = holds
        self.choice = Choice(holds)
        self._listeners: list[Callable[[], Awaitable[None] | None]] = []

    def on_change(self, listener: Callable[[], Awaitable[None] | None]) -> None:
        """Call this after each change, and wait for it where it is a coroutine."""
        self._listeners.append(listener)

    @property
    def is_what_holds(self) -> bool:
        """Whether nothing else is tried."""
        return self.choice == Choice(self.holds)

    async def set(self, choice: Choice) -> None:
        """Try this from now on."""
        if choice != self.choice:
            self.choice = choice
            await self._tell()

    async def reset(self) -> None:
        """Try what holds."""
        await self.set(Choice(self.holds))

    async def hold(self, parameters: Parameters) -> None:
        """Note that other parameters hold now; a reader who tried nothing else goes with them."""
        if parameters == self.holds:
            return
        follows = self.is_what_holds
        self.holds = parameters
        if follows:
            self.choice = Choice(parameters)
        await self._tell()

    async def _tell(self) -> None:
        for listener in self._listeners:
            told = listener()
            if inspect.isawaitable(told):
                await told
