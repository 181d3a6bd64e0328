"""Tell whether an answer is HTML, by type or first bytes, and name what comes in place of pages."""

from __future__ import annotations

import re
from enum import StrEnum


class WallKind(StrEnum):
    """The kind of a page that a host shows in place of the one that was requested."""

    CAPTCHA = "captcha"
    NOT_FOUND = "not_found"
    LOGIN = "login"
    CONSENT = "consent"
    JAVASCRIPT = "javascript"
    SHELL = "shell"
    """No wall: a page that its scripts fill (``crawler.reading.wall_signs``)."""


_HTML_TYPES = frozenset({"text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml"})
# Types that servers declare for files of unknown content.
VAGUE_TYPES = frozenset(
    {
        "",
        "*/*",
        "application/octet-stream",
        "application/unknown",
        "binary/octet-stream",
        "text/plain",
        "unknown/unknown",
    }
)
_XML_TYPES = frozenset({"application/xml", "text/xml"})
_ENDLESS_TYPES = frozenset({"text/event-stream", "multipart/x-mixed-replace"})
_MEDIA = frozenset({"audio", "font", "image", "video"})
SNIFFED_BYTES = 2048
"""Inspect this many bytes at the beginning of a body."""

# The tags by which https://mimesniff.spec.whatwg.org/#identifying-a-resource-with-an-unknown-mime-type
# knows HTML, after a byte order mark, white space and comments.
# Possessive: a text of a hundred comments has 2**100 ways to be read otherwise, and this
# is asked in the main process.
_HTML_START = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s++|<!--(?:(?!-->).)*+-->|<\?xml[^>]*+>)*+"
    rb"<(?:!doctype\s+html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p"
    rb"|meta|frameset)[\s/>]",
    re.IGNORECASE | re.DOTALL,
)
_XHTML = re.compile(rb"<html[\s>]|http://www\.w3\.org/1999/xhtml", re.IGNORECASE)
_WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")

# The first bytes of files that servers now and then declare as text/html, and what they are: first
# those that a server may send by a script under any name, with their media types.
_TYPED = {
    b"%PDF-": ("a PDF document", "application/pdf"),
    b"\x89PNG\r\n": ("a PNG image", "image/png"),
    b"GIF8": ("a GIF image", "image/gif"),
    b"\xff\xd8\xff": ("a JPEG image", "image/jpeg"),
}
_FOREIGN = {magic: name for magic, (name, _) in _TYPED.items()} | {
    b"PK\x03\x04": "a ZIP archive",
    b"\x1f\x8b": "gzip data",
    b"\x7fELF": "a program",
    b"Rar!\x1a": "a RAR archive",
    b"7z\xbc\xaf": "a 7z archive",
    b"wOFF": "a font",
    b"wOF2": "a font",
    b"OggS": "an Ogg file",
    b"ID3": "an MP3 file",
    b"BZh9": "bzip2 data",
    b"\xfd7zXZ": "xz data",
}

_SCRIPT = re.compile(rb"<script", re.IGNORECASE)


def why_not_html(content_type: str | None, body: bytes) -> str | None:
    """Return in a few words why a body is no HTML, or None for a page.

    An empty body without a foreign type is an empty page.
    """
    declared = _declared(content_type)
    start = body[:SNIFFED_BYTES]
    for magic, name in _FOREIGN.items():
        if start.startswith(magic):
            return name
    if declared in _HTML_TYPES or (not body and declared in VAGUE_TYPES):
        return None
    if declared in _XML_TYPES:
        return None if _XHTML.search(start) else declared
    if declared in VAGUE_TYPES:
        return None if _looks_like_html(start) else declared or "no HTML, and of no declared type"
    return declared


def type_of_foreign(body: bytes) -> str:
    """Return the media type of a body that is no HTML though it is declared so, "" if unknown."""
    return next((kind for magic, (_, kind) in _TYPED.items() if body.startswith(magic)), "")


def _declared(content_type: str | None) -> str:
    """Return the media type that is declared, "" for a word that names none."""
    declared = (content_type or "").partition(";")[0].strip().lower()
    return declared if "/" in declared else ""


def is_told_by_type(content_type: str) -> bool:
    """Return whether the declared type alone is enough for ``why_not_html``."""
    declared = _declared(content_type)
    return declared not in VAGUE_TYPES | _XML_TYPES


def is_endless(content_type: str) -> bool:
    """Return whether an answer of the declared type goes on until it is ended from outside."""
    return _declared(content_type) in _ENDLESS_TYPES


def is_media(content_type: str) -> bool:
    """Return whether the declared type is of sounds, pictures or letters, never of text."""
    return _declared(content_type).partition("/")[0] in _MEDIA


def _looks_like_html(start: bytes) -> bool:
    if start.startswith(_WIDE_MARKS):
        start = start[2:].replace(b"\0", b"")
    return _HTML_START.match(start) is not None


def has_script(body: bytes) -> bool:
    """Return whether a page may have scripts. Complexity: O(length)."""
    return _SCRIPT.search(body) is not None
