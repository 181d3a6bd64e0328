"""Something measured in a fresh process, so that its memory is its own."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from multiprocessing.connection import Connection

Figures = dict[str, float]
Side = Any
"""A function of the module level with arguments that can be pickled; returns ``Figures``."""


def in_a_process(side: Side, *arguments: object) -> Figures:
    """Run a side in a fresh process and return what it measured."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(side, arguments, sender))
    process.start()
    sender.close()
    result: Figures = receiver.recv()
    process.join()
    return result


def _report(side: Side, arguments: tuple[object, ...], sender: Connection) -> None:
    sender.send(side(*arguments))


def peak_megabytes() -> float:
    """The most memory that the process ever held resident, shared libraries with it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def resident_megabytes() -> float:
    """Memory that the process holds resident now."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def disk_megabytes(folder: Path) -> float:
    """Size of everything in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


class Watch:
    """Adds up the time of what is measured: as the wall clock has it, and of the CPU."""

    def __init__(self) -> None:
        self.secs = self.cpu_secs = 0.0

    def spend(self, deed: Callable[[], None]) -> None:
        """Do something and count the time."""
        started, cpu_started = time.perf_counter(), time.process_time()
        deed()
        self.secs += time.perf_counter() - started
        self.cpu_secs += time.process_time() - cpu_started
