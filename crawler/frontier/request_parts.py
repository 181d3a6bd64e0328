"""The stored form of a request: a JSON object of its differences from a plain GET.

It is JSON and not pickle, since a pickled request runs the code of its author, who may be anyone
that made the directory or can write to Redis. URL and priority are stored beside it.
``docs/formats.md`` has the grammar.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

FIXED = "fixed"
"""Marks a request of a fleet that no rule may skip."""

# A reference to itself is refused before, by its depth.
_to_json = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode


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
