"""Name the clusters of URLs: those of one kind of host, path and names of arguments."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from crawler.urls.path_patterns import REST, HostPatterns, PathPatterns
from crawler.urls.scope import domain_or_suffix

if TYPE_CHECKING:
    from crawler.url_rules.learning.address import Address

_NUMBERED = "#"
"""The pattern of a number, unlike the one of a varying name: the two are learned separately."""

_OFTEN = 3
"""A path is circular if one segment occurs in it at least this many times."""

_MAX_ARGUMENTS = 12
_MAX_RECENT = 2_000


class ClusterNames:
    """Finds the cluster of an address; memory is bounded by hosts."""

    def __init__(self, most_hosts: int = 500) -> None:
        self._most_hosts = most_hosts
        self._patterns: dict[str, PathPatterns] = {}
        self._recent: dict[Address, str] = {}
        self.host = HostPatterns(domain_or_suffix, _NUMBERED)

    def remember(self, name: str) -> None:
        """Restore the name of a cluster that another process found."""
        host, slash, rest = name.partition("/")
        path, _, names = rest.partition("?")
        self.host.remember(host)
        patterns = self._of(host)
        patterns.remember(slash + path)
        for kind in names.split("&"):
            patterns.remember_argument(slash + path, kind.removesuffix("="))

    def _of(self, host: str) -> PathPatterns:
        patterns = self._patterns.pop(host, None) or PathPatterns(_NUMBERED)
        self._patterns[host] = patterns
        if len(self._patterns) > self._most_hosts:
            del self._patterns[next(iter(self._patterns))]
        return patterns

    def __call__(self, address: Address) -> str:
        """Return the kinds of host, path and names of arguments.

        That of an address which was asked for lately is remembered: its parts may vary since.
        """
        name = self._recent.get(address)
        if name is None:
            if len(self._recent) >= _MAX_RECENT:
                self._recent.clear()
            name = self._recent[address] = self._name(address)
        return name

    def _name(self, address: Address) -> str:
        host = self.host(address.host)
        patterns = self._of(host)
        path = _path(patterns, address)
        names = sorted({patterns.argument(path, name) for name in address.names})
        written = [f"{name}=" for name in names[:_MAX_ARGUMENTS]]
        if len(names) > _MAX_ARGUMENTS:
            written.append(REST)
        return f"{host}{path}" + (f"?{'&'.join(written)}" if written else "")


def _path(patterns: PathPatterns, address: Address) -> str:
    turn = _turn(address.segments)
    if turn is None:
        return patterns(address.segments)
    return patterns(address.segments[:turn]).rstrip("/") + f"/{REST}"


def _turn(segments: tuple[str, ...]) -> int | None:
    """Return the first segment of a circular path that occurs again; None for any other path."""
    if len(segments) - len(set(segments)) < _OFTEN - 1:  # nearly all
        return None
    counts = Counter(filter(None, segments))
    if not counts or max(counts.values()) < _OFTEN:
        return None
    return next(place for place, segment in enumerate(segments) if counts[segment] > 1)
