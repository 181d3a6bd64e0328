"""Decompress bodies at a bounded cost, whatever their bytes are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.downloading.body_streams import GZIP_MAGIC, OPENERS, raw_deflate
from crawler.downloading.errors import DamagedBodyError, TooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from crawler.downloading.body_streams import CompressedStream

# One within the other. A gzip file can be made that opens to itself, as often as it is asked to.
_MAX_LAYERS = 4
# One after the other. bgzip makes one of each 64 KiB; a million empty ones are an attack.
_MAX_MEMBERS = 2_000
_NO_CODINGS = frozenset({"", "identity", "none", "binary", "7bit", "8bit", "chunked"})
_MARKUP_START = re.compile(rb"(?:\xef\xbb\xbf)?\s*<[!?a-z]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Opened:
    """A body without its compression.

    Attributes:
        body: The decompressed bytes.
        is_cut: Whether a stream breaks off, or is damaged from some place on.
        is_as_it_came: Whether the body was declared as gzip and is none.
    """

    body: bytes
    is_cut: bool = False
    is_as_it_came: bool = False


def codings(headers: Iterable[str]) -> list[str]:
    """Return the codings that ``Content-Encoding`` names, known or not, the first one first.

    Values that are no coding are left out: ``identity``, ``none``, ``utf-8``.
    """
    names = (name.strip().lower() for header in headers for name in header.split(","))
    return [name for name in names if name not in _NO_CODINGS and not _is_charset(name)]


def open_body(body: bytes, layers: Sequence[str], max_bytes: int) -> Opened:
    """Undo codings, the last one first.

    Args:
        body: The bytes as they came.
        layers: The codings, as ``codings`` returns them.
        max_bytes: Maximum size of each layer once decompressed.

    Raises:
        DamagedBodyError: Nothing of it can be decompressed, a coding is not known, or there are too
            many.
        TooLargeError: A layer decompresses to more than ``max_bytes``.

    Complexity: O(length + decompressed length), whatever the bytes are.
    """
    if len(layers) > _MAX_LAYERS:
        raise DamagedBodyError(f"compressed {len(layers)} times, one within the other")
    if body and list(layers) in (["gzip"], ["x-gzip"]) and not body.startswith(GZIP_MAGIC):
        return Opened(body, is_as_it_came=True)
    is_cut = False
    for coding in reversed(layers):
        if not body:
            break
        if coding not in OPENERS:
            # Some servers name what is no coding; browsers take the body as it is.
            if _MARKUP_START.match(body):
                continue
            raise DamagedBodyError(f"in a Content-Encoding that is not known: {coding[:40]}")
        opened = _open(body, coding, max_bytes)
        body, is_cut = opened.body, is_cut or opened.is_cut
    return Opened(body, is_cut)


def _is_charset(name: str) -> bool:
    """Return whether a name is that of a character encoding, which some servers put there."""
    try:
        b"a".decode(name)
    except (LookupError, ValueError):
        return False
    return True


def _open(body: bytes, coding: str, max_bytes: int) -> Opened:
    new, magic = OPENERS[coding]
    opened = bytearray()
    damage = None
    at = members = 0
    while at < len(body) and (not members or (magic and body.startswith(magic, at))):
        if members == _MAX_MEMBERS:
            raise DamagedBodyError(f"{coding} of more than {_MAX_MEMBERS:,} parts")
        stream = new()
        start, at = at, _run(stream, body, at, opened, max_bytes)
        if stream.damage and not opened and coding == "deflate":
            stream = raw_deflate()
            at = _run(stream, body, start, opened, max_bytes)
        members += 1
        damage = stream.damage or (None if stream.is_over else "it breaks off")
        if damage:
            break
    if damage and not opened:
        raise DamagedBodyError(f"damaged {coding}: {damage}")
    return Opened(bytes(opened), damage is not None)


def _run(stream: CompressedStream, body: bytes, at: int, opened: bytearray, max_bytes: int) -> int:
    """Feed a stream to its end or to damage; return the offset where it ended."""
    while at < len(body) and not (stream.is_over or stream.damage):
        piece = body[at : at + stream.piece_bytes]
        opened += stream.feed(piece, max_bytes - len(opened) + 1)
        if len(opened) > max_bytes:
            raise TooLargeError(f"larger than {max_bytes // 2**20} MB when decompressed")
        at += len(piece)
    return at - stream.rest
