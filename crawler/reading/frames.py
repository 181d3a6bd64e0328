"""Compress texts and contents by zstd, and decompress what may be damaged."""

from __future__ import annotations

import zstandard

MAX_BYTES = 1 << 30
"""The largest size of what a frame may hold, in bytes.

A flipped bit can make a frame say that it holds exabytes, for which no memory is there.
"""


def compress(data: bytes) -> bytes:
    """Return bytes as one frame with a checksum, by which any damage is found."""
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def decompress(packed: bytes) -> bytes:
    """Return what a frame holds.

    Raises:
        zstandard.ZstdError: It is damaged, or says that it holds more than ``MAX_BYTES``.
    """
    size = zstandard.get_frame_parameters(packed).content_size
    if size > MAX_BYTES:
        raise zstandard.ZstdError(f"at most {MAX_BYTES:,} bytes expected, got {size:,}")
    return zstandard.decompress(packed)
