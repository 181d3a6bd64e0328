"""Limit the time that a worker has for a page, by its CPU time rather than the wall clock."""

from __future__ import annotations

import os

_MAX_SLICE_SECS = 1.0
_SLICES = 20
"""Divide an allowance into at least this many slices."""

_SLEEPING = frozenset("SD")
"""States of a process that waits for an event, such as a lock or a disk."""

# Places in /proc/PID/stat behind the name: the state, CPU ticks of the program and of the kernel.
_STATE, _USER, _SYSTEM = 0, 11, 12


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
        """Return whether no time is left."""
        return self._left_secs <= 0

    def begin(self, now: float) -> None:
        """Begin a slice."""
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
