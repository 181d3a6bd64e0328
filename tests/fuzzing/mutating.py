"""Change seeds blindly, where atheris is not installed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

_MAX_CHANGES = 6
_LENGTHS = (0, 1, 4, 60, 2000)
_PIECES = (
    b"\0", b"\xff", b"\x80", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"<", b">", b"&", b'"',
    b"\n", b"\r\n\r\n", b"-1", b"9" * 40, b"\xed\xa0\x80", b"\xef\xbb\xbf", b"%00", b"[", b"]" * 99,
)  # fmt: skip


def mutated(seeds: Sequence[bytes], random: Random, max_bytes: int) -> bytes:
    """Return a seed after one to six changes, each at a place of its own."""
    data = random.choice(seeds)
    for _ in range(random.randint(1, _MAX_CHANGES)):
        start = random.randint(0, len(data))
        end = min(len(data), start + random.choice(_LENGTHS))
        data = data[:start] + _in_place_of(data[start:end], seeds, random) + data[end:]
    return data[:max_bytes]


def _in_place_of(part: bytes, seeds: Sequence[bytes], random: Random) -> bytes:
    change = random.choice(("flip", "cut", "splice", "piece", "repeat", "noise"))
    if change == "flip":
        mask = random.randint(1, 255)
        return bytes(byte ^ mask for byte in part)
    if change == "splice":
        other = random.choice(seeds)
        start = random.randint(0, len(other))
        return other[start : start + random.choice(_LENGTHS)]
    if change == "piece":
        return part + random.choice(_PIECES)
    if change == "repeat":
        return part * random.randint(2, 20)
    return random.randbytes(len(part)) if change == "noise" else b""
