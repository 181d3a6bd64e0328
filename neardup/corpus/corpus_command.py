"""``python -m neardup INPUT OUT``: a corpus into tables, on all cores of this machine."""

import os
import re
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from neardup.batch.corpus_task import input_options_of
from neardup.batch.input_files import find_files
from neardup.command_line.arguments import parameters_of
from neardup.errors import InputError
from neardup.installing import install_command

if TYPE_CHECKING:
    from neardup.corpus.single_run import Status

_SIZE = re.compile(r"([1-9][0-9]*)([mgt])b?", re.IGNORECASE)
_MIN_BYTES = 1 << 30
_SECS_BETWEEN_LINES = 30.0
_SECS_BETWEEN_DRAWINGS = 0.2


def run_corpus(options: Namespace) -> None:
    """Run the files of ``options.file`` through, into the folder ``options.folder``."""
    try:
        import pyarrow  # noqa: F401, PLC0415  (optional)
    except ImportError:
        raise InputError(f"tables need pyarrow: {install_command('parquet')}") from None
    from neardup.corpus.corpus_tables import RunFolder, outside_of  # noqa: PLC0415
    from neardup.corpus.single_run import SingleRun, SingleTask  # noqa: PLC0415

    found = find_files(options.file, options.format, options.prefix)
    files = outside_of(Path(options.folder), found)
    if not files:
        raise InputError(f"{options.file}: holds nothing but {options.folder}")
    task = SingleTask(
        options.file,
        files,
        parameters_of(options),
        input_options_of(options),
        None if options.against is None else Path(options.against),
        options.processes,
        _memory_bytes(options.memory),
    )
    began = time.monotonic()
    folder = RunFolder(Path(options.folder), overwrite=options.overwrite)
    with closing(folder), _shown() as shown:
        run = SingleRun(task, folder, shown)
        if run.is_continued:
            shown.say(f"goes on behind {run.documents:,} documents of an interrupted run")
        elif run.has_discarded:
            shown.say("begins anew: the interrupted run had other files or parameters")
        try:
            counts = run().counts
        except KeyboardInterrupt:
            shown.clear()
            shown.say("the same command goes on behind what was written")
            raise
    secs = time.monotonic() - began
    shown.say(
        f"{options.folder}: {counts['kept']:,} of {counts['documents']:,} kept, "
        f"{counts.get('text_duplicate', 0):,} equal, {counts.get('near_duplicate', 0):,} near, "
        f"in {secs:,.0f} s"
    )
    if counts["left_out"]:
        shown.say(f"left out: {counts['left_out']:,}; the table left_out says why")


def _memory_bytes(size: str | None) -> int:
    """Return what was asked for in bytes; otherwise three quarters of the machine's memory."""
    if size is None:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4 * 3
    match = _SIZE.fullmatch(size)
    if match is None:
        raise InputError(f"--memory takes a number and M, G or T, such as 8G, got {size}")
    found = int(match[1]) << {"m": 20, "g": 30, "t": 40}[match[2].lower()]
    if found < _MIN_BYTES:
        raise InputError(f"--memory must be at least 1G, got {size}")
    return found


class _Shown:
    """Says how far a run came: in a bar of a terminal, elsewhere by a line now and then."""

    def __init__(self) -> None:
        self._began = self._said_at = time.monotonic()
        self._first: Status | None = None

    def say(self, words: str) -> None:
        print(f"neardup: {words}", file=sys.stderr, flush=True)

    def __call__(self, status: "Status") -> None:
        now = time.monotonic()
        if self._first is None:
            # The speed is that behind the first batch, before which processes were started.
            self._first, self._began = status, now
        first = self._first
        is_seen = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        wait = _SECS_BETWEEN_DRAWINGS if is_seen else _SECS_BETWEEN_LINES
        if now - self._said_at < wait:
            return
        self._said_at = now
        secs = now - self._began
        line = f"{status.documents:,} documents, {status.kept:,} kept, {status.read_share:.0%}"
        if status.documents > first.documents:
            line += f", {(status.documents - first.documents) / secs:,.0f} a second"
        if status.read_share > first.read_share:
            speed = (status.read_share - first.read_share) / secs
            line += f", {_duration((1 - status.read_share) / speed)} left"
        if is_seen:
            print(f"\r\x1b[Kneardup: {line}", end="", file=sys.stderr, flush=True)
        else:
            self.say(line)

    def clear(self) -> None:
        """Leave the line of a terminal to what is said next."""
        if self._first is not None and sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


@contextmanager
def _shown() -> Iterator[_Shown]:
    shown = _Shown()
    try:
        yield shown
    finally:
        shown.clear()


def _duration(secs: float) -> str:
    if secs < 90:
        return f"{secs:.0f} s"
    return f"{secs / 60:.0f} min" if secs < 5400 else f"{secs / 3600:.1f} h"
