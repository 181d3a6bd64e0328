"""Make a part of a URL's path a name for every file system, with distinct names for distinct parts.

It is written as the URL has it, with readable escapes decoded. A character that no name may hold
stays, or becomes, an escape as in a URL: since a percent sign itself is always one, nothing is lost
by that. An escaped unreserved character (``%2E``) never comes out of a URL, so those are ours to
use.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import unquote_to_bytes

import xxhash

from crawler.mirror.endings import ending_of

#: Maximum length in UTF-8; file systems take 255, and a suffix (``.part``) has room.
SEGMENT_MAX_BYTES = 200
_DIGEST_DIGITS = 8

_FORBIDDEN = frozenset('"*/:<>?\\|')  # NTFS and FAT
# Escaping one of these characters makes another URL (RFC 3986, 2.2).
_RESERVED = frozenset("!$&'()+,;=@%")
# Invisible characters that str.isprintable() calls printable.
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# Runs of escapes; characters that may need one; and a percent sign that begins none.
_TO_SPELL = re.compile(r"(?:%[0-9A-Fa-f]{2})+|[^A-Za-z0-9._~ !$&'()+,;=@\[\]^`{}#%-]+|%", re.DOTALL)
# Parts that are wrong only in one position: a hidden file; an ending that Windows drops; devices,
# which it opens whatever the ending; and "~" before digits, our suffix or a short name (8.3).
_ODD = re.compile(
    r"""^[. ] | [. ]\Z
    | ^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin|conout|clock)(?=\$?[ ]*(?:\.|\Z))
    | ~(?=(?:[0-9a-f]{8}|[0-9]{1,6})(?:\.|\Z))""",
    re.IGNORECASE | re.VERBOSE | re.ASCII | re.DOTALL,
)


def readable(text: str) -> str:
    """Decode the readable escapes of a part of a URL, and escape forbidden characters."""
    return _TO_SPELL.sub(_spell, text)


def portable(name: str) -> str:
    """Escape the character that gives a readable name another meaning on some system."""
    return _ODD.sub(_escape_last, name)


def digest(text: str) -> str:
    """Hash a text to eight hexadecimal digits: the first of xxh3-64 of its UTF-8."""
    return xxhash.xxh3_64_hexdigest(text.encode("utf-8", "surrogatepass"))[:_DIGEST_DIGITS]


def with_digest(name: str, digits: str, max_bytes: int = SEGMENT_MAX_BYTES) -> str:
    """Insert ``~DIGITS`` before the ending of a name, and cut the stem so that all of it fits."""
    ending = ending_of(name)
    stem = name[: len(name) - len(ending)]
    room = max_bytes - len(ending) - 1 - len(digits)
    return f"{stem.encode()[:room].decode(errors='ignore')}~{digits}{ending}"


def fitted(name: str, source: str) -> str:
    """Cut a name that is too long; the digest of its source distinguishes it from similar ones."""
    if len(name) * 4 <= SEGMENT_MAX_BYTES or len(name.encode()) <= SEGMENT_MAX_BYTES:
        return name
    return with_digest(name, digest(source))


def _spell(found: re.Match[str]) -> str:
    text = found[0]
    if text == "%":
        return "%25"
    if text[0] != "%":
        return "".join(map(_raw_character, text))
    decoded = unquote_to_bytes(text).decode("utf-8", "surrogateescape")
    return "".join(map(_decoded_character, decoded))


def _raw_character(character: str) -> str:
    return character if _is_portable(character) else _escape(character)


@lru_cache(4096)
def _decoded_character(character: str) -> str:
    if character in _RESERVED or not _is_portable(character):
        return _escape(character)
    return character


def _is_portable(character: str) -> bool:
    # Not printable: controls, formats (bidi, zero width), spaces but " ", surrogates, unassigned.
    return character.isprintable() and character not in _FORBIDDEN and character not in _INVISIBLE


def _escape(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogateescape"))


def _escape_last(found: re.Match[str]) -> str:
    return found[0][:-1] + _escape(found[0][-1])
