"""Start, query, kill and reap a worker process; charge it the time that it takes for a page."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import tempfile
from collections import deque
from typing import TYPE_CHECKING, BinaryIO, cast

from crawler.reading.protocol import OUT_OF_MEMORY, Inbox, Message, frame, options_to_wire
from neardup.installing import start_python

if TYPE_CHECKING:
    from crawler.reading.protocol import ReadingOptions

_MAX_SLICE_SECS = 1.0
_SLICES = 20
"""Divide an allowance into at least this many slices."""

_SLEEPING = frozenset("SD")
"""States of a process that waits for an event, such as a lock or a disk."""

# Places in /proc/PID/stat behind the name: the state, CPU ticks of the program and of the kernel.
_STATE, _USER, _SYSTEM = 0, 11, 12

# What imports make stays: to collect garbage after each 700 objects took a tenth of a start.
_WORK = (
    "import gc; gc.set_threshold(50_000); from crawler.reading.reading_worker import main; main()"
)
_START_SECS = 60.0
_REAP_INTERVAL_SECS = 0.005
# Seconds for a worker to end after its socket was closed, so that its own exit status is seen.
_PATIENCE_SECS = 2.0
_LAST_WORDS_BYTES = 4096
# Each worker is one of many processes; threads of its own would compete with the other workers.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Allowance:
    """The time that a worker may use for one page.

    It is charged in slices. A slice costs the CPU time that the worker used in it. A sleeping
    worker uses none, so a slice that ends in sleep costs the elapsed time, and at most the length
    of a slice: one that ends late ends late because the parent or the machine was stopped, or the
    parent's event loop was busy. A worker that is stopped, or waits for a processor, is charged
    only its CPU time.

    Without ``/proc``, every slice costs as one that ends in sleep.

    Args:
        pid: Process id of the worker.
        secs: Time that it may use.
    """

    def __init__(self, pid: int, secs: float) -> None:
        self._pid = pid
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
        found = _look_at(self._pid)
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


class WorkerProcess:
    """One worker, whose owner sends one request at a time, and calls ``end`` at last.

    Not asyncio's subprocesses: they want a child watcher, which Twisted's loop does not set up.

    Raises:
        OSError: No process, descriptor or memory is left for it.
    """

    def __init__(self, options: ReadingOptions) -> None:
        self._options = options
        self._too_slow: str | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._said: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115  # closed in end()
        ours, theirs = socket.socketpair()
        self._channel = _Channel(ours)
        with theirs:
            self._process = _start(theirs.fileno(), self._said)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    async def connect(self) -> None:
        """Wait until the worker has completed its imports.

        Raises:
            WorkerDiedError: It ended before, or took a minute.
        """
        await self._channel.open()
        self.tell(options_to_wire(self._options))
        allowance = Allowance(self.pid, _START_SECS)
        await self.hear(allowance, f"not ready in {_START_SECS:g} s")

    async def hear(self, allowance: Allowance, too_slow: str) -> Message:
        """Wait for a message.

        Args:
            allowance: Time of this worker; the worker is killed when it is spent.
            too_slow: Message of the error in that case.

        Raises:
            WorkerDiedError: It died by itself.
            WorkerKilledError: It was killed.
            WorkerTimeoutError: It used up its time.
        """
        allowance.begin(asyncio.get_running_loop().time())
        self._await_slice(allowance, too_slow)
        try:
            return await self._channel.receive()
        except ConnectionError:
            raise await self._death() from None
        finally:
            if self._timer is not None:
                self._timer.cancel()

    def tell(self, message: Message, payload: bytes = b"") -> None:
        self._channel.send(frame(message, len(payload)), payload)

    def kill(self) -> None:
        """End the worker at once; it holds no data that could be lost."""
        if self.is_alive:
            self._process.kill()

    async def end(self) -> None:
        """Kill and reap the worker, and free its resources."""
        self.kill()
        await self._channel.close()
        await self._status()
        self._said.close()

    def _await_slice(self, allowance: Allowance, too_slow: str) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(allowance.slice_secs, self._charge, allowance, too_slow)

    def _charge(self, allowance: Allowance, too_slow: str) -> None:
        # A loop that was busy handles the answer and the timer in the same turn.
        if self._channel.has_message:
            return
        allowance.charge(asyncio.get_running_loop().time())
        if allowance.is_spent:
            self._too_slow = too_slow
            self.kill()
        else:
            self._await_slice(allowance, too_slow)

    async def _status(self) -> int:
        """Reap the worker, which is about to end, and kill it if it does not."""
        loop = asyncio.get_running_loop()
        patience = loop.time() + _PATIENCE_SECS
        while (status := self._process.poll()) is None:
            if loop.time() > patience:
                self.kill()
            await asyncio.sleep(_REAP_INTERVAL_SECS)
        return status

    async def _death(self) -> WorkerDiedError:
        status = await self._status()
        if self._too_slow is not None:
            return WorkerTimeoutError(self._too_slow)
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


class _Channel(asyncio.Protocol):
    """The socket to a worker.

    A plain protocol costs the parent half of asyncio's streams.
    """

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._transport: asyncio.Transport | None = None
        self._inbox = Inbox()
        self._messages: deque[Message] = deque()
        self._waiter: asyncio.Future[None] | None = None
        self._lost = False

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

    @property
    def has_message(self) -> bool:
        return bool(self._messages)

    async def receive(self) -> Message:
        """Wait for the next message.

        Raises:
            ConnectionError: The worker is gone.
        """
        while not self._messages:
            if self._lost:
                raise ConnectionResetError
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        return self._messages.popleft()

    def send(self, *parts: bytes) -> None:
        """Send the parts as one: a call of the system for each would wake the worker for each."""
        if self._transport is not None and not self._lost:
            self._transport.writelines(parts)

    async def open(self) -> None:
        await asyncio.get_running_loop().create_connection(lambda: self, sock=self._connection)

    async def close(self) -> None:
        if self._transport is None:
            self._connection.close()
            return
        self._transport.abort()
        while not self._lost:
            await asyncio.sleep(0)


def _start(descriptor: int, said: BinaryIO) -> subprocess.Popen[bytes]:
    return start_python(
        ["-c", _WORK, str(descriptor), str(os.getpid())],
        pass_fds=[descriptor],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=said,
        env=ONE_THREAD,
        # Outside the terminal's foreground group Ctrl-C reaches only the parent.
        process_group=0,
    )
