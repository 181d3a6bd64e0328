"""Processes that read parts of files and compute what verdicts rest on, in the order of the parts.

Rows are handed over as packed Arrow buffers in files, which the page cache shares: a process works
ahead of the one that judges without holding its texts in memory.
"""

import os
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from neardup.batch.analysing import ROWS, batches_of
from neardup.batch.input_files import InputOptions, InputPart
from neardup.errors import InputError, NearDupError
from neardup.files.durable import new_file
from neardup.forking import Forked, ForkServer
from neardup.parameters import Parameters

_MAX_AHEAD_BYTES = 1 << 29
"""A process waits once it has written this many bytes of a part that were not yet judged.

None begins another part while all of them together have written as many for each of them.
"""

_ENDING_SECS = 5.0

_SERVER = ForkServer(__name__, "_prepared")


class Analysed(NamedTuple):
    """Rows of a part, or with None its end, when ``left_out`` counts what is no text to judge."""

    part: InputPart
    rows: Any
    left_out: dict[str, int]


@dataclass(frozen=True, slots=True)
class Analysis:
    """The settings of the processes.

    Attributes:
        folder: The folder of their files.
        options: The choice of what is read.
        parameters: The parameters that decide which texts are the same.
    """

    folder: Path
    options: InputOptions
    parameters: Parameters


@dataclass(slots=True)
class _Worker:
    """A process with its end of the pipe."""

    process: Forked
    pipe: Connection
    work: "_Work | None" = None


@dataclass(slots=True)
class _Work:
    """A part that a process has begun, with the rows that wait to be judged."""

    number: int
    part: InputPart
    worker: _Worker
    lengths: deque[int] = field(default_factory=deque)
    left_out: dict[str, int] | None = None
    file: Any = None


class AnalysisPool:
    """Reads and analyses parts in processes, and yields their rows in the order of the parts.

    Args:
        analysis: The settings of the processes.
        processes: Their number.
        after: Leave out the pages of the first part up to the one of this id.

    Files:
        ``folder/NUMBER.arrow``: analysed rows of a part; removed when all of them were yielded.
    """

    def __init__(self, analysis: Analysis, processes: int, after: int = -1) -> None:
        self._analysis = analysis
        self._folder = analysis.folder
        self._after = after
        self._waiting_bytes = 0
        self._works: deque[_Work] = deque()
        self._workers: list[_Worker] = []
        try:
            for _ in range(processes):
                ours, theirs = Pipe()
                with theirs:
                    self._workers.append(_Worker(_SERVER.fork(2, theirs.fileno()), ours))
        except OSError:
            self.close()
            raise

    def __call__(self, parts: Iterator[InputPart]) -> Iterator[Analysed]:
        """Yield the rows of the parts, and an end for each part.

        Raises:
            InputError: The files cannot be read at all, or a process ended.
        """
        try:
            yield from self._read(parts)
        except (EOFError, ConnectionError):
            why = "a process that reads and analyses texts was ended, perhaps for want of memory"
            raise InputError(why) from None

    def _read(self, parts: Iterator[InputPart]) -> Iterator[Analysed]:
        numbered = enumerate(parts)
        works, max_waiting_bytes = self._works, len(self._workers) * _MAX_AHEAD_BYTES
        while True:
            for worker in self._workers:
                # Behind a large packed file all others would lie analysed on disk.
                if worker.work is not None or self._waiting_bytes > max_waiting_bytes:
                    continue
                if (found := next(numbered, None)) is not None:
                    worker.work = _Work(*found, worker)
                    worker.pipe.send((self._analysis, *found, self._after))
                    works.append(worker.work)
            if not works:
                return
            while not works[0].lengths and works[0].left_out is None:
                self._receive()
            work = works[0]
            if work.lengths:
                yield Analysed(work.part, self._rows(work, work.lengths.popleft()), {})
                self._receive(0)
            elif work.left_out is not None:
                yield Analysed(work.part, None, work.left_out)
                works.popleft()
                if work.file is not None:
                    work.file.close()
                    self._path(work.number).unlink()

    def close(self) -> None:
        """End the processes, and close the files of parts that were not read to their end."""
        for work in self._works:
            if work.file is not None:
                work.file.close()
        for worker in self._workers:
            worker.pipe.close()
            worker.process.kill()
        for worker in self._workers:
            if worker.process.poll(_ENDING_SECS) is None:  # its server was stopped
                worker.process.kill(with_server=True)
                worker.process.poll(None)

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.arrow"

    def _rows(self, work: _Work, length: int) -> Any:
        if work.file is None:
            work.file = self._path(work.number).open("rb")
        rows = pa.ipc.read_record_batch(pa.py_buffer(work.file.read(length)), ROWS)
        self._waiting_bytes -= length
        if work.worker.work is work:
            # So that it goes on where it had written much.
            work.worker.pipe.send(length)
        return rows

    def _receive(self, timeout: float | None = None) -> None:
        busy = {worker.pipe: worker for worker in self._workers if worker.work is not None}
        for pipe in wait(list(busy), timeout):
            worker = busy[pipe]  # type: ignore[index]
            found = worker.pipe.recv()
            assert worker.work is not None
            if isinstance(found, int):
                worker.work.lengths.append(found)
                self._waiting_bytes += found
            elif isinstance(found, str):
                raise InputError(found)
            else:
                worker.work.left_out, worker.work = found, None


def _prepared() -> Callable[[int], int]:
    pa.set_cpu_count(1)
    pa.array([])  # imports pandas where there is one: here, and in none of the processes
    return _work


def _work(descriptor: int) -> int:
    """Analyse parts until none is asked for any more."""
    with Connection(descriptor) as pipe, suppress(EOFError, ConnectionError):
        while True:
            request = pipe.recv()
            if isinstance(request, int):
                continue  # what was judged of the part before
            try:
                pipe.send(_analyse_part(pipe, *request))
            except ConnectionError:
                break
            except (NearDupError, OSError) as error:
                pipe.send(str(error))
    return 0


def _analyse_part(
    pipe: Connection, analysis: Analysis, number: int, part: InputPart, after: int
) -> dict[str, int]:
    left_out: Counter[str] = Counter()
    ahead = 0
    with new_file(analysis.folder / f"{number}.arrow") as file:
        for rows in batches_of(part, analysis.options, analysis.parameters, left_out, after=after):
            buffer = rows.serialize()
            file.write(buffer)
            file.flush()
            pipe.send(buffer.size)
            ahead += buffer.size
            while ahead > _MAX_AHEAD_BYTES or pipe.poll():
                ahead -= pipe.recv()
    return dict(left_out)


def default_processes() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))
