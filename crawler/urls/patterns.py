"""Match URLs with patterns of gitignore, as those of a folder for each host."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

import re2
from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from crawler.urls.parts import shown

_LINE = re.compile(r"(!?)(.*)", re.DOTALL)
_SCHEME = re.compile(r"!?https?://", re.IGNORECASE)
_ANY_HOST = "/*"
_FOLDERS = re.compile(r"(?<![^/])\*\*/\Z")  # git takes "**/" at the end for folders alone
_SET = re.compile(
    r"\\.|\[(?P<negation>[!^]?)(?P<set>\]?(?:\[:[^\]]*:\]|\\.|[^\]\\])*)\]", re.DOTALL
)
_MEMBER = re.compile(
    r"\[:(?P<named>[^\]]*):\]|(?P<first>\\.|[^\\])(?:-(?P<last>\\.|[^\\]))?", re.DOTALL
)
_NAMED = frozenset(
    "alnum alpha blank cntrl digit graph lower print punct space upper xdigit".split()
)
_FIRST_PLACE = 0xF0000
_PLACES = re.compile("[\U000f0000-\U000ffffd]")  # private characters, in which sets wait
_OPTIONS = re2.Options()
_OPTIONS.log_errors = False


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
        patterns: list[GitIgnoreSpecPattern] = []
        for line in written.splitlines():
            patterns += _checked(line)
        self.written = written
        self._spec = GitIgnoreSpec(patterns, backend="simple")

    def match(self, url: str) -> bool:
        """Return whether the patterns match a URL, by its path with its query and without.

        Complexity: O(length of the URL * length of the patterns), whatever stars they have.
        """
        parts = urlsplit(url)
        place = f"{parts.netloc.rpartition('@')[2].lower()}{_decoded(parts.path) or '/'}"
        places = [place]
        if parts.query:
            # A slash of a query parts no folders.
            places.append(f"{place}?{_decoded(parts.query).replace('/', '%2F')}")
        found = map(self._spec.check_file, places)
        return bool(max(found, key=lambda one: -1 if one.index is None else one.index).include)


def _decoded(part: str) -> str:
    """Return the text of a part of a URL; ``**`` would match no line break of it."""
    text = unquote(part).replace("\n", " ")
    return text.encode(errors="replace").decode()  # RE2 takes no half of a surrogate pair


def _linear(line: str) -> GitIgnoreSpecPattern:
    """Return a pattern of gitignore that RE2 matches: ``*a*a*b`` takes ``re`` cubic time."""
    sets: list[str] = []

    def place_of(found: re.Match[str]) -> str:
        if found["set"] is None:
            return found[0]
        sets.append(_set_of(found["negation"], found["set"]))
        return chr(_FIRST_PLACE + len(sets) - 1)

    if _PLACES.search(line):
        raise ValueError(line)
    placed = _SET.sub(place_of, _FOLDERS.sub("**/*/", line))
    written, include = GitIgnoreSpecPattern.pattern_to_regex(placed)
    if written is None:
        return GitIgnoreSpecPattern(None, include)
    written = _PLACES.sub(lambda place: sets[ord(place[0]) - _FIRST_PLACE], written)
    return GitIgnoreSpecPattern(re2.compile(written, _OPTIONS), include)


def _set_of(negation: str, members: str) -> str:
    """Return the expression of a set of characters as git has it: none of them is a slash."""
    ranges: list[str] = []
    for found in _MEMBER.finditer(members):
        if found["named"] is not None:
            if found["named"] not in _NAMED:
                raise ValueError(members)
            ranges.append(found[0])
            continue
        first = found["first"][-1]
        last = first if found["last"] is None else found["last"][-1]
        if first > last:
            raise ValueError(members)
        for low, high in ((first, min(last, ".")), (max(first, "0"), last)):
            if low <= high:
                ranges.append(rf"\x{{{ord(low):x}}}-\x{{{ord(high):x}}}")
    if negation:
        return f"[^/{''.join(ranges)}]"
    return f"[{''.join(ranges)}]" if ranges else r"[^\x{0}-\x{10FFFF}]"


def _checked(line: str) -> list[GitIgnoreSpecPattern]:
    if _SCHEME.match(line):
        raise ValueError(f"{shown(line)} is a URL; write the pattern from its host on")
    try:
        return [_linear(one) for one in _of_hosts(line)]
    except (ValueError, re2.error):
        raise ValueError(f"{shown(line)} is no pattern as in gitignore") from None


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
