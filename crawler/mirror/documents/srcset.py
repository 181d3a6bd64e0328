"""The addresses of a ``srcset``.

https://html.spec.whatwg.org/multipage/images.html#parse-a-srcset-attribute: an address ends at
white space alone, so it may hold commas, but for those at its end, which end the candidate.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_WS = rb"\t\n\f\r "
_BEFORE = rb"[,%b]*+" % _WS
# Descriptors reach to a comma outside parentheses; those that are not closed to the end.
_DESCRIPTORS = rb"(?:[^,(]++|\([^)]*+(?:\)|\Z))*+"
_CANDIDATE = re.compile(rb"%b([^%b]++)(%b)" % (_BEFORE, _WS, _DESCRIPTORS))
_NO_DESCRIPTORS = re.compile(rb"%b([^%b]++)" % (_BEFORE, _WS))


def read_srcset(value: bytes) -> Iterator[tuple[int, int]]:
    """Yield where the addresses of a ``srcset`` stand.

    Complexity: O(length).
    """
    at = 0
    while (address := _NO_DESCRIPTORS.match(value, at)) is not None:
        start, end = address.span(1)
        bare = start + len(address[1].rstrip(b","))
        if bare < end:
            at = end
        else:
            candidate = _CANDIDATE.match(value, start)
            at = end if candidate is None else candidate.end()
        yield start, bare


def write_srcset(address: str) -> str:
    """Write an address so that no comma at its ends is taken for the list's."""
    bare = address.strip(",")
    if bare == address:
        return address
    start = address.index(bare) if bare else len(address)
    return "%2C" * start + bare + "%2C" * (len(address) - start - len(bare))
