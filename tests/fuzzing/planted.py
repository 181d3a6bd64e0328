"""Readers with planted faults, by which the test of the fuzzing itself sees that each is found."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from tests.fuzzing.fuzzing_process import MAX_GROWTH_MB
from tests.fuzzing.target import Target, together

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fuzzing.target import Read


class RefusedError(Exception):
    """The documented refusal of these readers."""


def _begin(_: Path) -> Read:
    def read(data: bytes) -> None:
        if b"raises" in data:
            raise ValueError("planted")
        while b"hangs" in data:
            pass
        if b"grows" in data:
            bytearray(b"x" * ((MAX_GROWTH_MB + 100) << 20))
        if b"crashes" in data:
            ctypes.string_at(0)
        raise RefusedError

    return read


def _target(name: str, *seeds: bytes, max_secs: float = 1) -> Target:
    return Target(name, lambda: seeds, _begin, (RefusedError,), max_bytes=64, max_secs=max_secs)


TARGETS = (
    _target("sound", b"a", b"bc"),
    _target("file.db-raising", b"a", b"it raises"),
    _target("hanging", b"a", b"it hangs"),
    _target("growing", b"a", b"it grows", max_secs=30),  # so much memory takes a second or more
    _target("crashing", b"a", b"it crashes"),
    together("several", _target("first", b"a"), _target("second", b"it raises")),
)
