"""A Redis that may restart, be full or be gone for a while: its callers wait and go on."""

import asyncio
import logging
import random
import time
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, TypeAlias

from redis.asyncio import Redis, RedisCluster
from redis.asyncio.sentinel import SentinelConnectionPool
from redis.exceptions import (
    AskError,
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ClusterError,
    ConnectionError,  # noqa: A004  (as the library calls it)
    DataError,
    MovedError,
    NoScriptError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
    SlotNotCoveredError,
    TimeoutError,  # noqa: A004  (as the library calls it)
    TryAgainError,
)

from neardup.errors import ClosedError, ServerError
from neardup.storage.redis.commands import Argument, Call, LastingConnection, Script

# The client of a cluster closes connections under calls to other nodes when it finds one node gone:
# such a call meets a reader or a writer that is None.
_CUT_OFF = AttributeError
FAILURES = (RedisError, RedisClusterException, OSError, _CUT_OFF)
"""All errors of a client that concern its server."""

_REFUSED = (AuthenticationError, AuthorizationError)
_MOVING = (AskError, ClusterError, MovedError, SlotNotCoveredError, TryAgainError)
_REASONS: dict[type[Exception], str] = {
    BusyLoadingError: "it reads its files",
    OutOfMemoryError: "its memory is full (maxmemory)",
    ReadOnlyError: "it takes no writes (read only)",
    TimeoutError: "it does not answer",
    asyncio.TimeoutError: "it does not answer",
}
_CODES = ("BUSY ", "MISCONF ", "NOREPLICAS ", "MASTERDOWN ")
# A cluster whose nodes or slots cannot all be found now; its class stands for mistakes
# of the caller too.
_UNFOUND = ("cannot be connected", "not covered", "No targets were found")

_logger = logging.getLogger(__name__)

Client: TypeAlias = Redis | RedisCluster
Command: TypeAlias = tuple[Argument, ...] | Call
_UnsentCall: TypeAlias = tuple[Sequence[Command], asyncio.Future[list[Any]]]

_FIRST_WAIT_SECS = 0.1  # doubled until _MAX_WAIT_SECS
_MAX_WAIT_SECS = 5.0
_AT_ONCE = 64


def why_to_wait(error: BaseException) -> str | None:
    """Return in a few words what to wait for; None: this error stays."""
    if isinstance(error, _REFUSED):
        return None
    for kind, reason in _REASONS.items():
        if isinstance(error, kind):
            return reason
    said = _first_line(error)
    if isinstance(error, ConnectionError | OSError) or _is_cut_off(error):
        return f"no connection ({said})"
    if isinstance(error, _MOVING) or _is_unfound(error):
        return f"its cluster is not whole ({said})"
    return said if isinstance(error, ResponseError) and said.startswith(_CODES) else None


def is_of_topology(error: BaseException) -> bool:
    """Whether a cluster's slots may lie on other nodes now."""
    return isinstance(error, (ConnectionError, TimeoutError, OSError, *_MOVING))


def _is_cut_off(error: BaseException) -> bool:
    return isinstance(error, _CUT_OFF) and "'NoneType' object" in str(error)


def _is_unfound(error: BaseException) -> bool:
    return isinstance(error, RedisClusterException) and any(word in str(error) for word in _UNFOUND)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")


async def close_client(client: Client) -> None:
    """Close a client, with those that ask its sentinels if it has some."""
    await client.aclose()
    pool = getattr(client, "connection_pool", None)
    if isinstance(pool, SentinelConnectionPool):
        for sentinel in pool.sentinel_manager.sentinels:
            await sentinel.aclose()


