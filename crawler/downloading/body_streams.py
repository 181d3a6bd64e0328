"""Decompress the streams of HTTP piece by piece, with bounded output, behind one interface."""

from __future__ import annotations

import sys
import zlib
from typing import TYPE_CHECKING, Any, Protocol

import brotli  # type: ignore[import-untyped]
import zstandard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GZIP_MAGIC = b"\x1f\x8b"
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"

# Errors of a decoder that met damage, also undocumented ones: zlib.error, brotli.error,
# ZstdError, and MemoryError for a window that cannot be had.
_DAMAGE = (zlib.error, brotli.error, zstandard.ZstdError, MemoryError)
# RFC 9659: the window of a zstd stream in HTTP fits in 8 MiB.
_ZSTD_WINDOW_BYTES = 2**23


class CompressedStream(Protocol):
    """One compressed stream, from its start to its end.

    Attributes:
        piece_bytes: Bytes that may be fed at a time.
        damage: Description of the damage, None without any.
    """

    piece_bytes: int
    damage: str | None

    @property
    def is_over(self) -> bool:
        """Whether the end of the stream was reached."""

    @property
    def rest(self) -> int:
        """Number of bytes of the last piece after the end of the stream."""

    def feed(self, piece: bytes, room: int) -> bytes:
        """Decompress a piece to little more than ``room`` bytes; output beyond that is lost."""


class ZlibStream:
    """A gzip or zlib stream."""

    piece_bytes = 2**14

    def __init__(self, wbits: int) -> None:
        self._stream = zlib.decompressobj(wbits)
        self.damage: str | None = None

    @property
    def is_over(self) -> bool:
        """See ``CompressedStream``."""
        return self._stream.eof

    @property
    def rest(self) -> int:
        """See ``CompressedStream``."""
        return len(self._stream.unused_data)

    def feed(self, piece: bytes, room: int) -> bytes:
        """See ``CompressedStream``."""
        before = self._stream.copy()
        try:
            return self._stream.decompress(piece, room)
        except zlib.error as error:
            # It withholds the output before the damage unless it is fed byte by byte.
            self.damage = str(error)
            return b"".join(_up_to_damage(before, piece))[:room]


def _up_to_damage(stream: Any, piece: bytes) -> Iterator[bytes]:
    try:
        for at in range(len(piece)):
            yield stream.decompress(piece[at : at + 1])
    except zlib.error:
        return


class ZstdStream:
    """A zstd stream; a frame that wants a larger window than browsers give is damaged."""

    # A block of four bytes opens to 128 KiB, and there is no way to ask for less of it.
    piece_bytes = 2**9

    def __init__(self) -> None:
        opener = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
        self._stream = opener.decompressobj()
        self.damage: str | None = None

    @property
    def is_over(self) -> bool:
        """See ``CompressedStream``."""
        return self._stream.eof

    @property
    def rest(self) -> int:
        """See ``CompressedStream``."""
        return len(self._stream.unused_data)

    def feed(self, piece: bytes, room: int) -> bytes:
        """See ``CompressedStream``."""
        try:
            return self._stream.decompress(piece)
        except _DAMAGE as error:
            self.damage = str(error)
            return b""


class BrotliStream:
    """A brotli stream.

    The decoder takes bytes after the end for damage, and withholds the last piece then. A piece
    that failed is decompressed once more, byte by byte, to find the end of the stream: at most
    twice the work, since that happens once.
    """

    piece_bytes = 2**14

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()
        self._fed: list[bytes] = []
        self.rest = 0
        self.damage: str | None = None

    @property
    def is_over(self) -> bool:
        """See ``CompressedStream``."""
        return self.damage is None and bool(self._stream.is_finished())

    def feed(self, piece: bytes, room: int) -> bytes:
        """See ``CompressedStream``."""
        try:
            opened = _process(self._stream, piece, room)
        except _DAMAGE:
            return self._to_the_end(piece, room)
        self._fed.append(piece)
        return opened

    def _to_the_end(self, piece: bytes, room: int) -> bytes:
        """Decompress a piece in which the stream ends or is damaged, up to that place."""
        self._stream = brotli.Decompressor()
        opened = bytearray()
        try:
            for earlier in self._fed:
                _process(self._stream, earlier, sys.maxsize)  # as much as it was the first time
            for at in range(len(piece)):
                opened += _process(self._stream, piece[at : at + 1], room - len(opened))
                self.rest = len(piece) - at - 1
                if self.is_over or len(opened) >= room:
                    break
        except _DAMAGE as error:
            self.damage = str(error)
        return bytes(opened)


def _process(stream: Any, piece: bytes, room: int) -> bytes:
    opened: bytes = stream.process(piece, output_buffer_limit=room)
    while len(opened) < room and not stream.can_accept_more_data():
        opened += stream.process(b"", output_buffer_limit=room - len(opened))
    return opened


OPENERS: dict[str, tuple[Callable[[], CompressedStream], bytes | None]] = {
    "gzip": (lambda: ZlibStream(31), GZIP_MAGIC),
    "x-gzip": (lambda: ZlibStream(31), GZIP_MAGIC),
    "deflate": (lambda: ZlibStream(15), None),
    "br": (BrotliStream, None),
    "zstd": (ZstdStream, ZSTD_MAGIC),
}
"""Map each coding to a factory of its stream and to the magic bytes of a further stream.

The magic is None where no further stream may follow.
"""


def raw_deflate() -> CompressedStream:
    """Return a deflate stream without the header of zlib, as some servers send it."""
    return ZlibStream(-15)
