"""Read the head of a request or an answer from the bytes of its connection, and its ranges."""

from __future__ import annotations

import re
from typing import NamedTuple

_HEAD = re.compile(rb"\s*+(\S.*?)\n\r?\n", re.DOTALL)
_RANGE = re.compile(rb"bytes ([0-9]{1,18})-([0-9]{1,18})/([0-9]{1,18})")
_INFORMATIONAL = re.compile(rb"\S+ +1\d\d")


class Head(NamedTuple):
    """The head of a message as it was sent.

    Attributes:
        first_line: Request line or status line, without its end.
        headers: Names in the sender's spelling and order, both without spaces around them.
    """

    first_line: bytes
    headers: tuple[tuple[bytes, bytes], ...]


def read_head(data: bytes) -> Head | None:
    """Return the head at the beginning of some bytes, or None if they hold no whole one.

    Those of informational answers (``103 Early Hints``) are skipped, and empty lines before a
    status. Lines may end without CR, as those of some servers do.
    """
    head = _HEAD.match(data)
    while head is not None:
        first_line, *lines = head[1].split(b"\n")
        if _INFORMATIONAL.match(first_line) is None:
            return Head(first_line.removesuffix(b"\r"), tuple(_headers(lines)))
        head = _HEAD.match(data, head.end())
    return None


def _headers(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    headers: list[tuple[bytes, bytes]] = []
    for line in lines:
        if line[:1] in {b" ", b"\t"} and headers:  # it continues the line before
            name, value = headers.pop()
            headers.append((name, value + b" " + line.strip()))
        else:
            name, colon, value = line.partition(b":")
            if colon:
                headers.append((name.rstrip(), value.strip()))
    return headers


class ContentRange(NamedTuple):
    """The bytes of a file that an answer holds, from ``first`` to ``last``, of ``size``."""

    first: int
    last: int
    size: int

    @property
    def is_to_end(self) -> bool:
        return self.last + 1 == self.size


def range_in(header: bytes | None) -> ContentRange | None:
    """Return the range of a header ``Content-Range``, None where it has none or an unknown size."""
    found = _RANGE.fullmatch((header or b"").strip())
    return None if found is None else ContentRange(*map(int, found.groups()))
