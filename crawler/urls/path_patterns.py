"""Path patterns: the kinds of paths of a host, told apart by the number of names in each folder."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ANY = "*"
"""The pattern of a segment that varies."""

REST = "**"
"""The pattern of all segments that follow."""

_MAX_NAMES = 40
_MAX_FOLDERS = 2_000
_MAX_DEPTH = 5
_NUMBERED = re.compile(r"[0-9]")
_NUMBERS = re.compile(r"(?<!%)(?<!%[0-9A-Fa-f])[0-9]+")
"""Digits that are no part of an escape."""

_ENDING = re.compile(r"\.[A-Za-z]{1,5}\Z")


class PathPatterns:
    """The paths of one host with their varying segments replaced by ``*``.

    A segment varies where it holds a digit, or where more than forty
    others were met in the same place. The ending of a file is kept, since it
    tells scripts from pages. Memory is bounded: at most 2,000 folders with
    forty names each.

    Args:
        numbered: Replacement for a segment that holds a digit.
    """

    def __init__(self, numbered: str = ANY) -> None:
        self._numbered = numbered
        self._names: dict[tuple[str, ...], set[str]] = {}

    def __call__(self, segments: tuple[str, ...]) -> str:
        """Return the pattern of a path, which may become wider as more are met.

        Args:
            segments: What stands between its slashes, after the first one.
        """
        pattern: tuple[str, ...] = ()
        for segment in segments[:_MAX_DEPTH]:
            is_plain = not segment or (
                not _NUMBERED.search(segment) and self._is_one_of_few(pattern, segment)
            )
            pattern = (*pattern, segment if is_plain else self.varying(segment))
        if len(segments) > _MAX_DEPTH:
            pattern = (*pattern, REST)
        return "/" + "/".join(pattern)

    def argument(self, path: str, name: str) -> str:
        """Return the kind of an argument's name; numbers in it vary, and so does one of many names.

        Args:
            path: Pattern of the path.
            name: The name as the URL has it.
        """
        shape = _NUMBERS.sub(self._numbered, name)
        return shape if self._is_one_of_few(("?", path), shape) else ANY

    def remember_argument(self, path: str, kind: str) -> None:
        """Restore the kind of a name that an earlier process found."""
        if kind == ANY:
            self._fill(("?", path))

    def remember(self, pattern: str) -> None:
        """Restore a pattern that an earlier process found, so that the same segments vary."""
        folder: tuple[str, ...] = ()
        for segment in pattern[1:].split("/")[:_MAX_DEPTH]:
            if segment == REST or (folder not in self._names and len(self._names) >= _MAX_FOLDERS):
                break
            if segment.startswith(ANY):
                self._fill(folder)
            folder = (*folder, segment)

    def _fill(self, folder: tuple[str, ...]) -> None:
        varying = (f"{ANY}{number}" for number in range(_MAX_NAMES + 1))
        self._names.setdefault(folder, set()).update(varying)

    def varying(self, segment: str) -> str:
        """Return the pattern of a segment that varies, whatever others were met."""
        found = _ENDING.search(segment)
        ending = found[0] if found else ""
        return (self._numbered if _NUMBERED.search(segment) else ANY) + ending

    def _is_one_of_few(self, folder: tuple[str, ...], name: str) -> bool:
        """Note a name; return whether few others were met in the same place."""
        if folder not in self._names and len(self._names) >= _MAX_FOLDERS:
            return False
        names = self._names.setdefault(folder, set())
        if len(names) <= _MAX_NAMES:
            names.add(name)
        return len(names) <= _MAX_NAMES


class HostPatterns:
    """Kinds of hosts: names below one domain, and ports of one name, where there are many.

    Up to forty are each of their own kind: a site may have a host for each language.
    Further ones are told apart by all but their numbers. Where more than forty are left
    even so, they are one kind. IP addresses are never of one kind.

    Args:
        domain: Returns the registered domain of a host name; "" for none.
        numbered: Replacement for a number.
    """

    def __init__(self, domain: Callable[[str], str], numbered: str = ANY) -> None:
        self._domain = lru_cache(4096)(domain)
        self._numbered = numbered
        self._names: dict[tuple[str, ...], set[str]] = {}
        self._last: tuple[str, str] | None = None

    def __call__(self, host: str) -> str:
        """Return the kind of a host, given with its port where that is not the usual one."""
        if self._last is None or self._last[0] != host:  # else nothing was met since
            self._last = host, self._kind_of(host)
        return self._last[1]

    def _kind_of(self, host: str) -> str:
        name, port = _split_port(host)
        domain = self._domain(name)
        below = name.removesuffix(domain).rstrip(".") if domain else ""
        if below:
            name = f"{self._kind((domain,), below)}.{domain}"
        return f"{name}:{self._kind((name, 'port'), port)}" if port else name

    def _kind(self, place: tuple[str, ...], name: str) -> str:
        shape = _NUMBERS.sub(self._numbered, name)
        if not self._is_one_of_few(place, shape):
            return ANY
        return name if self._is_one_of_few((*place, shape), name) else shape

    def _is_one_of_few(self, place: tuple[str, ...], name: str) -> bool:
        names = self._names.pop(place, set())
        self._names[place] = names
        if len(self._names) > _MAX_FOLDERS:
            del self._names[next(iter(self._names))]
        if len(names) <= _MAX_NAMES:
            names.add(name)
        return len(names) <= _MAX_NAMES

    def remember(self, kind: str) -> None:
        """Restore a kind that an earlier process found, so that the same parts vary."""
        self._last = None
        name, port = kind, ""
        if kind.endswith((f":{ANY}", f":{self._numbered}")):
            name, _, port = kind.rpartition(":")
        domain = self._domain(name.replace(ANY, "x").replace(self._numbered, "0"))
        below = name.removesuffix(domain).rstrip(".") if domain else ""
        for place, part in (((domain,), below), ((name, "port"), port)):
            if part and {ANY, self._numbered} & set(part):
                full = place if part == ANY else (*place, part)
                self._names[full] = {f"{ANY}{number}" for number in range(_MAX_NAMES + 1)}


def _split_port(host: str) -> tuple[str, str]:
    name, colon, port = host.rpartition(":")
    return (name, port) if colon and port.isdecimal() else (host, "")


@lru_cache(4096)
def _expression(pattern: str) -> re.Pattern[str]:
    parts = []
    segments = pattern[1:].split("/")
    for place, segment in enumerate(segments, 1):
        # Only at the end: several of them, as a stranger may write, could take ages.
        if segment == REST and place == len(segments):
            parts.append(".*")
        elif segment.startswith(ANY):
            parts.append("[^/]*" + re.escape(segment[1:]))
        else:
            parts.append(re.escape(segment))
    return re.compile("/" + "/".join(parts), re.DOTALL)


def fits(pattern: str, path: str) -> bool:
    """Return whether a path matches a pattern, regardless of other paths that were met."""
    return _expression(pattern).fullmatch(path) is not None
