"""What a process and all that descend from it take, whoever waits for them.

The system tells a parent what its children took when it waits for them. A browser's processes are
children of a driver that is killed, of a zygote, or of nobody, and are missing in that sum.
"""

from __future__ import annotations

import ctypes
import os
import resource
import time
from threading import Event, Thread
from typing import Self

import psutil

INTERVAL_SECS = 0.2
PATIENCE_SECS = 10.0
"""Seconds for which orphans may go on after the process that was measured."""

BROWSER = ("chrom", "headless", "node")
"""Beginnings of the names of a browser's processes and of its driver's."""

_PR_SET_CHILD_SUBREAPER = 36


class ProcessWatch:
    """Watches all processes that are started while the ``with`` block lasts, on Linux.

    This process becomes the parent of orphans, so that none gets out of sight. The block starts the
    process that is measured and waits for it; at its end orphans are waited for too.

    Args:
        with_memory: Also ask for memory, which costs the system much more than CPU does.

    Attributes:
        cpu_secs: Seconds of CPU of all processes: those that were told at their end, or if it is
            more those that were seen while they ran, since some are waited for by nobody.
        peak_bytes: The most memory that they held together; shared pages count once.
    """

    def __init__(self, *, with_memory: bool = False) -> None:
        self.cpu_secs = 0.0
        self.peak_bytes = 0
        self._with_memory = with_memory
        self._seen: dict[tuple[int, float], tuple[str, float]] = {}
        self._is_over = Event()
        self._thread = Thread(target=self._watch)

    def __enter__(self) -> Self:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._others = {process.pid for process in psutil.Process().children(recursive=True)}
        self._told_before = _told_secs()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._wait_for_orphans()
        self._is_over.set()
        self._thread.join()
        told = _told_secs() - self._told_before
        self.cpu_secs = max(told, sum(secs for _, secs in self._seen.values()))

    def secs_of(self, *names: str) -> float:
        """Return the CPU seconds of processes whose name begins so, as seen while they ran."""
        return sum(secs for name, secs in self._seen.values() if name.startswith(names))

    def _watch(self) -> None:
        while not self._is_over.wait(INTERVAL_SECS):
            processes = self._processes()
            for process in processes:
                self._look(process)
            if self._with_memory:
                self.peak_bytes = max(self.peak_bytes, sum(map(_bytes, processes)))

    def _processes(self) -> list[psutil.Process]:
        children = psutil.Process().children(recursive=True)
        return [process for process in children if process.pid not in self._others]

    def _look(self, process: psutil.Process) -> None:
        try:
            times = process.cpu_times()
            name = process.name()
        except psutil.Error:  # it has gone
            return
        self._seen[process.pid, process.create_time()] = name, times.user + times.system

    def _wait_for_orphans(self) -> None:
        until = time.monotonic() + PATIENCE_SECS
        while (left := self._processes()) and time.monotonic() < until:
            for process in left:
                try:
                    os.waitpid(process.pid, os.WNOHANG)
                except ChildProcessError:  # another one's child, or gone
                    continue
            self._is_over.wait(INTERVAL_SECS / 4)


def _told_secs() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _bytes(process: psutil.Process) -> int:
    """Return the proportional share of a process; 0 when it has gone."""
    try:
        return int(process.memory_full_info().pss)
    except psutil.Error:
        return 0
