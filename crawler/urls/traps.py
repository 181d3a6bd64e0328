"""Clusters of URLs whose pages stop being new: calendars, loops of folders, graphs of queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.urls.learning.patterns import PathPatterns

if TYPE_CHECKING:
    from crawler.urls.learning.address import Address

OPEN, SLOW, CLOSED = "open", "slow", "closed"

_LOOKED_AT = 40
_FEW = 2
"""A cluster is slow where at most so many of the last pages looked at were new."""

_MANY = 8
"""It is open again where more were."""

_LONG = 300
"""It is closed where none of so many was: with 95 % certainty less than 1 % of the next are."""

_TRIED = 20
"""A closed one is opened again where more than one of the last so many that were tried was new."""


@dataclass(slots=True)
class Cluster:
    """URLs of one kind: the same host, kind of path and names of arguments.

    Attributes:
        id: Number in the crawl's directory.
        name: As people read it.
        fetched: Pages fetched.
        new: Those of them whose text was new.
        recent: The last of them, a bit each, the newest last; 1 for a new one.
        state: "open"; "slow", after all others; or "closed".
        reason: Why it is not open.
    """

    id: int
    name: str
    fetched: int = 0
    new: int = 0
    recent: int = 0
    state: str = OPEN
    reason: str | None = None

    def note(self, *, is_new: bool, budget: int = 0) -> bool:
        """Take a page into account; say whether the state is another one now.

        Args:
            is_new: Whether its text was new.
            budget: Pages that may be fetched of each cluster, 0 for any number.
        """
        self.fetched += 1
        self.new += is_new
        self.recent = (self.recent << 1 | is_new) & ((1 << _LONG) - 1)
        before = self.state
        self.state, self.reason = self._judged(budget)
        return self.state != before

    def _judged(self, budget: int) -> tuple[str, str | None]:
        if budget and self.fetched >= budget:
            return CLOSED, f"its budget of {budget:,} pages is spent"
        lately = (self.recent & ((1 << _LOOKED_AT) - 1)).bit_count()
        if self.state == CLOSED:
            if (self.recent & ((1 << _TRIED) - 1)).bit_count() <= 1:
                return CLOSED, self.reason
        elif self.fetched >= _LONG and not self.recent:
            return CLOSED, f"none of its last {_LONG} pages was new"
        few = _FEW if self.state == OPEN else _MANY
        if self.fetched >= _LOOKED_AT and lately <= few:
            return SLOW, f"of its last {_LOOKED_AT} pages {_FEW} or fewer were new"
        return OPEN, None


class ClusterNames:
    """Finds the cluster of an address; memory is bounded by hosts."""

    def __init__(self, most_hosts: int = 500) -> None:
        self._most_hosts = most_hosts
        self._patterns: dict[str, PathPatterns] = {}

    def remember(self, name: str) -> None:
        """Go on with the name of a cluster as another process found it."""
        host, slash, rest = name.partition("/")
        self._of(host).remember(slash + rest.partition("?")[0])

    def _of(self, host: str) -> PathPatterns:
        patterns = self._patterns.pop(host, None) or PathPatterns()
        self._patterns[host] = patterns
        if len(self._patterns) > self._most_hosts:
            del self._patterns[next(iter(self._patterns))]
        return patterns

    def __call__(self, address: Address) -> str:
        """Host, path pattern and names of arguments."""
        patterns = self._of(address.host)
        names = "&".join(sorted(f"{name}=" for name in address.names))
        return f"{address.host}{patterns(address)}" + (f"?{names}" if names else "")
