"""A way to a server on which replies are lost: what was asked is done, and nobody hears of it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import AsyncIterator

_LOST = 0.15
_CHUNK = 1 << 16


@asynccontextmanager
async def cut(port: int, source: random.Random) -> AsyncIterator[int]:
    """Forward to a port on this machine, and lose some replies with their connections.

    Yields:
        The port to ask instead.
    """
    running: set[asyncio.Task[None]] = set()

    async def forward(theirs: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        answers, out = await asyncio.open_connection("127.0.0.1", port)
        tasks = [
            asyncio.create_task(_pass_on(theirs, out, None)),
            asyncio.create_task(_pass_on(answers, back, source)),
        ]
        running.update(tasks)
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for writer in (out, back):
            writer.close()

    server = await asyncio.start_server(forward, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _pass_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, loses: random.Random | None
) -> None:
    try:
        while data := await reader.read(_CHUNK):
            if loses is not None and loses.random() < _LOST:
                return
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        return
