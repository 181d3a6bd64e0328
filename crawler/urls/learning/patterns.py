"""Path patterns: which paths of a host are of one kind, told by how many there are."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.urls.learning.address import Address

ANY = "*"
"""Stands for a segment that varies."""

REST = "**"
"""Stands for all segments that follow."""

_MOST_NAMES = 40
_MOST_FOLDERS = 2_000
_DEEPEST = 5
_NUMBERED = re.compile(r"[0-9]")
_ENDING = re.compile(r"\.[A-Za-z]{1,5}\Z")


class PathPatterns:
    """The paths of one host with what varies in them replaced by ``*``.

    A segment varies where it holds a digit, or where more than forty
    others stood in the same place. The ending of a file is kept, since it
    tells scripts from pages. Memory is bounded: at most 2,000 folders with
    forty names each.

    Args:
        numbered: What stands for a segment that holds a digit.
    """

    def __init__(self, numbered: str = ANY) -> None:
        self._numbered = numbered
        self._names: dict[tuple[str, ...], set[str]] = {}

    def __call__(self, address: Address) -> str:
        """The pattern of an address, which may become wider as more are met."""
        pattern: tuple[str, ...] = ()
        for segment in address.segments[:_DEEPEST]:
            pattern = (*pattern, self._kind(pattern, segment))
        if len(address.segments) > _DEEPEST:
            pattern = (*pattern, REST)
        return "/" + "/".join(pattern)

    def remember(self, pattern: str) -> None:
        """Go on with a pattern that was found before: what varied in it goes on to vary."""
        folder: tuple[str, ...] = ()
        for segment in pattern[1:].split("/")[:_DEEPEST]:
            if segment == REST or (folder not in self._names and len(self._names) >= _MOST_FOLDERS):
                break
            if segment.startswith(ANY):
                varying = (f"{ANY}{number}" for number in range(_MOST_NAMES + 1))
                self._names.setdefault(folder, set()).update(varying)
            folder = (*folder, segment)

    def _kind(self, folder: tuple[str, ...], segment: str) -> str:
        if not segment:
            return segment
        found = _ENDING.search(segment)
        ending = found[0] if found else ""
        varying = ANY + ending
        if _NUMBERED.search(segment):
            return self._numbered + ending
        if folder not in self._names and len(self._names) >= _MOST_FOLDERS:
            return varying
        names = self._names.setdefault(folder, set())
        if len(names) <= _MOST_NAMES:
            names.add(segment)
        return segment if len(names) <= _MOST_NAMES else varying


@lru_cache(4096)
def _expression(pattern: str) -> re.Pattern[str]:
    parts = []
    segments = pattern[1:].split("/")
    for place, segment in enumerate(segments, 1):
        # Nowhere else: several of them, as a stranger may write, could take ages.
        if segment == REST and place == len(segments):
            parts.append(".*")
        elif segment.startswith(ANY):
            parts.append("[^/]*" + re.escape(segment[1:]))
        else:
            parts.append(re.escape(segment))
    return re.compile("/" + "/".join(parts), re.DOTALL)


def fits(pattern: str, path: str) -> bool:
    """Whether a path is of that pattern, which does not depend on what else was met."""
    return _expression(pattern).fullmatch(path) is not None
