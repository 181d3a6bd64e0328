"""Run a worker: read the pages that come over a socket, one at a time, until it is closed.

Started by ``process.py``, which passes the descriptor of the socket and its own process id.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import logging
import os
import resource
import signal
import socket
import sys
from typing import TYPE_CHECKING

from lxml.etree import XPathError

from crawler.reading.documents.document_text import UnreadableError
from crawler.reading.metadata.metadata_record import PageHeaders
from crawler.reading.page_reading import PageReader
from crawler.reading.protocol import (
    OUT_OF_MEMORY,
    ReadingOptions,
    extracted_to_wire,
    frame,
    parsed_to_wire,
    receive,
)
from crawler.reading.reading import ReadingTask

if TYPE_CHECKING:
    from crawler.reading.protocol import Message
    from crawler.reading.reading import Parsed

_PR_SET_PDEATHSIG = 1
_M_MXFAST = 1
# Ctrl-C and a stop of the whole service reach all processes; the parent ends its workers itself,
# after they have finished the pages that it still wants to store.
_PARENTS_BUSINESS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STATM = "/proc/self/statm"

# A living parent ends a worker before that.
_GRACE_SECS = 30
_COLLECTED_OBJECTS = 50_000
# trafilatura walks trees by recursion, and libxml2 makes them up to 2,048 deep.
_DEPTH = 10_000


def leave_signals_to_parent() -> None:
    for number in _PARENTS_BUSINESS:
        signal.signal(number, signal.SIG_IGN)


def die_with(parent_pid: int) -> None:
    """End this process when its parent dies, whatever the cause.

    On Linux it ends at once when the thread that started it dies. Elsewhere the worker ends when it
    next reads from the socket, or by ``Deadman`` within a page.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:  # it died before the line above
        os._exit(1)


def limit_memory(limit_mb: int) -> None:
    """Make allocations beyond a limit fail.

    ``RLIMIT_DATA`` counts written memory, heap and anonymous mappings alike (Linux 4.7), whereas
    ``RLIMIT_AS`` counts libraries and reservations too. macOS knows neither.
    """
    limit = limit_mb << 20
    hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
    if hard != resource.RLIM_INFINITY:
        limit = min(limit, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    # A crash is an answer here; a gigabyte of core dump for each would fill the disk.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Deadman:
    """Lets the kernel end a worker that is busy too long, in case its parent is gone.

    Not on Linux, where ``die_with`` is enough: a worker that was stopped for a while would die of
    it as well. A timer of CPU time would not do, since Linux measures that in ticks from then on.
    """

    def __init__(self, secs: float) -> None:
        self._secs = 0 if sys.platform == "linux" else int(secs) + 1

    def __enter__(self) -> None:
        signal.alarm(self._secs)

    def __exit__(self, *_: object) -> None:
        signal.alarm(0)


class Weariness:
    """Tells when a worker has read many pages and its memory has grown."""

    def __init__(self, pages: int, growth_mb: int) -> None:
        self._pages = pages
        self._growth_bytes = growth_mb << 20
        self._read = 0
        self._first_bytes = resident_bytes()

    def is_tired(self) -> bool:
        """Count a page, and return whether the worker should be replaced after it."""
        self._read += 1
        if self._read % self._pages:
            return False
        return resident_bytes() - self._first_bytes > self._growth_bytes


def resident_bytes() -> int:
    """Return the memory of this process in bytes: the present one on Linux, else the peak."""
    try:
        with open(_STATM, encoding="ascii") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak << 10


def spare_collector() -> None:
    """Let the garbage collector pass over what was imported, and look rarely at what is made.

    A page is made of tens of thousands of objects that reference counts free. To look for cycles
    among them after each 700 costs 3 % of a page.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_COLLECTED_OBJECTS)


def spare_allocator() -> None:
    """Let glibc join freed pieces of memory at once, so that a page lies in one piece.

    It would keep small ones apart, and go through tens of thousands of them when the tree of a page
    has been freed: a tenth of the time that libxml2 takes.
    """
    with contextlib.suppress(AttributeError, OSError):  # no other C library has it
        ctypes.CDLL(None).mallopt(_M_MXFAST, 0)


def main() -> None:
    leave_signals_to_parent()
    die_with(int(sys.argv[2]))
    logging.disable(logging.CRITICAL)
    sys.setrecursionlimit(_DEPTH)
    connection = socket.socket(fileno=int(sys.argv[1]))
    try:
        _Server(connection).serve()
    except MemoryError:
        # Any other way to end needs memory.
        os._exit(OUT_OF_MEMORY)
    except ConnectionError:
        return  # the parent has gone, or has given this worker up


class _Server:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def serve(self) -> None:
        first = receive(self._connection)
        if first is None:
            return
        options = ReadingOptions(**first[0][1])
        limit_memory(options.memory_limit_mb)
        self._reader = PageReader(options)
        self._deadman = Deadman(options.timeout_secs + _GRACE_SECS)
        self._weariness = Weariness(options.recycle_pages, options.recycle_growth_mb)
        spare_collector()
        spare_allocator()
        self._send(("ready",))
        while (received := receive(self._connection)) is not None:
            message, body = received
            task = ReadingTask(*message[1:])
            self._read(task._replace(body=body, headers=PageHeaders(*task.headers)))

    def _read(self, job: ReadingTask) -> None:
        try:
            with self._deadman:
                parsed = self._parse(job)
            self._send(parsed_to_wire(parsed))
            if job.links_only:
                return
            answer = receive(self._connection)
            if answer is not None and answer[0][0] == "go":
                with self._deadman:
                    extracted = self._reader.extract()
                self._send(extracted_to_wire(extracted, tired=self._weariness.is_tired()))
        except UnreadableError as error:
            self._send(("textless", str(error.why), error.words))
        except XPathError as error:
            # With tested expressions and whole trees the only cause is that no memory is left.
            raise MemoryError from error
        except (MemoryError, ConnectionError):
            raise
        except Exception as error:  # one page's trouble is not the next one's
            self._send(("failed", f"{type(error).__name__}: {str(error)[:500]}"))
        finally:
            self._reader.forget()

    def _parse(self, job: ReadingTask) -> Parsed:
        parsed = self._reader.parse(job)
        if job.links_only:
            return parsed
        try:
            return self._reader.see(parsed)
        except Exception:
            # The links at least must not be lost, and freeing the tree makes room for them.
            self._reader.forget()
            self._send(parsed_to_wire(parsed))
            raise

    def _send(self, message: Message) -> None:
        self._connection.sendall(frame(message))
