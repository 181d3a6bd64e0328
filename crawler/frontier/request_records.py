"""The stored forms of a request: JSON of its parts, and the record of it in a fleet.

Its parts are a JSON object of the differences from a plain GET. It is JSON and not pickle, since a
pickled request runs the code of its author, who may be anyone that made the directory or can write
to Redis. URL and priority are stored beside it. ``docs/formats.md`` has the grammar.

The record of a request in the fleet's queue, and in the directory of the worker that leased it::

    record  := id rest
    id      := host:u64 urgency:u64 depth:u16 number:u48
    rest    := tries:u7 + again * 128 key_bytes:u8 key url_bytes:u32 url request

Big-endian, so that records sort in the order of their leases: those of a host
together, the most urgent first, among equals the least deep, then the oldest.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any, NamedTuple

from crawler.frontier.pauses import SharedPause

if TYPE_CHECKING:
    from collections.abc import Mapping

FIXED = "fixed"
"""Marks a request of a fleet that no rule may skip."""

# A reference to itself is refused before, by its depth.
_to_json = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode

MIDDLE = 2**52
"""Urgency is this less the priority; Lua's numbers are exact up to twice this."""

AGAIN = 128
"""Added to the tries of a request that a shorter way led to."""

ID_BYTES = 24

_HEAD = struct.Struct(">QQH")

SPELLING, FAILED = b"s", b"f"
"""Marks after a key: the link is another spelling, or a list of spellings that failed."""

_TRIES_AND_KEY = struct.Struct(">BB")
_LENGTH = struct.Struct(">I")


class MalformedRequestError(ValueError):
    """The stored bytes are no request that this spider can make."""


def encode_parts(parts: Mapping[str, Any]) -> bytes:
    """Return the parts of a request as bytes.

    Raises:
        ValueError: An integer has more digits than Python reads.
    """
    return _to_json(parts).encode("utf-8", "surrogatepass")


def decode_parts(encoded: bytes) -> dict[str, Any]:
    """Return the parts of encoded bytes; the inverse of ``encode_parts``.

    Raises:
        MalformedRequestError: The bytes are no JSON object.
    """
    try:
        parts = json.loads(encoded.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise MalformedRequestError(f"no JSON: {error}") from None
    if not isinstance(parts, dict):
        raise MalformedRequestError("no JSON object")
    return parts


class QueuedLink(NamedTuple):
    """A request that may be new.

    Attributes:
        key: Its request fingerprint, 16 bytes; no other link is queued under it. None where it
            holds none. All requests of a key have one host.
        host: The number of its host, 0 to 2**63 - 1.
        url: Its URL.
        priority: Its priority; the higher, the sooner.
        request: The rest of it, encoded.
        depth: Number of links that lead to it from a seed.
        is_followed: Whether it leads to a page whose links are followed again from nearer.
        is_spelling: Whether the URL is another one than the canonical one of its key: if that
            is queued already, it is stored, and requested if all before it gave no page.
        failed: Spellings of the key that gave no page. With these, another request is queued: one
            for the next spelling, or for ``url`` if that was not tried yet; ``url`` may be empty.
    """

    key: bytes | None
    host: int
    url: str
    priority: int
    request: bytes
    depth: int = 0
    is_followed: bool = False
    is_spelling: bool = False
    failed: tuple[str, ...] = ()


class Leased(NamedTuple):
    """A request that was leased, otherwise as ``QueuedLink``.

    Attributes:
        id: The id of its record.
        tries: Number of times that it broke before.
        is_again: Whether its page may have been fetched before, from further away.
    """

    id: bytes
    host: int
    url: str
    priority: int
    key: bytes | None
    request: bytes
    tries: int
    depth: int = 0
    is_again: bool = False


def pack_host(host: int) -> bytes:
    """Return a host's number in the format of the scripts."""
    return host.to_bytes(8, "big")


def unpack_host(packed: bytes) -> int:
    return int.from_bytes(packed, "big")


def pack_pause(pause: SharedPause | None) -> bytes:
    """Return a host's pause, without its end, as JSON; empty for None."""
    if pause is None:
        return b""
    parts = (pause.name, pause.number, pause.waited_secs, pause.reason)
    return json.dumps(parts).encode()


def unpack_pause(record: bytes) -> SharedPause:
    """Return the pause of a record: its end in ms, then the output of ``pack_pause``.

    It is over: its host may be requested again.

    Raises:
        ValueError: Another program wrote it.
    """
    try:
        name, number, waited_secs, reason = json.loads(record.partition(b" ")[2])
        return SharedPause(str(name), 0.0, int(number), float(waited_secs), str(reason))
    except (OverflowError, RecursionError, TypeError) as error:
        raise ValueError(f"no pause: {error}") from None


def pack(link: QueuedLink) -> tuple[bytes, bytes, bytes]:
    """Return head (host, urgency, depth), key, and rest of a link.

    Its number comes between head and rest. The key is followed by a mark for another spelling, or
    by the spellings that failed.
    """
    key, head = link.key or b"", _head(link)
    if link.failed:
        failed = "\n".join(link.failed).encode("utf-8", "surrogatepass")
        return head, key + FAILED + failed, _rest(0, None, link.url, link.request)
    rest = _rest(AGAIN * link.is_followed, key, link.url, link.request)
    return head, key + SPELLING if link.is_spelling else key, rest


def pack_changed(leased: Leased) -> tuple[bytes, bytes, bytes]:
    """Return the id of a leased request, with head and rest of its new record."""
    tries = leased.tries + AGAIN * leased.is_again
    rest = _rest(tries, leased.key, leased.url, leased.request)
    return leased.id, _head(leased), rest


def _head(of: QueuedLink | Leased) -> bytes:
    urgency = MIDDLE - max(1 - MIDDLE, min(MIDDLE - 1, of.priority))
    return _HEAD.pack(of.host, urgency, of.depth)


def _rest(tries: int, key: bytes | None, url: str, request: bytes) -> bytes:
    key, encoded = key or b"", url.encode("utf-8", "surrogatepass")
    parts = (_TRIES_AND_KEY.pack(tries, len(key)), key, _LENGTH.pack(len(encoded)), encoded)
    return b"".join((*parts, request))


def record_of(leased: Leased) -> bytes:
    """Return the record of a leased request; the inverse of ``unpack``."""
    tries = leased.tries + AGAIN * leased.is_again
    return leased.id + _rest(tries, leased.key, leased.url, leased.request)


def unpack(record: bytes) -> Leased:
    host, urgency, depth = _HEAD.unpack_from(record)
    tries, key_bytes = _TRIES_AND_KEY.unpack_from(record, ID_BYTES)
    start = ID_BYTES + _TRIES_AND_KEY.size
    key = record[start : start + key_bytes] or None
    start += key_bytes
    (url_bytes,) = _LENGTH.unpack_from(record, start)
    start += _LENGTH.size
    encoded = record[start : start + url_bytes]
    try:
        url = encoded.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:  # another program wrote it, at which no worker may stop
        url = encoded.decode("utf-8", "replace")
    request = record[start + url_bytes :]
    return Leased(
        record[:ID_BYTES],
        host,
        url,
        MIDDLE - urgency,
        key,
        request,
        tries % AGAIN,
        depth,
        tries >= AGAIN,
    )
