"""Limit the memory and the life of a worker process."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys

#: Exit status of a worker without memory left.
OUT_OF_MEMORY = 77

_PR_SET_PDEATHSIG = 1
# Ctrl-C and a stop of the whole service reach all processes; the parent ends its workers itself,
# after they have finished the pages that it still wants to store.
_PARENTS_BUSINESS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_STATM = "/proc/self/statm"


def leave_signals_to_parent() -> None:
    """Ignore the signals of a terminal or a service manager."""
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
