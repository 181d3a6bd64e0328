"""Small bodies that open to large ones, or that take long to open."""

from __future__ import annotations

import gzip
import zlib
from functools import cache
from typing import TYPE_CHECKING

import brotli  # type: ignore[import-untyped]
import zstandard

from tests.sites.prose import document

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sites.exchange import Exchange

ZEROS = 2**25
_MEMBERS = 300_000


def _packed(coding: str, pack: Callable[[], bytes]) -> Callable[[Exchange], None]:
    once = cache(pack)
    return lambda exchange: exchange.answer(once(), headers={"Content-Encoding": coding})


def _wide() -> bytes:
    """A frame whose window takes 128 MB."""
    wide = zstandard.ZstdCompressionParameters(window_log=27)
    packer = zstandard.ZstdCompressor(compression_params=wide).compressobj()
    return packer.compress(document("A wide window") * 99) + packer.flush()


def _cut(packed: bytes) -> bytes:
    return packed[: len(packed) * 2 // 3]


def _deflated() -> bytes:
    return zlib.compress(document("Deflated, and cut", "".join(f"<p>{n}</p>" for n in range(999))))


ATTACKS: dict[str, Callable[[Exchange], None]] = {
    "/bomb/gzip": _packed("gzip", lambda: gzip.compress(bytes(ZEROS))),
    "/bomb/deflate": _packed("deflate", lambda: zlib.compress(bytes(ZEROS))),
    "/bomb/br": _packed("br", lambda: brotli.compress(bytes(ZEROS), quality=3)),
    "/bomb/zstd": _packed("zstd", lambda: zstandard.compress(bytes(ZEROS))),
    "/bomb/within": _packed("gzip, gzip", lambda: gzip.compress(gzip.compress(bytes(ZEROS)))),
    "/bomb/layers": _packed(
        ", ".join(["gzip"] * 2000), lambda: gzip.compress(document("Packed 2,000 times"))
    ),
    "/bomb/members": _packed("gzip", lambda: gzip.compress(b"") * _MEMBERS),
    "/bomb/zstd-window": _packed("zstd", _wide),
    "/packed/br": _packed("br", lambda: brotli.compress(document("Brotli"))),
    "/packed/zstd": _packed("zstd", lambda: zstandard.compress(document("Zstandard"))),
    "/packed/unknown": _packed("utf-8", lambda: document("Encoded as UTF-8")),
    "/packed/deflate-cut": _packed("deflate", lambda: _cut(_deflated())),
    "/packed/br-noise": _packed("br", lambda: b"no brotli"),
    "/packed/zstd-noise": _packed("zstd", lambda: b"no zstd"),
}
