"""Decompress one stream of gzip, deflate, brotli or zstd, piece by piece and up to its damage."""

from __future__ import annotations

import re
import zlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import brotli  # type: ignore[import-untyped]
import zstandard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GZIP_MAGIC = b"\x1f\x8b"
_GZIP_MEMBER = re.compile(GZIP_MAGIC)
# Of a frame, or of one that is skipped: pzstd writes such a one before each of 8 MB.
_ZSTD_MEMBER = re.compile(rb"\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18")

# Errors of a decoder that met damage, also undocumented ones: zlib.error, brotli.error,
# ZstdError, and MemoryError for a window that cannot be had.
_DAMAGE = (zlib.error, brotli.error, zstandard.ZstdError, MemoryError)
# RFC 9659: the window of a zstd stream in HTTP fits in 8 MiB.
_ZSTD_WINDOW_BYTES = 2**23
# A few bytes of brotli may open to a gigabyte, which comes in such steps.
STEP_BYTES = 2**20
# Of a longer brotli stream with more bytes after its end, the last piece is lost.
_MAX_REPEATED_BYTES = 2**25


class CompressedStream(ABC):
    """One compressed stream, from its start to its end.

    Attributes:
        piece_bytes: Bytes that may be fed at a time.
        has_more: Whether more of the pieces so far can be had, by feeding nothing.
        damage: Description of the damage, None without any.
    """

    piece_bytes = 2**14

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.has_more = False
        self.damage: str | None = None

    @property
    def is_over(self) -> bool:
        return bool(self._stream.eof)

    @property
    def rest(self) -> int:
        """Number of bytes of the last piece after the end of the stream."""
        return len(self._stream.unused_data)

    @abstractmethod
    def feed(self, piece: bytes, room: int) -> bytes:
        """Decompress a piece to little more than ``room`` bytes; output beyond that is lost."""


class ZlibStream(CompressedStream):
    """A gzip, zlib or deflate stream."""

    def feed(self, piece: bytes, room: int) -> bytes:
        before = self._stream.copy()
        try:
            return bytes(self._stream.decompress(piece, room))
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


class ZstdStream(CompressedStream):
    """A zstd stream; a frame that wants a larger window than browsers give is damaged."""

    # A block of four bytes opens to 128 KiB, and there is no way to ask for less of it.
    piece_bytes = 2**9

    def feed(self, piece: bytes, room: int) -> bytes:
        try:
            return bytes(self._stream.decompress(piece))
        except _DAMAGE as error:
            self.damage = str(error)
            return b""


class BrotliStream(CompressedStream):
    """A brotli stream.

    The decoder takes bytes after the end for damage, and withholds the last piece then. A piece
    that failed is decompressed once more, byte by byte, to find the end of the stream: at most
    twice the work, since that happens once.
    """

    rest = 0

    def __init__(self) -> None:
        super().__init__(brotli.Decompressor())
        self._fed: list[bytes] = []
        self._fed_bytes = 0
        self._piece = b""
        self._opened_bytes = 0

    @property
    def is_over(self) -> bool:
        return self.damage is None and bool(self._stream.is_finished())

    def feed(self, piece: bytes, room: int) -> bytes:
        if piece:
            self._begin(piece)
        max_bytes = min(room, STEP_BYTES)
        try:
            opened = bytes(self._stream.process(piece, output_buffer_limit=max_bytes))
        except _DAMAGE as error:
            self.has_more = False
            if self._fed_bytes <= _MAX_REPEATED_BYTES:
                return self._to_the_end(room)
            self.damage = str(error)
            return b""
        self.has_more = _has_more(self._stream, opened, max_bytes)
        self._opened_bytes += len(opened)
        return opened

    def _begin(self, piece: bytes) -> None:
        self._fed_bytes += len(self._piece)
        if self._fed_bytes <= _MAX_REPEATED_BYTES:
            self._fed.append(self._piece)
        else:
            self._fed.clear()
        self._piece, self._opened_bytes = piece, 0

    def _to_the_end(self, room: int) -> bytes:
        """Decompress what is left of a piece in which the stream ends or is damaged."""
        self._stream = brotli.Decompressor()
        opened = bytearray()
        skipped = self._opened_bytes
        try:
            for earlier in self._fed:
                for _ in _steps(self._stream, earlier):
                    pass
            for at in range(len(self._piece)):
                for step in _steps(self._stream, self._piece[at : at + 1]):
                    opened += step[skipped:]
                    skipped = max(skipped - len(step), 0)
                    if len(opened) >= room:
                        return bytes(opened)
                if self.is_over:
                    break
        except _DAMAGE as error:
            self.damage = str(error)
        return bytes(opened)


def _steps(stream: Any, piece: bytes) -> Iterator[bytes]:
    has_more = True
    while has_more:
        opened = bytes(stream.process(piece, output_buffer_limit=STEP_BYTES))
        yield opened
        piece, has_more = b"", _has_more(stream, opened, STEP_BYTES)


def _has_more(stream: Any, opened: bytes, max_bytes: int) -> bool:
    """Return whether a decoder holds output back; it may have taken all of its input then."""
    is_full = len(opened) >= max_bytes and not stream.is_finished()
    return is_full or not stream.can_accept_more_data()


def _zstd_stream() -> CompressedStream:
    opener = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
    return ZstdStream(opener.decompressobj())


OPENERS: dict[str, tuple[Callable[[], CompressedStream], re.Pattern[bytes] | None]] = {
    "gzip": (lambda: ZlibStream(zlib.decompressobj(31)), _GZIP_MEMBER),
    "x-gzip": (lambda: ZlibStream(zlib.decompressobj(31)), _GZIP_MEMBER),
    "deflate": (lambda: ZlibStream(zlib.decompressobj(15)), None),
    "br": (BrotliStream, None),
    "zstd": (_zstd_stream, _ZSTD_MEMBER),
}
"""Map each coding to a factory of its stream and to the first bytes of a further stream.

They are None where no further stream may follow.
"""
