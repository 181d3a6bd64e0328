"""How long has a worker had a page? Its own time counts, not the clock of its parent."""

from __future__ import annotations

import os

_MAX_SLICE_SECS = 1.0
_SLICES = 20
"""An allowance has at least this many slices."""

_SLEEPING = frozenset("SD")
"""States of a process that waits for something, such as a lock or a disk."""

# Places in /proc/PID/stat behind the name: the state, CPU ticks of the program and of the kernel.
_STATE, _USER, _SYSTEM = 0, 11, 12


class Allowance:
    """The time that a worker may use for one page.

    It is charged in slices. A slice costs the CPU time that the worker used in it. A worker that
    sleeps uses none, so a slice that ends in sleep costs the time that passed, and no more than
    the length of a slice: one that ends late ends late because the parent or the machine was
    stopped, or the parent's event loop was busy. A worker that is stopped, or waits for a
    processor, is charged what it used.

    Where there is no ``/proc``, every slice costs as one that ends in sleep.

    Args:
        pid: The worker.
        secs: What it may use.
    """

    def __init__(self, pid: int, secs: float) -> None:
        self._pid = pid
        self._left_secs = secs
        self._started = 0.0
        self._used_secs: float | None = None
        #: After so many seconds ``charge`` is to be called.
        self.slice_secs = min(_MAX_SLICE_SECS, secs / _SLICES)

    @property
    def is_spent(self) -> bool:
        """Return whether nothing is left."""
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
        # What was used before the first slice ended is not known, and at most what passed.
        cost = passed if self._used_secs is None else used - self._used_secs
        self._used_secs = used
        self._left_secs -= max(cost, passed) if state in _SLEEPING else cost


def _look_at(pid: int) -> tuple[str, float] | None:
    """Return the state of a process and the CPU time that it used; None where that is not told."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            fields = stat.read().rpartition(")")[2].split()
    except OSError:
        return None
    ticks = int(fields[_USER]) + int(fields[_SYSTEM])
    return fields[_STATE], ticks / os.sysconf("SC_CLK_TCK")
