"""Start workers as pages wait for them, lease them, and replace each one that is lost."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from crawler.reading.process import WorkerDiedError, WorkerProcess

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from crawler.reading.protocol import ReadingOptions

# Number of failed starts in a row after which the pool gives up.
_MAX_FAILURES = 3
_CLOSING_SECS = 10.0
_CLOSING_INTERVAL_SECS = 0.005


class ReadingError(Exception):
    """Root of the errors that reading raises on purpose; a fault of a page is in its reading."""


class PoolClosedError(ReadingError):
    """A page was not read because the pool was closed, or not started."""


class WorkerStartError(ReadingError):
    """Worker processes end before they are ready."""


class WorkerPool:
    """Hands out workers, first come, first served.

    One worker is started at first, which is enough for small sites and for those that are asked
    slowly. Others follow one by one, up to the size of the pool, while callers wait.
    """

    def __init__(self, options: ReadingOptions) -> None:
        self._options, self.size = options, options.size
        self._workers: set[WorkerProcess] = set()  # those that are being started too
        self._idle: list[WorkerProcess] = []
        self._waiting: deque[asyncio.Future[WorkerProcess]] = deque()
        self._errands: set[asyncio.Task[None]] = set()
        self._failures = 0
        self._broken: Exception | None = PoolClosedError("the pool was not started")
        self._leased: set[WorkerProcess] = set()

    def change(self, **options: Any) -> None:
        """Read with other options from now on; call it before the workers are started."""
        self._options = replace(self._options, **options)
        self.size = self._options.size

    @property
    def busy(self) -> int:
        return len(self._leased)

    @property
    def busy_pids(self) -> tuple[int, ...]:
        return tuple(sorted(worker.process.pid for worker in self._leased))

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of all workers; of one that is being started, that of its server."""
        return tuple(sorted(worker.process.pid for worker in self._workers))

    @property
    def is_closed(self) -> bool:
        return isinstance(self._broken, PoolClosedError)

    async def start(self) -> None:
        """Start the first worker, and do not wait for it."""
        self._broken = None
        self._spawn()

    async def lease(self) -> WorkerProcess:
        """Wait for a free worker, to be given back by ``give_back`` or ``replace``.

        Raises:
            PoolClosedError: The pool is closed.
            WorkerStartError: Workers do not start.
        """
        while self._idle:
            worker = self._idle.pop()
            self._leased.add(worker)
            if worker.process.poll() is None:
                return worker
            self.replace(worker)
        if self._broken is not None:
            # No other could be started in its place, and a waiting caller would never wake.
            raise type(self._broken)(*self._broken.args)
        waiter: asyncio.Future[WorkerProcess] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        self._grow()
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self.give_back(waiter.result())
            raise

    def give_back(self, worker: WorkerProcess) -> None:
        self._leased.discard(worker)
        if self._broken is None:
            self._offer(worker)
        else:
            self._run(worker.end())

    def replace(self, worker: WorkerProcess) -> None:
        """Return a worker that is lost or must end: it is killed, and another one is started."""
        self._leased.discard(worker)
        self._workers.discard(worker)
        self._run(worker.end())
        if self._broken is None:
            self._spawn()

    async def close(self) -> None:
        """End all workers; a caller that has or awaits one gets an error."""
        self._break(PoolClosedError("the pool is closed"))
        for worker in self._workers:
            worker.process.kill()
        while self._idle:
            self._run(self._idle.pop().end())
        loop = asyncio.get_running_loop()
        patience = loop.time() + _CLOSING_SECS
        # The end of a leased or starting worker is awaited by the task that sees it die.
        while (self._leased or self._errands) and loop.time() < patience:
            await asyncio.sleep(_CLOSING_INTERVAL_SECS)
        self._workers.clear()

    def _spawn(self) -> None:
        try:
            worker = WorkerProcess(self._options)
        except OSError as error:
            self._count_failure(str(error))
            return
        self._workers.add(worker)
        self._run(self._connect(worker))

    async def _connect(self, worker: WorkerProcess) -> None:
        try:
            await worker.connect()
        except WorkerDiedError as died:
            self._workers.discard(worker)
            await worker.end()
            self._count_failure(str(died))
            return
        self._failures = 0
        if self._broken is None:
            self._offer(worker)
        else:
            await worker.end()

    def _count_failure(self, cause: str) -> None:
        if self._broken is not None:
            return
        if self._workers:
            return  # they go on alone, and another one is started while pages wait
        self._failures += 1
        if self._failures >= _MAX_FAILURES:
            self._break(WorkerStartError(f"reading workers do not start: {cause}"))
        else:
            self._spawn()

    def _offer(self, worker: WorkerProcess) -> None:
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                self._leased.add(worker)
                waiter.set_result(worker)
                self._grow()
                return
        self._idle.append(worker)

    def _grow(self) -> None:
        """Start another worker if all are busy, and one caller or more waits."""
        if self._waiting and len(self._leased) == len(self._workers) < self.size:
            self._spawn()

    def _break(self, error: Exception) -> None:
        self._broken = error
        while self._waiting:
            waiter = self._waiting.popleft()
            if not waiter.done():
                waiter.set_exception(error)

    def _run(self, errand: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(errand)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)
