"""Start, query and kill a worker process; charge it the time that it takes for a page."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
from collections import deque
from typing import TYPE_CHECKING, BinaryIO, cast

from crawler.reading.protocol import OUT_OF_MEMORY, Inbox, Message, frame, options_to_wire
from neardup.forking import Forked, ForkServer

if TYPE_CHECKING:
    from crawler.reading.protocol import ReadingOptions

_MAX_SLICE_SECS = 1.0
_SLICES = 20
"""Divide an allowance into at least this many slices."""

_SLEEPING = frozenset("SD")
"""States of a process that waits for an event, such as a lock or a disk."""

# Places in /proc/PID/stat behind the name: the state, CPU ticks of the program and of the kernel.
_STATE, _USER, _SYSTEM = 0, 11, 12

_START_SECS = 60.0
_REAP_INTERVAL_SECS = 0.005
# Seconds for a worker to end after its socket was closed, so that its own exit status is seen.
_PATIENCE_SECS = 2.0
_LAST_WORDS_BYTES = 4096

# The one of this process, whose pools share it.
_SERVER = ForkServer("crawler.reading.reading_worker", "prepared")


class Allowance:
    """The time that a worker may use for one page.

    It is charged in slices. A slice costs the CPU time that the worker used in it. A sleeping
    worker uses none, so a slice that ends in sleep costs the elapsed time, and at most the length
    of a slice: one that ends late ends late because the parent or the machine was stopped, or the
    parent's event loop was busy. A worker that is stopped, or waits for a processor, is charged
    only its CPU time.

    Without ``/proc``, every slice costs as one that ends in sleep.

    Args:
        process: The process of the worker.
        secs: Time that it may use.
        too_slow: Message of the error where it used that up.
    """

    def __init__(self, process: Forked, secs: float, too_slow: str) -> None:
        self._process = process
        self.too_slow = too_slow
        self._left_secs = secs
        self._started = 0.0
        self._used_secs: float | None = None
        #: Seconds after which ``charge`` is to be called.
        self.slice_secs = min(_MAX_SLICE_SECS, secs / _SLICES)

    @property
    def is_spent(self) -> bool:
        return self._left_secs <= 0

    def begin(self, now: float) -> None:
        self._started = now

    def charge(self, now: float) -> None:
        """End a slice and begin the next one."""
        passed = min(now - self._started, self.slice_secs)
        self._started = now
        found = _look_at(self._process.pid)
        if found is None:
            self._left_secs -= passed
            return
        state, used = found
        # The CPU time of the first slice is unknown, and at most the elapsed time.
        cost = passed if self._used_secs is None else used - self._used_secs
        self._used_secs = used
        self._left_secs -= max(cost, passed) if state in _SLEEPING else cost


def _look_at(pid: int) -> tuple[str, float] | None:
    """Return the state and the CPU time of a process, or None if they are unknown."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            fields = stat.read().rpartition(")")[2].split()
    except OSError:
        return None
    ticks = int(fields[_USER]) + int(fields[_SYSTEM])
    return fields[_STATE], ticks / os.sysconf("SC_CLK_TCK")


class WorkerDiedError(Exception):
    """The worker has ended; the message says why, in words for the user."""


class WorkerKilledError(WorkerDiedError):
    """A foreign signal ended the worker: the page need not be to blame."""


class WorkerTimeoutError(WorkerDiedError):
    """The worker used up its time, and was killed for it."""


class WorkerProcess(asyncio.Protocol):
    """One worker, whose owner sends one request at a time, and calls ``end`` at last.

    A plain protocol for its socket costs the parent half of asyncio's streams.

    Raises:
        OSError: No process, descriptor or memory is left for it.
    """

    def __init__(self, options: ReadingOptions) -> None:
        self._options = options
        self._allowance: Allowance | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._said: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115  # closed in end()
        self._transport: asyncio.Transport | None = None
        self._inbox = Inbox()
        self._messages: deque[Message] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._lost = False
        self._connection, theirs = socket.socketpair()
        with theirs:
            self.process = _SERVER.fork(self._said.fileno(), theirs.fileno())

    async def connect(self) -> None:
        """Wait until the worker is ready.

        Raises:
            WorkerDiedError: It ended before, or took a minute.
        """
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self, sock=self._connection)
        self.tell(options_to_wire(self._options))
        await self.hear(Allowance(self.process, _START_SECS, f"not ready in {_START_SECS:g} s"))

    async def hear(self, allowance: Allowance) -> Message:
        """Wait for a message.

        Args:
            allowance: Time of this worker; the worker is killed when it is spent.

        Raises:
            WorkerDiedError: It died by itself.
            WorkerKilledError: It was killed.
            WorkerTimeoutError: It used up its time.
        """
        loop = asyncio.get_running_loop()
        allowance.begin(loop.time())
        self._allowance = allowance
        if self._timer is None:
            self._await_slice(allowance)
        while not self._messages:
            if self._lost:
                raise await self._death()
            self._waiter = loop.create_future()
            await self._waiter
        return self._messages.popleft()

    def tell(self, message: Message, payload: bytes = b"") -> None:
        if self._transport is not None and not self._lost:
            # As one: a call of the system for each part would wake the worker for each.
            self._transport.writelines((frame(message, len(payload)), payload))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._messages.extend(self._inbox.feed(data))
        if self._messages:
            self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def end(self) -> None:
        """Kill the worker, which holds no data that could be lost, and free its resources."""
        self.process.kill()
        if self._transport is None:
            self._connection.close()
        else:
            self._transport.abort()
            while not self._lost:
                await asyncio.sleep(0)
        await self._status()
        self._said.close()

    def _await_slice(self, allowance: Allowance) -> None:
        """Charge the worker after a slice if it is awaited then; one timer does for many pages."""
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(allowance.slice_secs, self._charge)

    def _charge(self) -> None:
        self._timer, allowance = None, self._allowance
        # A loop that was busy handles the answer and the timer in the same turn.
        is_awaited = self._waiter is not None and not self._waiter.done()
        if allowance is None or self._messages or not is_awaited:
            return
        allowance.charge(asyncio.get_running_loop().time())
        if allowance.is_spent:
            self.process.kill()
        else:
            self._await_slice(allowance)

    async def _status(self) -> int:
        """Wait for the worker, which is about to end, and kill it if it does not."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while (status := self.process.poll()) is None:
            if (waited := loop.time() - began) > _PATIENCE_SECS:
                self.process.kill(with_server=waited > _START_SECS)
            await asyncio.sleep(_REAP_INTERVAL_SECS)
        return status

    async def _death(self) -> WorkerDiedError:
        status = await self._status()
        if self._allowance is not None and self._allowance.is_spent:
            return WorkerTimeoutError(self._allowance.too_slow)
        if status == OUT_OF_MEMORY:
            limit_mb = self._options.memory_limit_mb
            return WorkerDiedError(f"ran out of memory (limit {limit_mb} MB)")
        if status < 0:
            return WorkerKilledError(f"worker died (signal {-status})")
        return WorkerDiedError(f"worker died (exit status {status}): {self._last_words()}")

    def _last_words(self) -> str:
        size = self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, size - _LAST_WORDS_BYTES))
        lines = self._said.read().decode("utf-8", "replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
