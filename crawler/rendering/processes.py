"""Find and measure the processes of a browser, which Playwright does not name."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_KB = 1024


def find_by_argument(argument: str) -> int | None:
    """Return the oldest process that was started with an argument; None without ``/proc``."""
    wanted = argument.encode()
    for pid in sorted(_pids()):
        if wanted in arguments(pid):
            return pid
    return None


def tree_of(pid: int) -> list[int]:
    """Return a process and all its descendants. Complexity: O(processes of the machine)."""
    children: dict[int, list[int]] = {}
    for each in _pids():
        parent = parent_of(each)
        if parent is not None:
            children.setdefault(parent, []).append(each)
    found = [pid]
    for each in found:
        found.extend(children.get(each, ()))
    return found


def parent_of(pid: int) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
        return int(text.rpartition(")")[2].split()[1])  # a name may hold anything
    return None


def memory_mb(pids: list[int]) -> float:
    """Return the memory of processes in megabytes; pages that they share count once."""
    return sum(map(_memory_bytes, pids)) / 1e6


def largest_renderer(pids: list[int]) -> tuple[int, float] | None:
    """Return the process of a page that has most memory, and its megabytes."""
    renderers = [pid for pid in pids if b"--type=renderer" in arguments(pid)]
    sizes = [(_resident_bytes(pid) / 1e6, pid) for pid in renderers]
    if not sizes:
        return None
    size_mb, pid = max(sizes)
    return pid, size_mb


def kill(pids: list[int]) -> None:
    """End processes at once; those that have ended already are passed over."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir(_PROC) if name.isdigit()]
    except OSError:  # another system than Linux
        return []


def arguments(pid: int) -> list[bytes]:
    """Return the arguments of a process; empty where it has ended."""
    with suppress(OSError):
        # The launcher of a process of a page joins its arguments with spaces.
        return (_PROC / str(pid) / "cmdline").read_bytes().replace(b" ", b"\0").split(b"\0")
    return []


def _memory_bytes(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * _KB
    return _resident_bytes(pid)


def _resident_bytes(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        pages = int((_PROC / str(pid) / "statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0
