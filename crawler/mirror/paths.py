"""Choose the path of a URL's file below the folder of a mirror, and relate paths to each other.

Pure. Two URLs have one path only if they differ in scheme, in the case or Unicode form of letters,
in an ending that names the media type (``/a``, ``/a.html``), or as ``/`` and ``/index.html`` do;
`free_path` tells all of these apart. If more would be lost, eight digits of a digest of the URL are
appended to the name: ``a~1f0c2d3e.html``.

A part of a path is written as the URL has it, with readable escapes decoded. A character that no
name may hold stays, or becomes, an escape as in a URL: since a percent sign itself is always one,
nothing is lost by that. An escaped unreserved character (``%2E``) never comes out of a URL, so
those are ours to use.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from itertools import count
from posixpath import normpath
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, unquote_to_bytes

import xxhash

from crawler.mirror.endings import ending_of, known_ending, split_ending
from crawler.urls.hosts import canonical_host
from crawler.urls.parts import Parts, split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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

#: Maximum length of a path in UTF-16 units: the 260 of Windows less a short folder.
PATH_MAX_UNITS = 240
#: Folder of the mirror's own state.
STATE_FOLDER = ".mirror"
#: Folder of the WARC files, where they are wanted.
ARCHIVE = "warc"
INDEX, CONTENTS = "index.html", "contents.html"
CHANGES, DUPLICATES = "changes.json", "duplicates.json"
#: The page of the search, and the folder of its index.
SEARCH, SEARCH_FOLDER = "search.html", "search"
#: The list of earlier versions.
VERSIONS = "versions.html"
#: Files of ours beside the folders of hosts; a host may have such a name.
OUR_FILES = frozenset({INDEX, CONTENTS, CHANGES, DUPLICATES, SEARCH, VERSIONS})
#: Folders of ours; a host may have such a name.
OUR_FOLDERS = frozenset({ARCHIVE, SEARCH_FOLDER})

_HOST_MAX_BYTES = 100
_CUT_NAME_MAX_BYTES = 80
_DEFAULT_PORTS = {"http": 80, "https": 443}
# Parts that get the same name as their escape, or as the character that they escape: in a path the
# escape is the rarer of the two, in a query the character. A stray percent sign is neither.
_LOST_IN_PATH = re.compile(r"%3A|%2A|%(?![0-9A-F]{2})|/%2F(?=/|\Z)", re.IGNORECASE)
_LOST_IN_QUERY = re.compile(r"[:*/?@]|%(?![0-9A-F]{2})", re.IGNORECASE)
_LOOKS_LIKE_QUERY = re.compile(r"@[^@/]*=[^@/]*\Z")
_SAFE_IN_PATH = "/!$*+,;=@~"
_SAFE_IN_FRAGMENT = "%/?:@!$&*+,;=~"
_PLAIN_NAME = re.compile(r"[A-Za-z0-9._~!$*+,;=@-]*")


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


def path_of(url: str, media_type: str | None = None) -> str:
    """Return the path that a URL's file should have, parts joined by "/", relative to the mirror.

    ``HOST[+PORT]/folders/name``. A page gets an ending of pages, another file one of its media
    type; a query follows ``@``. No part is hidden, climbs, is longer than 200 bytes or reserved on
    some system.

    Raises:
        MalformedUrl: It is no http or https URL with a host.
    """
    parts = split(url)
    folders, segment = _segments(parts.path)
    name, lost = _file_name(segment, parts.query, media_type)
    address = url.partition("#")[0]
    if lost or parts.userinfo or _LOST_IN_PATH.search(parts.path):
        name = with_digest(name, digest(address))
    segments = [_host_folder(parts), *map(_folder, folders), fitted(name, address)]
    path = "/".join(segments)
    if len(path) * 2 <= PATH_MAX_UNITS or _units(path) <= PATH_MAX_UNITS:
        return path
    return _shortened(segments, digest(address))


def path_key(path: str) -> str:
    """Fold a path so that different keys are different files on every file system.

    As coarse as the coarsest: NTFS has upper case, APFS and HFS+ fold case and Unicode form.
    """
    if path.isascii():
        return path.lower()
    return _folded(_folded(path))


def address_between(source: str, target: str, fragment: str = "") -> str:
    """Return the relative reference that leads from one file of the mirror to another.

    It is percent-encoded, so that it fits into an attribute or ``url()`` as it is, except for a "&"
    of the fragment. The fragment is that of a link: its escapes stay.
    """
    if fragment:
        fragment = "#" + quote(fragment, safe=_SAFE_IN_FRAGMENT)
        if source == target:
            return fragment
    folder, _, name = target.rpartition("/")
    if not _PLAIN_NAME.fullmatch(name):
        name = quote(name, safe=_SAFE_IN_PATH)
    return _way(source.rpartition("/")[0], folder) + name + fragment


def is_at(source: str, written: str, target: str) -> bool:
    """Return whether a reference leads from one file of the mirror to another, as it is written."""
    path = written.partition("#")[0].partition("?")[0]
    if "?" in written or path.startswith("/"):
        return False
    folder = source.rpartition("/")[0]
    return normpath(f"{folder}/{unquote(path)}") == target


def _segments(path: str) -> tuple[list[str], str]:
    *folders, name = path[1:].split("/")
    return folders, name


@lru_cache(4096)
def _folder(segment: str) -> str:
    # An empty segment between two slashes is named after the second one.
    return fitted(portable(readable(segment)), segment) if segment else "%2F"


def _file_name(segment: str, query: str | None, media_type: str | None) -> tuple[str, bool]:
    if segment:
        stem, ending = split_ending(readable(segment), media_type)
    else:
        stem, ending = split_ending("index", media_type or "text/html")
    if query is None:
        return portable(stem + ending), bool(_LOOKS_LIKE_QUERY.search(segment))
    # Without "=" it could be the "@2x" of an image's name.
    query_name = readable(query).replace("@", "%40") if "=" in query else "=" + readable(query)
    lost = query.startswith("=") or bool(_LOST_IN_QUERY.search(query))
    lost = lost or (not ending and bool(known_ending(query_name)))
    return portable(f"{stem}@{query_name}{ending}"), lost


def _host_folder(parts: Parts) -> str:
    default = _DEFAULT_PORTS[parts.scheme.lower()]
    port = int(parts.port) if parts.port else default
    return _host_and_port(parts.host, None if port == default else port)


@lru_cache(1024)
def _host_and_port(host: str, port: int | None) -> str:
    host = canonical_host(host)
    name = host.replace(":", "-") if host.startswith("[") else readable(host).replace("+", "%2B")
    if name in OUR_FILES or name in OUR_FOLDERS:
        name = name.replace(".", "%2E")
    name = portable(name)
    if len(name) > _HOST_MAX_BYTES:
        name = with_digest(name, digest(host), _HOST_MAX_BYTES)
    return name if port is None else f"{name}+{port}"


def _shortened(segments: list[str], digits: str) -> str:
    """Drop the innermost folders and cut the file's name, which gets a digest instead."""
    host, *folders, name = segments
    name = with_digest(name, digits, _CUT_NAME_MAX_BYTES)
    kept, room = [host], PATH_MAX_UNITS - _units(host) - _units(name) - 1
    for folder in folders:
        room -= _units(folder) + 1
        if room < 0:
            break
        kept.append(folder)
    return "/".join([*kept, name])


