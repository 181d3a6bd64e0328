"""A Redis that may restart, be full or be gone for a while: whoever asks waits and goes on."""

import asyncio
import random
from collections.abc import Sequence
from typing import Any, TypeAlias

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import NoScriptError

from neardup.errors import ClosedError, ServerError
from neardup.storage.redis.outage import Outage
from neardup.storage.redis.script import Argument, Call, Script
from neardup.storage.redis.transient import FAILURES, is_of_topology, why_to_wait

Client: TypeAlias = Redis | RedisCluster
Command: TypeAlias = tuple[Argument, ...] | Call

_FIRST_WAIT_SECS = 0.1
_LONGEST_WAIT_SECS = 5.0
_AT_ONCE = 64


class Server:
    """Commands that wait as long as the server does not take them, with backoff.

    A command may be executed twice: its reply can be lost after it was done. So each must do no
    harm when it is repeated. Cancelling a call ends its wait.

    Args:
        client: Made so that it does not try again by itself. Closed by ``close``.
        prefix: What all keys of its user begin with.
        name: Host and port, for messages.
        warnings: What its user should be told about it.
    """

    def __init__(
        self, client: Client, *, prefix: str = "", name: str = "", warnings: Sequence[str] = ()
    ) -> None:
        self.client = client
        self.prefix = prefix
        self.name = name
        self.warnings = tuple(warnings)
        self._outage = Outage(name)
        self._at_once = asyncio.Semaphore(_AT_ONCE)
        self._closed = False

    @property
    def is_cluster(self) -> bool:
        """Whether keys are spread over several servers."""
        return isinstance(self.client, RedisCluster)

    @property
    def waiting(self) -> str | None:
        """Why calls wait now; None where none does."""
        return self._outage.reason

    @property
    def waited_since(self) -> float | None:
        """When the wait of now began, in seconds as ``time.time`` counts; None where none does."""
        return self._outage.since

    async def run(self, *command: Argument) -> Any:
        """Execute one command and return its reply.

        Raises:
            ServerError: The server refuses it for good.
            ClosedError: Used after ``close``.
        """
        return (await self.pipeline([command]))[0]

    async def call(
        self, script: Script, keys: Sequence[str | bytes], args: Sequence[Argument] = ()
    ) -> Any:
        """Run a script and return its reply; raises what ``run`` does."""
        return (await self.pipeline([Call(script, keys, args)]))[0]

    async def pipeline(self, commands: Sequence[Command]) -> list[Any]:
        """Execute commands that do not depend on each other, and return their replies.

        Not a transaction: some may be done long before the others. Raises what ``run`` does.
        """
        replies: dict[int, Any] = {}
        left = list(range(len(commands)))
        wait_secs, waits = _FIRST_WAIT_SECS, False
        cancels = _cancels()
        try:
            while left:
                reason = await self._try([commands[place] for place in left], left, replies)
                left = [place for place in left if place not in replies]
                if _cancels() > cancels:
                    # The client waits with asyncio.wait_for, which before Python 3.12 answers
                    # instead of being cancelled where both come together.
                    raise asyncio.CancelledError
                if reason is None:
                    continue
                if not waits:
                    self._outage.begin(reason)
                    waits = True
                self._outage.reason = reason
                await asyncio.sleep(wait_secs * random.uniform(0.5, 1))
                wait_secs = min(2 * wait_secs, _LONGEST_WAIT_SECS)
        finally:
            if waits:
                self._outage.end(answered=not left)
        return [replies[place] for place in range(len(commands))]

    async def close(self) -> None:
        """Close the connections; closing twice does no harm."""
        if not self._closed:
            self._closed = True
            await self.client.aclose()

    async def _try(
        self, commands: Sequence[Command], places: Sequence[int], replies: dict[int, Any]
    ) -> str | None:
        """Note the replies that come; return what to wait for before the others are tried again."""
        if self._closed:
            raise ClosedError(f"the connection to Redis at {self.name} was closed")
        async with self._at_once:
            answers = await self._send([_written(command) for command in commands])
            unmet = [place for place, answer in enumerate(answers) if _is_unmet(answer)]
            if unmet:
                again = [_written(commands[place], unmet=True) for place in unmet]
                for place, answer in zip(unmet, await self._send(again), strict=True):
                    answers[place] = answer
        reasons = []
        for place, answer in zip(places, answers, strict=True):
            if isinstance(answer, Exception):
                reasons.append(self._reason(answer))
            else:
                replies[place] = answer
        if reasons and any(map(is_of_topology, answers)):
            await self._look_around()
        return reasons[0] if reasons else None

    async def _send(self, commands: Sequence[tuple[Argument, ...]]) -> list[Any]:
        try:
            if len(commands) == 1:
                return [await self.client.execute_command(*commands[0])]
            pipeline = self.client.pipeline(transaction=False)
            for command in commands:
                pipeline.execute_command(*command)
            return list(await pipeline.execute(raise_on_error=False))
        except FAILURES as error:
            return [error] * len(commands)

    def _reason(self, error: Exception) -> str:
        reason = why_to_wait(error)
        if reason is None:
            raise ServerError(f"Redis at {self.name}: {error}") from error
        return reason

    async def _look_around(self) -> None:
        """Ask a cluster which node has which slots now."""
        if not isinstance(self.client, RedisCluster):
            return
        try:
            await self.client.nodes_manager.initialize()
        except FAILURES:
            return  # The next try finds out.


def _cancels() -> int:
    """How often the task of now was cancelled."""
    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0


def _is_unmet(answer: Any) -> bool:
    return isinstance(answer, NoScriptError)


def _written(command: Command, *, unmet: bool = False) -> tuple[Argument, ...]:
    if isinstance(command, Call):
        return command.with_source() if unmet else command.by_digest()
    return command
