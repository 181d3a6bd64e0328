"""Load the compiled loops of verdicts in a thread, while the first answer is on its way."""

from __future__ import annotations

import asyncio
import logging
import time

from neardup import prepare
from neardup.compiled_files import is_complete

logger = logging.getLogger(__name__)


class LoopLoading:
    """Loads once what the verdicts of a process need.

    It takes half a second of CPU, in which a request can leave and its answer come. Where they were
    never compiled on this machine, they are at once: that takes some seconds and holds up all
    threads, so that no event loop may run yet.
    """

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        if not is_complete():
            _compile()

    def begin(self) -> asyncio.Task[None] | None:
        """Load in a thread from now on; return its task, or None if it has begun before."""
        if self._task is not None:
            return None
        self._task = asyncio.get_running_loop().create_task(asyncio.to_thread(prepare))
        return self._task

    async def finished(self) -> None:
        """Wait until all is loaded; a cancelled caller leaves it to others that wait.

        Raises:
            Exception: What loading has raised.
        """
        if self._task is None:
            self.begin()
        assert self._task is not None
        if not self._task.done():
            await asyncio.wait([self._task])
        self._task.result()


def _compile() -> None:
    began = time.monotonic()
    prepare(_say_that_it_compiles)
    took = time.monotonic() - began
    logger.warning("compiled what compares texts in %.0f s; the next start loads it", took)


def _say_that_it_compiles(done: int, steps: int) -> None:
    logger.warning(
        "compiling what compares texts, once per installation: step %d of %d", done + 1, steps
    )
