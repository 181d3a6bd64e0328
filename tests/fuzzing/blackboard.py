"""Memory that a fuzzing process shares with the one that watches it: which input is read now."""

from __future__ import annotations

import mmap
import struct
import time
from typing import TYPE_CHECKING, NamedTuple, Self

if TYPE_CHECKING:
    from pathlib import Path

_HEAD = struct.Struct("<QdQ")


class Present(NamedTuple):
    """The state of a fuzzing process.

    Attributes:
        inputs: Number of inputs whose reading has begun.
        since: Clock at which the present one began; 0 between two of them.
        data: The present input, or the one before.
    """

    inputs: int
    since: float
    data: bytes


class Blackboard:
    """A file mapped into the memory of two processes.

    Args:
        path: The file, which is made where it is absent.
        max_bytes: Size of the largest input.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        size = _HEAD.size + max_bytes
        with path.open("a+b") as file:
            file.truncate(size)
            self._memory = mmap.mmap(file.fileno(), size)
        self._room = max_bytes

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._memory.close()

    def begin(self, data: bytes) -> None:
        """Note an input before it is read, and count it."""
        inputs = _HEAD.unpack_from(self._memory)[0] + 1
        kept = data[: self._room]
        self._memory[_HEAD.size : _HEAD.size + len(kept)] = kept
        _HEAD.pack_into(self._memory, 0, inputs, time.monotonic(), len(kept))

    def end(self) -> None:
        """Note that the input was read."""
        inputs, _, length = _HEAD.unpack_from(self._memory)
        _HEAD.pack_into(self._memory, 0, inputs, 0.0, length)

    def present(self) -> Present:
        """Return what the other process reads."""
        inputs, since, length = _HEAD.unpack_from(self._memory)
        return Present(inputs, since, self._memory[_HEAD.size : _HEAD.size + length])
