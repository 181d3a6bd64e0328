"""Read the head of an answer from the bytes of its connection."""

from __future__ import annotations

import re
from typing import NamedTuple

_END = re.compile(rb"\n\r?\n")
_INFORMATIONAL = re.compile(rb"\S+ +1\d\d")


class ReceivedHead(NamedTuple):
    """The head of an answer as the server sent it.

    Attributes:
        status_line: First line, without its end.
        headers: Names in the server's spelling and order, values without the spaces around them.
    """

    status_line: bytes
    headers: tuple[tuple[bytes, bytes], ...]


def received_head(data: bytes) -> ReceivedHead | None:
    """Return the head at the beginning of some bytes, or None if they hold no whole one.

    Those of informational answers (``103 Early Hints``) are skipped. Lines may end without CR, as
    those of some servers do.
    """
    at = 0
    while (end := _END.search(data, at)) is not None:
        status_line, *lines = data[at : end.start()].split(b"\n")
        if _INFORMATIONAL.match(status_line) is None:
            return ReceivedHead(status_line.removesuffix(b"\r"), tuple(_headers(lines)))
        at = end.end()
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
                headers.append((name, value.strip()))
    return headers
