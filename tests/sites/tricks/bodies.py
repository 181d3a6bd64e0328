"""Bodies that are damaged, mislabelled, enormous, or not pages at all."""

from __future__ import annotations

import json
import struct
import zlib
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING

from tests.sites.prose import document, prose

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.sites.exchange import Exchange

NEST_DEPTH = 10_000
HUGE_BYTES = 50 * 2**20
BOMB_BYTES = 2**30
FRENCH = "Été comme hiver, l'élève répète : « où êtes-vous passés, mes naïfs garçons ? » "

_BOMB_CHUNK_BYTES = 2**23


def _chunk(name: bytes, content: bytes) -> bytes:
    checksum = struct.pack(">I", zlib.crc32(name + content))
    return struct.pack(">I", len(content)) + name + content + checksum


def _pixel(shade: int) -> bytes:
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
        + _chunk(b"IDAT", zlib.compress(bytes((0, shade))))
        + _chunk(b"IEND", b"")
    )


# One grey pixel.
PNG = _pixel(0x80)
PDF = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< >>\n%%EOF\n"


def empty(exchange: Exchange) -> None:
    exchange.answer(b"")


def truncated(exchange: Exchange) -> None:
    """Half of the page that the length promises, then the end."""
    body = document("A page cut off in the middle")
    exchange.head(headers={"Content-Type": "text/html", "Content-Length": str(len(body))})
    exchange.wfile.write(body[: len(body) // 2])
    exchange.hang_up()


def truncated_gzip(exchange: Exchange) -> None:
    """A gzip stream that lacks its second half; the length is right."""
    packed = zlib.compressobj(wbits=31)
    stream = packed.compress(document("A stream cut off in the middle")) + packed.flush()
    exchange.answer(stream[: len(stream) // 2], headers={"Content-Encoding": "gzip"})


def _falsely(coding: str) -> Callable[[Exchange], None]:
    body, headers = document(f"Not {coding} at all"), {"Content-Encoding": coding}
    return lambda exchange: exchange.answer(body, headers=headers)


def _french(title: str) -> str:
    article = document(title).decode()
    return article.replace("</article>", f"<p>{FRENCH * 8}</p></article>")


def utf8_called_ascii(exchange: Exchange) -> None:
    exchange.answer(_french("Called ASCII").encode(), "text/html; charset=us-ascii")


def latin1_called_utf8(exchange: Exchange) -> None:
    page = _french("Called UTF-8").encode("iso-8859-1")
    exchange.answer(page, "text/html; charset=utf-8")


def unknown_charset(exchange: Exchange) -> None:
    exchange.answer(document("Unknown charset"), "text/html; charset=x-klingon")


def nested(exchange: Exchange) -> None:
    deep = "<div>" * NEST_DEPTH + prose("deep inside") + "</div>" * NEST_DEPTH
    exchange.answer(document("Nested deep", deep))


def nested_only(exchange: Exchange) -> None:
    """All of the text at the bottom of the nest, none of it outside."""
    deep = "<div>" * NEST_DEPTH + f"<p>{prose('only inside')}</p>" + "</div>" * NEST_DEPTH
    exchange.answer(f"<!DOCTYPE html><html><body>{deep}</body></html>".encode())


def huge(exchange: Exchange) -> None:
    """50 MB of paragraphs in one page."""
    lines = b"".join(f"<p>{prose(str(number), 90)}</p>\n".encode() for number in range(100))
    exchange.head(headers={"Content-Type": "text/html", "Content-Length": str(HUGE_BYTES)})
    for _ in range(HUGE_BYTES // len(lines)):
        exchange.wfile.write(lines)
    exchange.wfile.write(lines[: HUGE_BYTES % len(lines)])


@cache
def bomb() -> bytes:
    """A gzip stream of about a megabyte that opens into a gigabyte of zeros.

    After a full flush the compressor has no memory, so that equal pieces give equal bytes and
    one of them can stand for all.
    """
    piece = bytes(_BOMB_CHUNK_BYTES)
    packer = zlib.compressobj(9, wbits=-15)
    packed = packer.compress(piece) + packer.flush(zlib.Z_FULL_FLUSH)
    times = BOMB_BYTES // _BOMB_CHUNK_BYTES
    checksum = 0
    for zeros in repeat(piece, times):
        checksum = zlib.crc32(zeros, checksum)
    header = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    trailer = struct.pack("<II", checksum, BOMB_BYTES & 0xFFFFFFFF)
    return header + packed * times + packer.flush() + trailer


def gzip_bomb(exchange: Exchange) -> None:
    exchange.answer(bomb(), headers={"Content-Encoding": "gzip"})


def no_content_type(exchange: Exchange) -> None:
    body = document("A page without a type")
    exchange.head(headers={"Content-Length": str(len(body))})
    exchange.wfile.write(body)


def binary_called_html(exchange: Exchange) -> None:
    exchange.answer(_pixel(0x40))


def null_bytes(exchange: Exchange) -> None:
    exchange.answer(document("With null bytes").replace(b" ", b" \x00", 40))


def _file(content: bytes, content_type: str) -> Callable[[Exchange], None]:
    return lambda exchange: exchange.answer(content, content_type)


TRICKS: dict[str, Callable[[Exchange], None]] = {
    "/empty": empty,
    "/truncated": truncated,
    "/truncated-gzip": truncated_gzip,
    "/false-gzip": _falsely("gzip"),
    "/false-brotli": _falsely("br"),
    "/false-zstd": _falsely("ZSTD"),
    "/false-deflate": _falsely("deflate"),
    "/false-two": _falsely("gzip, br"),
    "/utf8-called-ascii": utf8_called_ascii,
    "/latin1-called-utf8": latin1_called_utf8,
    "/unknown-charset": unknown_charset,
    "/nested": nested,
    "/nested-only": nested_only,
    "/huge": huge,
    "/gzip-bomb": gzip_bomb,
    "/no-content-type": no_content_type,
    "/image": _file(PNG, "image/png"),
    "/paper": _file(PDF, "application/pdf"),
    "/data": _file(json.dumps({"prose": prose("data")}).encode(), "application/json"),
    "/plain-text": _file(prose("plain text").encode(), "text/plain; charset=utf-8"),
    "/binary-called-html": binary_called_html,
    "/null-bytes": null_bytes,
}
