"""Pools for tests: started, used and closed."""

from __future__ import annotations

import asyncio
import os
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from crawler.reading.pool import ReadingPool
from crawler.reading.protocol import ReadingOptions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from crawler.reading.reading import Extract, Reading

T = TypeVar("T")

URL = "http://host.example/a/b.html"
ONE = ReadingOptions(workers=1)
TWO = ReadingOptions(workers=2)


@asynccontextmanager
async def open_pool(options: ReadingOptions) -> AsyncIterator[ReadingPool]:
    pool = ReadingPool(options)
    await pool.start()
    try:
        yield pool
    finally:
        await pool.close()


def use(options: ReadingOptions, act: Callable[[ReadingPool], Awaitable[T]]) -> T:
    async def main() -> T:
        async with open_pool(options) as pool:
            return await act(pool)

    return asyncio.run(main())


def nothing_known(_: bytes) -> Extract | None:
    return None


async def read(pool: ReadingPool, body: bytes, *, links_only: bool = False) -> Reading:
    return await pool.read(URL, body, "text/html", links_only=links_only, known=nothing_known)


def is_running(pid: int) -> bool:
    """Whether a process is there, be it as a zombie."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def is_forked(pid: int) -> bool:
    """Whether a process is a worker, and not the server, which stands for it before it begins."""
    return _stat(pid)[1] != str(os.getpid())


def state(pid: int) -> str:
    return _stat(pid)[0]


def server_of(pool: ReadingPool) -> int:
    """The process that the workers are forked of."""
    return int(_stat(pool.pids[0])[1])


def _stat(pid: int) -> list[str]:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rpartition(")")[2].split()
    except FileNotFoundError:  # it has ended
        return ["X", "0"]
