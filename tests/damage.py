"""What may happen to a file: a full disk, a byte that turned, a writer that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from neardup.errors import IndexFileError
from tests.waiting import some_moment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from random import Random

PROJECT = Path(__file__).parents[1]


@contextmanager
def full_for(path: Path) -> Iterator[None]:
    """Let the system have no room for what is written to a new file."""
    system_open = os.open

    def opened(name: str | Path, flags: int, mode: int = 0o777, **options: int) -> int:
        if os.fspath(name) == os.fspath(path) and flags & os.O_CREAT:
            return system_open("/dev/full", os.O_WRONLY)
        return system_open(name, flags, mode, **options)

    with patch("os.open", opened):
        yield


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Let no file grow beyond a size, in bytes, as if the disk were full."""
    resource = pytest.importorskip("resource", reason="file sizes cannot be limited here")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def refuses_flipped_bytes(path: Path, load: Callable[[Path], object]) -> None:
    """Assert that each byte of a file that turned is an error with the file's name."""
    whole = path.read_bytes()
    for place in range(len(whole)):
        for mask in (0x01, 0x80, 0xFF):
            flipped = bytearray(whole)
            flipped[place] ^= mask
            path.write_bytes(flipped)
            with pytest.raises(IndexFileError) as caught:
                load(path)
            assert str(path) in str(caught.value)
    path.write_bytes(whole)


def refuses_other_lengths(path: Path, load: Callable[[Path], object], complaint: str) -> None:
    """Assert that a file cut at any byte is an error, and one of a byte more is complained of."""
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        with pytest.raises(IndexFileError):
            load(path)
    path.write_bytes(whole + b"\0")
    with pytest.raises(IndexFileError, match=complaint):
        load(path)


def run_until_it_kills_itself(program: str, *arguments: str | Path) -> None:
    """Let Python run a program that ends with a kill of itself."""
    done = subprocess.run(
        [sys.executable, "-c", program, *map(str, arguments)],
        env={"PYTHONPATH": ":".join([str(PROJECT), *sys.path])},
        check=False,
        timeout=60,
    )
    assert done.returncode == -signal.SIGKILL


def said_before_a_kill(words: list[str], chance: Random, max_secs: float) -> list[str]:
    """Let a Python process say a line, kill it at some moment after, and return its whole lines."""
    command = [sys.executable, *words]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        some_moment(chance, max_secs)
        process.send_signal(signal.SIGKILL)
        lines += process.stdout.readlines()
    assert process.returncode == -signal.SIGKILL
    # The last line may have been cut by the kill; what it said whole was promised.
    return [line for line in lines if line.endswith("\n")]
