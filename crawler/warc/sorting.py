"""Sorting of more lines than memory holds."""

from __future__ import annotations

import heapq
import tempfile
from contextlib import ExitStack
from itertools import islice
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

RUN_LINES = 100_000
"""Lines that are sorted in memory at a time; of CDXJ, some 60 MB."""

MOST_RUNS = 200
"""Files that are merged at a time."""


def sorted_lines(
    lines: Iterable[bytes], folder: Path, run_lines: int = RUN_LINES
) -> Iterator[bytes]:
    """Sort lines by their bytes, each of them once.

    Args:
        lines: With their line feeds.
        folder: Where temporary files go; they have no name, and vanish with the process.
        run_lines: Held in memory at a time.
    """
    rest = iter(lines)
    with ExitStack() as stack:
        runs: list[IO[bytes]] = []
        while run := sorted(islice(rest, run_lines)):
            runs.append(_written(run, folder, stack))
            if len(runs) == MOST_RUNS:
                runs = [_written(heapq.merge(*runs), folder, stack)]
        before = None
        for line in heapq.merge(*runs):
            if line != before:
                yield line
            before = line


def _written(lines: Iterable[bytes], folder: Path, stack: ExitStack) -> IO[bytes]:
    file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - the stack closes it
    stack.enter_context(file)
    file.writelines(lines)
    file.seek(0)
    return file
