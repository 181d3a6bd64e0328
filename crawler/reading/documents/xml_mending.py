"""Mend XML whose tags do not match, so that a parser reads on behind the fault.

libxml2 recovers from one end tag too many; after a second one it drops all that follows.
"""

from __future__ import annotations

import re
from collections import Counter

# Possessive, and no tag beyond the next "<": each character is looked at once or twice.
_TOKEN = re.compile(
    rb"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)|<\?.*?(?:\?>|\Z)|<![A-Za-z]"
    rb"|<(?P<end>/?)(?P<name>[A-Za-z_\x80-\xff][\w:.\x80-\xff-]*+)"
    rb"(?P<rest>(?:[^<>\"']++|\"[^<\"]*+\"|'[^<']*+')*+|[^<>]*+)>"
    rb"|<[^<>]*+\Z|<",
    re.DOTALL,
)

_ATTRIBUTES = re.compile(
    rb"(?:\s++[A-Za-z_:\x80-\xff][\w:.\x80-\xff-]*+\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'))*+\s*+/?"
)


def mended(xml: bytes) -> bytes:
    """Return XML whose tags match: stray end tags are left out, and missing ones written.

    A "<" that begins no tag becomes a reference, and a tag with faulty attributes loses them. The
    root ends with the text, wherever its end tag stands.

    Complexity: O(size).
    """
    parts: list[bytes] = []
    waiting: list[bytes] = []
    names = Counter[bytes]()
    place = 0
    for token in _TOKEN.finditer(xml):
        parts.append(xml[place : token.start()])
        place = token.end()
        name = token["name"]
        if name is None:
            parts.append(_untagged(token[0], is_last=place == len(xml)))
        elif not token["end"]:
            is_whole = _ATTRIBUTES.fullmatch(token["rest"])
            parts.append(token[0] if is_whole else _bare(name, token["rest"]))
            if not token["rest"].endswith(b"/"):
                waiting.append(name)
                names[name] += 1
        elif names[name] and waiting[0] != name:
            while (inner := waiting.pop()) != name:
                names[inner] -= 1
                parts.append(b"</" + inner + b">")
            names[name] -= 1
            parts.append(token[0])
    parts.append(xml[place:])
    parts += (b"</" + name + b">" for name in reversed(waiting))
    return b"".join(parts)


def _bare(name: bytes, rest: bytes) -> bytes:
    return b"<" + name + (b"/>" if rest.endswith(b"/") else b">")


def _untagged(token: bytes, *, is_last: bool) -> bytes:
    """Return what is no tag: closed where the text breaks off within it."""
    if token.startswith(b"<![CDATA["):
        return token if token.endswith(b"]]>") else token + b"]]>"
    if token.startswith((b"<!", b"<?")):
        is_whole = token.endswith((b"-->", b"?>")) or not token.startswith((b"<!--", b"<?"))
        return token if is_whole else b""
    return b"" if is_last else b"&#60;"
