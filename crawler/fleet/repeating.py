"""What a worker does again and again, beside each other, until it ends."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from crawler.storage.errors import StorageError
from neardup import ServerError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

logger = logging.getLogger(__name__)

_AGAIN_SECS = 1.0


class Repeating:
    """Tasks that each do one thing at intervals; none of them dies in silence.

    Args:
        fail: Told once why a task cannot go on.
    """

    def __init__(self, fail: Callable[[str], None]) -> None:
        self._fail = fail
        self._tasks: list[asyncio.Task[None]] = []
        self._is_over = False

    def start(self, act: Callable[[], Awaitable[None]], secs: float) -> None:
        """Do something from now on, each time after so many seconds."""
        self._tasks.append(asyncio.create_task(self._repeat(act, secs)))

    async def stop(self) -> None:
        """Do nothing more; what was under way may be done or not."""
        self._is_over = True
        while self._tasks:
            for task in self._tasks:
                task.cancel()
            # Again, where one did not notice.
            _, left = await asyncio.wait(self._tasks, timeout=_AGAIN_SECS)
            self._tasks = list(left)

    async def _repeat(self, act: Callable[[], Awaitable[None]], secs: float) -> None:
        while not self._is_over and await self._attempt(act):
            await asyncio.sleep(secs)

    async def _attempt(self, act: Callable[[], Awaitable[None]]) -> bool:
        """Do something; say whether it can be done again."""
        try:
            await act()
        except StorageError:  # the job remembers it, and the crawl ends
            return False
        except ServerError as error:
            self._fail(str(error))
            return False
        except Exception as error:  # a fault of ours: loudly, instead of a crawl that hangs
            logger.exception("this worker of the fleet cannot go on")
            self._fail(f"this worker cannot go on: {error!r}")
            return False
        return True
