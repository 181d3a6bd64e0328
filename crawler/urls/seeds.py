"""Check the seeds that a user types, with messages that say what to type instead."""

from __future__ import annotations

import re

import xxhash

from crawler.urls.canonical import Canonicalizer
from crawler.urls.hosts import requestable
from crawler.urls.parts import MalformedUrl, shown, split
from crawler.urls.private_hosts import is_private

_EXAMPLE = "type one such as https://docs.python.org/3/"
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+-]*):|[A-Za-z][A-Za-z0-9+.-]*://")
# "localhost:8000/x" has no scheme called "localhost".
_HOST_AND_PORT = re.compile(r"[^/?#:@]+:[0-9]+(?:[/?#].*)?", re.DOTALL)
# What stands before the host where the scheme or a slash was forgotten: "https//", "https:/", "//".
_BEFORE_HOST = re.compile(r"(?:(https?):|(https?)/)?[/\\]*", re.IGNORECASE)
_HOST = re.compile(r"https?://[^/?#\\]", re.IGNORECASE)
_BETWEEN_SEEDS = re.compile(r",(?=\s*[a-z]+://)", re.IGNORECASE)
_CREDENTIALS = re.compile(r"(https?:[/\\]{2})([^/?#\\]*)@([^/?#\\]*)", re.IGNORECASE)
_SPACES = re.compile(r"[\x00-\x20\x7f]+")
_TWO_URLS = re.compile(r"\shttps?://", re.IGNORECASE)
_NOT_IN_FOLDER = re.compile(r"[^a-z0-9._-]")
_MAX_HINT = 100
_MAX_HOST_IN_FOLDER = 77  # and a digest of 17 characters, and a port of 6

_canonicalize = Canonicalizer()


def split_seeds(text: str) -> list[str]:
    """Split several seeds at the commas between them; a comma within a URL is none."""
    parts = _BETWEEN_SEEDS.split(text)
    return [url.strip(", ") for url in parts if url.strip(", ")]


def check_seed(text: str) -> str:
    """Check a seed; return it as it was typed, without the spaces around it.

    Raises:
        MalformedUrl: With one line that says what is wrong and, where it can be guessed, what to
            type instead.
    """
    url = text.strip()
    if not url:
        raise MalformedUrl(f"no URL was given: {_EXAMPLE}")
    _check_credentials(url)
    _check_scheme(url)
    if _TWO_URLS.search(url):
        raise MalformedUrl(f"{shown(url)} has a space in it: put a comma between two URLs")
    if _SPACES.search(url):
        raise MalformedUrl(f"{shown(url)} has a space in it: {_hint(_SPACES.sub('%20', url))}")
    if not _HOST.match(url):
        raise MalformedUrl(f"{shown(url)} has no host: {_hint(url)}")
    _check_address(url)
    requestable(url)
    return url


def host_folder(url: str) -> str:
    """Name a folder after the host of a URL, with ``_PORT`` where it is not the default one.

    Lower case, of at most 100 characters, none of them one that a file system or a shell takes for
    something else: ``docs.python.org``, ``localhost_8000``, ``ipv6-2001-db8--1_8080``. Where the
    host had to be changed for that, a digest keeps two hosts apart.

    Raises:
        MalformedUrl: It is no URL.
    """
    parts = split(_canonicalize(url))
    host = parts.host
    if host.startswith("["):
        host = "ipv6-" + host[1:-1].replace(":", "-")
    name = _NOT_IN_FOLDER.sub("_", host)[:_MAX_HOST_IN_FOLDER].strip(".").lstrip("-")
    if name != host:
        name = f"{name or 'host'}-{xxhash.xxh3_64_hexdigest(host.encode())}"
    return name if parts.port is None else f"{name}_{parts.port}"


def _check_credentials(url: str) -> None:
    """Refuse a name and a password: a seed is stored, and shown in many places."""
    found = _CREDENTIALS.match(url)
    if found and found[2].strip(":"):
        host = found[3].rpartition("@")[2]
        raise MalformedUrl(
            f"a user name or password stands before {shown(host)}: leave it out, and put "
            "HTTPAUTH_USER and HTTPAUTH_PASS into the environment"
        )


def _check_scheme(url: str) -> None:
    if not _SCHEME.match(url) or _HOST_AND_PORT.fullmatch(url):
        raise MalformedUrl(f"{shown(url)} has no scheme: {_hint(url)}")
    scheme = url.partition(":")[0]
    if scheme.lower() not in ("http", "https"):
        raise MalformedUrl(
            f"{shown(url)} begins with {shown(scheme)}, but only http and https are fetched"
        )


def _check_address(url: str) -> str:
    parts = split(_canonicalize(url))
    if "" in parts.host.split("."):
        raise MalformedUrl(f"{shown(url)} has a dot too many in its host")
    if parts.port == "0":
        raise MalformedUrl(f"{shown(url)} has port 0, to which nothing can be sent")
    return parts.host


def _hint(url: str) -> str:
    """Return a hint with a guess of the URL that was meant, if check_seed would accept it."""
    if re.match(r"\.|/(?!/)", url):  # the name of a file
        return _EXAMPLE
    before = _BEFORE_HOST.match(url)
    rest = url[before.end() :] if before else url
    scheme = before and (before[1] or before[2])
    guess = f"{scheme or 'https'}://{rest}"
    try:
        host = _check_address(guess)
    except MalformedUrl:
        return _EXAMPLE
    if "@" in re.split(r"[/\\?#]", rest, maxsplit=1)[0]:  # a user name, which is refused
        return _EXAMPLE
    if len(guess) > _MAX_HINT or not guess.isprintable() or " " in guess:
        return _EXAMPLE
    if not scheme and is_private(host):
        guess = f"http://{rest}"  # hardly anyone has a certificate for localhost
    return f"did you mean {guess} ?"
