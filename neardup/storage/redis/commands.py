"""Commands for a server: scripts in Lua, and batches of commands over one connection that lasts."""

import asyncio
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any, NamedTuple, Self

from redis.asyncio import Redis
from redis.exceptions import ResponseError
from redis.utils import HIREDIS_AVAILABLE

if HIREDIS_AVAILABLE:
    from hiredis import pack_command

Argument = str | bytes | int | float


@dataclass(frozen=True, slots=True)
class Script:
    """A script, called by its digest once the server has met it.

    Attributes:
        source: The Lua.
        sha: Its SHA-1 in hexadecimal digits, the name that the server knows it by.
    """

    source: str = field(repr=False)
    sha: str

    @classmethod
    def read(cls, package: str, *names: str, head: Sequence[str] = ()) -> Self:
        """Return the script of files that lie in a package, one after the other.

        Args:
            package: The package, as in ``import``.
            names: The names of the files, with ``.lua``.
            head: Lines that stand before them.
        """
        folder = files(package)
        texts = (folder.joinpath(name).read_text(encoding="utf-8") for name in names)
        source = "\n".join((*head, *texts))
        return cls(source, hashlib.sha1(source.encode(), usedforsecurity=False).hexdigest())


class Call(NamedTuple):
    """A script with what it is told; on a cluster all its keys lie in one slot."""

    script: Script
    keys: Sequence[str | bytes]
    args: Sequence[Argument] = ()

    def by_digest(self) -> tuple[Argument, ...]:
        """Return the command for a server that has met the script."""
        return ("EVALSHA", self.script.sha, len(self.keys), *self.keys, *self.args)

    def with_source(self) -> tuple[Argument, ...]:
        """Return the command for any server; from then on it has met the script."""
        return ("EVAL", self.script.source, len(self.keys), *self.keys, *self.args)


def _packed(connection: Any, command: Sequence[Argument]) -> list[bytes]:
    """Let hiredis pack a command, as it does for the library's clients without asyncio."""
    if HIREDIS_AVAILABLE:
        # The library looks at each argument first, for kinds that are not sent here.
        with suppress(TypeError):
            return [pack_command(tuple(command))]  # type: ignore[arg-type]  # of any length
    packed: list[bytes] = connection.pack_command(*command)
    return packed


class LastingConnection:
    """Sends batches of commands one after the other, over one connection of a client's pool.

    The client takes a connection from its pool for each batch, and counts that for observers, which
    costs as much as the packing.

    Args:
        client: The client; closing it closes the connection.
    """

    def __init__(self, client: Redis) -> None:
        self._client = client
        # The library leaves most methods of a connection without types.
        self._connection: Any = None
        self._secs: float | None = None

    async def send(self, commands: Sequence[Sequence[Argument]]) -> list[Any]:
        """Execute commands; return their replies, and errors in the place of replies.

        Not to be called again before it has returned. A connection that fails, or a call that is
        cancelled, is followed by a new connection.

        Raises:
            DataError: An argument cannot be written; nothing was sent.
            RedisError, OSError: The server cannot be reached, or does not answer in time.
        """
        connection = await self._connected()
        packed = [part for command in commands for part in _packed(connection, command)]
        try:
            # The library has a limit, and a task, for each step.
            async with asyncio.timeout(self._secs) as limit:
                await connection.send_packed_command(packed)
                replies: list[Any] = []
                for command in commands:
                    if replies and self._secs is not None:
                        limit.reschedule(asyncio.get_running_loop().time() + self._secs)
                    replies.append(await self._reply(connection, command[0]))
                return replies
        except BaseException:
            await connection.disconnect(nowait=True)  # no reply is left for the next batch
            raise

    async def _connected(self) -> Any:
        """Return the connection, made again where it was lost; each step of that has its limit."""
        pool: Any = self._client.connection_pool
        connection = self._connection
        if connection is None:
            self._connection = connection = await pool.get_connection()
            self._secs = connection.socket_timeout
        else:
            connection.socket_timeout = self._secs
            try:
                if connection.should_reconnect():
                    await connection.disconnect()
                await pool.ensure_connection(connection)
            except BaseException:
                # It may have asked for something whose reply would be taken for another one.
                await connection.disconnect(nowait=True)
                raise
        connection.socket_timeout = None
        return connection

    async def _reply(self, connection: Any, name: Any) -> Any:
        try:
            return await self._client.parse_response(connection, name)
        except ResponseError as error:
            return error
