"""Judges of one server, and a sender that can stop at any of its steps."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup import Parameters, Verdict
from neardup.storage.redis.connecting import connect
from neardup.storage.redis.head_format import limits_of, recorded
from neardup.storage.redis.text_store import TextStore
from tests.neardup.storage.redis.judges import Page, SharedJudge, document_of, owner_of
from tests.neardup.texts import changed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from neardup.storage.redis.commit_log import Commit, Look
    from neardup.storage.redis.server import Server


PARAMETERS = Parameters()


NEW = Verdict("new")


def lone_text(seed: int) -> str:
    """A text that shares no word with others, so that nothing but a copy of it is a candidate."""
    return " ".join(f"word{seed}x{number}" for number in range(400))


PAGE, FAR = lone_text(1), lone_text(2)


NEAR = changed(PAGE, 1)


@dataclass
class Fleet:
    """Judges, and a sender that can stop at any of its steps."""

    server: Server
    judge: SharedJudge
    other: SharedJudge
    text_store: TextStore

    async def commit(self, page: Page, look: Look, *, keeps: bool = False) -> int | None:
        return (await self.answer(page, look, keeps=keeps)).number

    async def answer(self, page: Page, look: Look, *, keeps: bool = False) -> Commit:
        about = b'{"number": %d}' % page.number
        record = recorded(owner_of(page.number), document_of(page, PARAMETERS), about)
        return await self.text_store.log.commit(
            record.head, record.packed(), look.compared, limits_of(PARAMETERS), keeps=keeps
        )

    async def unwritten(self) -> int:
        return int(await self.server.run("HLEN", "test:{test:log}:bodies"))


@asynccontextmanager
async def fleet_of(url: str) -> AsyncIterator[Fleet]:
    servers = [await connect(url, "test:") for _ in range(3)]
    try:
        judge, other = [await SharedJudge.opened(server, PARAMETERS) for server in servers[:2]]
        yield Fleet(servers[2], judge, other, TextStore(servers[2], blocks=4))
    finally:
        for server in servers:
            await server.close()


def with_fleet(url: str, use: Callable[[Fleet], Awaitable[None]]) -> None:
    async def used() -> None:
        async with fleet_of(url) as fleet:
            await use(fleet)

    asyncio.run(used())