class Outage:
    """Counts the calls that wait.

    Other calls may succeed meanwhile: a full server goes on reading. It is over when no call waits.

    Args:
        name: The name of the server, for the log.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._calls = 0
        self._began = 0.0
        self.reason: str | None = None
        """The reason why calls wait now; None where none does."""
        self.since: float | None = None
        """The time at which the first of them began to wait, in seconds as ``time.time`` counts."""

    def begin(self, reason: str) -> None:
        """Note that one more call waits; to be followed by one ``end``."""
        self._calls += 1
        if self._calls == 1:
            self.since, self._began = time.time(), time.monotonic()
            _logger.warning("Redis at %s: %s; waiting for it", self._name, reason)
        self.reason = reason

    def end(self, *, answered: bool) -> None:
        """Note that one call waits no more: it was answered, or given up."""
        self._calls -= 1
        if self._calls:
            return
        self.reason = self.since = None
        if answered:
            passed = time.monotonic() - self._began
            _logger.warning("Redis at %s answers again after %.0f s", self._name, passed)


class Server:
    """Commands that wait as long as the server does not take them, with backoff.

    A command may be executed twice: its reply can be lost after it was done. So each must do no
    harm when it is repeated. Cancelling a call ends its wait.

    Args:
        client: The client, made without retries of its own. ``close`` closes it.
        prefix: The prefix of all keys of its user.
        name: Host and port, for messages.
        warnings: The warnings about it for its user.
    """

    def __init__(
        self, client: Client, *, prefix: str = "", name: str = "", warnings: Sequence[str] = ()
    ) -> None:
        self.client = client
        self.prefix = prefix
        self.name = name
        self.warnings = tuple(warnings)
        self._connection = LastingConnection(client) if isinstance(client, Redis) else None
        self.outage = Outage(name)
        self._at_once = asyncio.Semaphore(_AT_ONCE)
        self._unsent: list[_UnsentCall] = []
        self._sending: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def is_cluster(self) -> bool:
        """Whether keys are spread over several servers."""
        return isinstance(self.client, RedisCluster)

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
                    self.outage.begin(reason)
                    waits = True
                self.outage.reason = reason
                await asyncio.sleep(wait_secs * random.uniform(0.5, 1))
                wait_secs = min(2 * wait_secs, _MAX_WAIT_SECS)
        finally:
            if waits:
                self.outage.end(answered=not left)
        return [replies[place] for place in range(len(commands))]

    async def close(self) -> None:
        """Close the connections; closing twice does no harm."""
        if not self._closed:
            self._closed = True
            if self._sending is not None:
                self._sending.cancel()
                await asyncio.wait([self._sending])
            await close_client(self.client)

    async def _try(
        self, commands: Sequence[Command], places: Sequence[int], replies: dict[int, Any]
    ) -> str | None:
        """Note the replies that come; return what to wait for before the others are tried again."""
        if self._closed:
            raise self._closed_error()
        answers = await self._joined(commands)
        reasons = []
        for place, answer, command in zip(places, answers, commands, strict=True):
            if isinstance(answer, Exception):
                reasons.append(self._reason(answer, command))
            else:
                replies[place] = answer
        if reasons and any(map(is_of_topology, answers)):
            await self._look_around()
        return reasons[0] if reasons else None

    def _closed_error(self) -> ClosedError:
        return ClosedError(f"the connection to Redis at {self.name} was closed")

    async def _joined(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands together with all others that wait until the last ones were answered.

        One round trip for many pages costs a client a fraction of one for each. On a cluster each
        caller has its own: a node that is gone holds up those alone who ask it.
        """
        if self.is_cluster:
            return await self._answered(commands)
        answer: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()
        self._unsent.append((commands, answer))
        if self._sending is None:
            self._sending = asyncio.create_task(self._send_all())
            self._sending.add_done_callback(self._end_sending)
        return await answer

    async def _send_all(self) -> None:
        """Send commands until none is left; those that waited may be cancelled meanwhile."""
        while calls := [call for call in self._unsent if not call[1].done()]:
            self._unsent.clear()
            try:
                await self._send_together(calls)
            except asyncio.CancelledError:
                _fail(calls, self._closed_error())
                raise
        self._unsent.clear()
        self._sending = None

    async def _send_together(self, calls: Sequence[_UnsentCall]) -> None:
        try:
            answers = iter(await self._answered([one for some, _ in calls for one in some]))
        except Exception as error:
            if len(calls) == 1:
                _fail(calls, error)
                return
            # One has an argument that cannot be written: the others do not fail with it.
            for call in calls:
                await self._send_together([call])
            return
        for some, answer in calls:
            own = list(islice(answers, len(some)))
            if not answer.done():
                answer.set_result(own)

    def _end_sending(self, sending: asyncio.Task[None]) -> None:
        """Fail the calls that came before a task was cancelled, perhaps before its first step."""
        if sending.cancelled():
            _fail(self._unsent, self._closed_error())
            self._unsent.clear()
            self._sending = None

    async def _answered(self, commands: Sequence[Command]) -> list[Any]:
        """Return replies or errors; a script that the server has not met is sent whole."""
        async with self._at_once:
            answers = await self._send([_written(command) for command in commands])
            unmet = [
                place for place, answer in enumerate(answers) if isinstance(answer, NoScriptError)
            ]
            if unmet:
                again = [_written(commands[place], unmet=True) for place in unmet]
                for place, answer in zip(unmet, await self._send(again), strict=True):
                    answers[place] = answer
        return answers

    async def _send(self, commands: Sequence[tuple[Argument, ...]]) -> list[Any]:
        try:
            if self._connection is not None:
                return await self._connection.send(commands)
            if len(commands) == 1:
                return [await self.client.execute_command(*commands[0])]
            pipeline = self.client.pipeline(transaction=False)
            for command in commands:
                pipeline.execute_command(*command)
            return list(await pipeline.execute(raise_on_error=False))
        except DataError:
            raise  # An argument that cannot be written; nothing was sent.
        except FAILURES as error:
            return [error] * len(commands)

    def _reason(self, error: Exception, command: Command) -> str:
        reason = why_to_wait(error)
        if reason is None:
            raise ServerError(f"Redis at {self.name}: {error}{_place(command)}") from error
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
    """Return how often the current task was cancelled."""
    task = asyncio.current_task()
    return task.cancelling() if task is not None else 0


def _fail(calls: Iterable[_UnsentCall], error: Exception) -> None:
    for _, answer in calls:
        if not answer.done():
            answer.set_exception(error)


def _place(command: Command) -> str:
    """Return the keys of a command for messages; empty where it has none."""
    keys = command.keys if isinstance(command, Call) else command[1:2]
    named = [key.decode(errors="replace") if isinstance(key, bytes) else str(key) for key in keys]
    return f" (at {', '.join(named)})" if named else ""


def _written(command: Command, *, unmet: bool = False) -> tuple[Argument, ...]:
    if isinstance(command, Call):
        return command.with_source() if unmet else command.by_digest()
    return command
