"""Match URLs with patterns of gitignore, as those of a folder for each host."""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from pathspec import GitIgnoreSpec

from crawler.urls.parts import shown

_LINE = re.compile(r"(!?)(.*)", re.DOTALL)
_SCHEME = re.compile(r"!?https?://", re.IGNORECASE)
_ANY_HOST = "/*"


class UrlPatterns:
    """The last pattern that matches a URL decides, and ``!`` takes its URLs out again.

    The hosts of a mirror are folders, and a pattern is written for the folder of a host:
    ``/docs/**`` is the path from its root, ``*.iso`` a name at any depth. A pattern whose first
    part may be a host, as that of ``cdn.example.org/big/``, is matched with the host too.

    Args:
        written: Patterns, one a line; empty lines and those that begin with # are none.

    Raises:
        ValueError: One is no pattern.
    """

    def __init__(self, written: str) -> None:
        lines: list[str] = []
        for line in written.splitlines():
            lines += _checked(line)
        self.written = written
        self._spec = GitIgnoreSpec.from_lines(lines)

    def match(self, url: str) -> bool:
        """Return whether the patterns match a URL, by its path with its query and without."""
        parts = urlsplit(url)
        place = f"{parts.netloc.rpartition('@')[2].lower()}{_decoded(parts.path) or '/'}"
        found = _Found.of(self._spec, place)
        if parts.query:
            # A slash of a query parts no folders.
            asked = f"{place}?{_decoded(parts.query).replace('/', '%2F')}"
            found = max(found, _Found.of(self._spec, asked))
        return found.is_match


def _decoded(part: str) -> str:
    """Return the text of a part of a URL; ``**`` would match no line break of it."""
    return unquote(part).replace("\n", " ")


class _Found(NamedTuple):
    number: int
    is_match: bool

    @classmethod
    def of(cls, spec: GitIgnoreSpec, place: str) -> _Found:
        result = spec.check_file(place)
        return cls(-1 if result.index is None else result.index, bool(result.include))


def _checked(line: str) -> list[str]:
    if _SCHEME.match(line):
        raise ValueError(f"{shown(line)} is a URL; write the pattern from its host on")
    try:
        lines = _of_hosts(line)
        GitIgnoreSpec.from_lines(lines)
    except ValueError:
        raise ValueError(f"{shown(line)} is no pattern as in gitignore") from None
    return lines


def _of_hosts(line: str) -> list[str]:
    """Return a pattern for folders that begin with the host; two for one of either meaning."""
    found = _LINE.fullmatch(line)
    assert found is not None  # it matches anything
    negation, pattern = found.groups()
    if not line.strip() or line.startswith("#"):
        return []
    if not pattern.strip("/ "):
        raise ValueError(line)
    first, slash, _ = pattern.partition("/")
    if pattern.startswith("/"):
        return [f"{negation}{_ANY_HOST}{pattern}"]
    is_deep = pattern.rstrip().rstrip("/").count("/") == 0
    lines = [f"{negation}{_ANY_HOST}{'/**' if is_deep else ''}/{pattern}"]
    if slash and ("." in first or ":" in first or first == "localhost"):
        lines.append(f"{negation}/{pattern}")
    return lines