def _units(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


def _folded(text: str) -> str:
    # Upper case first: it makes one letter of "ı" and "i". The dot is that of "İ" in lower case.
    text = unicodedata.normalize("NFD", text).upper().casefold()
    return unicodedata.normalize("NFC", text.replace("i\u0307", "i"))


@lru_cache(8192)
def _way(source: str, target: str) -> str:
    here, there = source.split("/") if source else [], target.split("/") if target else []
    shared = 0
    while shared < min(len(here), len(there)) and here[shared] == there[shared]:
        shared += 1
    steps = [".."] * (len(here) - shared) + [
        quote(part, safe="!$*+,;=@~") for part in there[shared:]
    ]
    return "".join(f"{step}/" for step in steps)


def free_path(
    url: str,
    media_type: str | None,
    is_file: Callable[[str], bool],
    is_folder: Callable[[str], bool],
) -> str:
    """Choose the path of a URL's file beside the existing files.

    The preferred path (`path_of`) if it is free on every file system. Else the file's name, or that
    of a folder which is a file already, gets ``~`` and a digest: of the URL, or of the folder's
    path, so that all files of a folder stay together. The same answers to the predicates give the
    same path.

    Args:
        url: URL of the file.
        media_type: Media type as served, or None if it is unknown.
        is_file: Predicate for a key (`path_key`) that is a file.
        is_folder: Predicate for a key that is a folder with a file somewhere below it.

    Raises:
        MalformedUrl: It is no http or https URL with a host.
    """
    *folders, name = path_of(url, media_type).split("/")
    way = ""
    for folder in folders:
        way = next(path for path in _variants(way, folder, way + folder) if not _is(is_file, path))
        way += "/"
    address = url.partition("#")[0]
    return next(
        path
        for path in _variants(way, name, address)
        if not (_is(is_file, path) or _is(is_folder, path))
    )


def _variants(way: str, name: str, source: str) -> Iterator[str]:
    yield way + name
    yield way + with_digest(name, digest(source))
    for number in count(2):
        yield way + with_digest(name, digest(f"{number} {source}"))


def _is(question: Callable[[str], bool], path: str) -> bool:
    return question(path_key(path))
