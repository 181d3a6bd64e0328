"""Percent-encoding: one form for the spellings that no server can tell apart.

RFC 3986, section 6.2.2: an escaped unreserved character is the character, hexadecimal digits have
no case, and what may not stand in a URL is escaped. A reserved character and its escape differ.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_to_bytes

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_PATH_SAFE = "%/:@!$&'()*+,;=~"
# Browsers and the downloader escape the apostrophe in a query, and only there.
_QUERY_SAFE = "%/?:@!$&()*+,;=~"
_PATH_UNSAFE = re.compile(r"[^A-Za-z0-9%/:@!$&'()*+,;=~._-]")
_QUERY_UNSAFE = re.compile(r"[^A-Za-z0-9%/?:@!$&()*+,;=~._-]")
# An escape, with a stray "%" that it would complete if it were decoded: "%%36%31" must not become
# "%61", which a second pass would make "a".
_ESCAPE = re.compile(r"(%[0-9A-Fa-f]?)?%([0-9A-Fa-f]{2})")


def canonical_path(path: str) -> str:
    """Bring the percent-encoding of a path to its one form."""
    if _PATH_UNSAFE.search(path):
        path = quote(path, safe=_PATH_SAFE)
    return _ESCAPE.sub(_canonical_escape, path) if "%" in path else path


def canonical_query(query: str) -> str:
    """Bring the percent-encoding of a query to its one form; ``+`` and ``%20`` stay apart."""
    if _QUERY_UNSAFE.search(query):
        query = quote(query, safe=_QUERY_SAFE)
    return _ESCAPE.sub(_canonical_escape, query) if "%" in query else query


def canonical_userinfo(userinfo: str) -> str:
    """Escape a user name and a password in full: a client decodes both before it sends them."""
    user, colon, password = userinfo.partition(":")
    return f"{_escaped(user)}{colon}{_escaped(password)}"


def _canonical_escape(escape: re.Match[str]) -> str:
    stray, digits = escape.groups()
    character = chr(int(digits, 16))
    if stray is None and character in _UNRESERVED:
        return character
    return f"{stray or ''}%{digits.upper()}"


def _escaped(text: str) -> str:
    return quote(unquote_to_bytes(text), safe="")
