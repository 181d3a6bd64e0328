"""Waits for states: the one place where tests ask again and again.

A state that does not come within ``PATIENCE_SECS`` is a failure that names the line which waits.
The bound is no measure of speed: it only ends what would hang.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
    from random import Random
    from subprocess import Popen
    from typing import Any

T = TypeVar("T")

PATIENCE_SECS = 240.0
PAUSE_SECS = 0.01


def attempts(secs: float = PATIENCE_SECS, pause_secs: float = PAUSE_SECS) -> Iterator[None]:
    """Yield at once, and then after each pause until the time is over."""
    deadline = time.monotonic() + secs
    yield
    while time.monotonic() < deadline:
        time.sleep(pause_secs)
        yield


def wait_until(
    is_so: Callable[[], T],
    process: Popen[Any] | None = None,
    *,
    secs: float = PATIENCE_SECS,
    pause_secs: float = PAUSE_SECS,
) -> T:
    """Wait until something is so, and return it.

    Args:
        is_so: Asked until it returns something true.
        process: Must be running until then.
        secs: End of patience.
        pause_secs: From one question to the next.
    """
    for _ in attempts(secs, pause_secs):
        if found := is_so():
            return found
        assert process is None or process.poll() is None, ("it ended before", process.communicate())
    raise AssertionError("waited in vain")


async def until(is_so: Callable[[], T], *, pause_secs: float = PAUSE_SECS) -> T:
    """Wait in an event loop until something is so, and return it."""
    async for _ in _async_attempts(pause_secs):
        if found := is_so():
            return found
    raise AssertionError("waited in vain")


async def eventually(ask: Callable[[], Awaitable[T]]) -> T:
    """Ask in an event loop until something true is answered, and return it."""
    async for _ in _async_attempts(PAUSE_SECS):
        if found := await ask():
            return found
    raise AssertionError("waited in vain")


async def _async_attempts(pause_secs: float) -> AsyncIterator[None]:
    deadline = time.monotonic() + PATIENCE_SECS
    yield
    while time.monotonic() < deadline:
        await asyncio.sleep(pause_secs)
        yield


def some_moment(chance: Random, max_secs: float) -> None:
    """Let a time pass that nothing in the tested code decides, so that a kill may fall anywhere."""
    time.sleep(chance.uniform(0, max_secs))
