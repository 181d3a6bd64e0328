"""Load the compiled loops of verdicts in a thread, while the first answer is on its way."""

from __future__ import annotations

import asyncio
import logging

from neardup import prepare
from neardup.compiled_files import compiled_folder, is_complete
from neardup.compiling import COMPILING
from neardup.preparation import LOOPS

logger = logging.getLogger(__name__)


class LoopLoading:
    """Loads once what the verdicts of a process need.

    It takes half a second of CPU, in which a request can leave and its answer come. Where they were
    never compiled on this machine, another process compiles them, while pages are fetched. Where no
    code can be kept, they are compiled here at once: that holds up all threads for some seconds, so
    that no event loop may run yet.
    """

    def __init__(self) -> None:
        self.waiting = 0  # callers in ``finished``
        self._task: asyncio.Task[None] | None = None
        if compiled_folder() is None:
            _load()

    def begin(self) -> asyncio.Task[None] | None:
        """Load in a thread from now on; return its task, or None if it has begun before."""
        if self._task is not None:
            return None
        self._task = asyncio.get_running_loop().create_task(asyncio.to_thread(_load))
        return self._task

    async def finished(self) -> None:
        """Wait until all is loaded; a cancelled caller leaves it to others that wait.

        Raises:
            Exception: What loading has raised.
        """
        task = self._task or self.begin()
        assert task is not None
        if not task.done():
            self.waiting += 1
            try:
                await asyncio.wait([task])
            finally:
                self.waiting -= 1
        task.result()


def _load() -> None:
    if not is_complete():
        logger.warning(COMPILING)
        from neardup.compiled import are_ready  # noqa: PLC0415  (numba takes long)

        are_ready(LOOPS, wait=True)
    prepare()
