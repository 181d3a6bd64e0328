"""The parts of an http URL, split and joined again; the error of a malformed URL."""

from __future__ import annotations

import re
from typing import NamedTuple

_NAME = r"(?![^/:]{254})(?:[a-z0-9_][a-z0-9_-]{0,62}\.)*[a-z][a-z0-9_-]{0,62}"
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
PLAIN_HOST = rf"(?:{_NAME}|{_BYTE}(?:\.{_BYTE}){{3}})"
PLAIN_PORT = r"(?::(?!80/|443/)(?:[1-5][0-9]{4}|[1-9][0-9]{0,3}))?"
PLAIN_PATH = r"(?:/(?![.(])[A-Za-z0-9._~!$&'()*+,=:@-]*+)++"
"""Regular expressions of most hosts, ports and paths of real links, which no rule changes.

Many others are left out only because a rule *might* apply to them: an escape, a port that may be
the default, a segment that begins with a dot or could be a session, a last label that could be a
number.
"""

_SHOWN_CHARACTERS = 100

_URL = re.compile(r"([Hh][Tt][Tt][Pp][Ss]?)://([^/?#]+)([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_BRACKETED = re.compile(r"(\[[0-9A-Fa-f:.]*\])(?::([0-9]*))?")
_MAX_PORT = 65_535


class MalformedUrl(ValueError):  # noqa: N818  (the name other rooms were promised)
    """A text that is no http or https URL that could be asked for. One line, for the user."""


def shown(text: str) -> str:
    """Quote a text for a message: on one line, printable, and of bounded length."""
    if len(text) > _SHOWN_CHARACTERS:
        text = text[:_SHOWN_CHARACTERS] + "..."
    # ascii() where repr() would leave a lone surrogate, which no stream can print.
    return repr(text) if text.isprintable() else ascii(text)


class Parts(NamedTuple):
    """An http URL in parts, each as it was written.

    None is "not there" and "" is "there, and empty": ``http://@h:/?#`` has all four of them empty.
    An IPv6 host keeps its brackets. The path is empty or begins with a slash.
    """

    scheme: str
    userinfo: str | None
    host: str
    port: str | None
    path: str
    query: str | None
    fragment: str | None


def split(text: str) -> Parts:
    """Split a URL into parts.

    Stricter than a browser in one thing: ``http:/host``, ``http:host`` and ``http:///host``, which
    a browser mends, have no host here, since the downloader would find none either.

    Raises:
        MalformedUrl: No scheme, another scheme than http and https, no host, a bad port, brackets
            without an address, or a character that cannot be sent (a lone surrogate).
    """
    url = _URL.fullmatch(text)
    if url is None:
        raise _no_url(text)
    _check_characters(text)
    scheme, authority, path, query, fragment = url.groups()
    userinfo, at, address = authority.rpartition("@")
    host, port = _split_address(address, text)
    return Parts(scheme, userinfo if at else None, host, port, path, query, fragment)


def join(parts: Parts) -> str:
    """Write the parts as a URL; the inverse of :func:`split`."""
    scheme, userinfo, host, port, path, query, fragment = parts
    url = f"{scheme}://{host}" if userinfo is None else f"{scheme}://{userinfo}@{host}"
    if port is not None:
        url = f"{url}:{port}"
    url += path
    if query is not None:
        url = f"{url}?{query}"
    return url if fragment is None else f"{url}#{fragment}"


def _no_url(text: str) -> MalformedUrl:
    scheme = _SCHEME.match(text)
    if scheme is None:
        return MalformedUrl(f"{shown(text)} has no scheme")
    if scheme[1].lower() not in ("http", "https"):
        return MalformedUrl(f"{shown(text)} is neither http nor https")
    return MalformedUrl(f"{shown(text)} has no host")


def _check_characters(text: str) -> None:
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise MalformedUrl(f"{shown(text)} has a character that cannot be sent") from error


def _split_address(address: str, text: str) -> tuple[str, str | None]:
    if address.startswith("["):
        bracketed = _BRACKETED.fullmatch(address)
        if bracketed is None:
            raise MalformedUrl(f"{shown(text)} has brackets without an IPv6 address")
        host, port = bracketed[1], bracketed[2]
    else:
        host, colon, digits = address.partition(":")
        port = digits if colon else None
    if not host:
        raise MalformedUrl(f"{shown(text)} has no host")
    if port and not _is_port(port):
        raise MalformedUrl(f"{shown(text)} has a bad port: a number up to {_MAX_PORT} is wanted")
    return host, port


def _is_port(port: str) -> bool:
    if not (port.isascii() and port.isdigit()):
        return False
    digits = port.lstrip("0")
    return len(digits) <= len(str(_MAX_PORT)) and int(digits or "0") <= _MAX_PORT
