"""Clusters of URLs whose pages stop being new: calendars, loops of folders, graphs of queries."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.url_rules.learning.patterns import REST, HostPatterns, PathPatterns
from crawler.urls.scope import registered_domain

if TYPE_CHECKING:
    from crawler.url_rules.learning.address import Address

OPEN, SLOW, CLOSED = "open", "slow", "closed"

_LOOKED_AT = 40
_FEW = 2
"""A cluster is slow where at most so many of the last pages looked at were new."""

_MANY = 8
"""It is open again where more were."""

LONG = 300
"""It is closed where none of so many was, and their links led on within it."""

PAGES_A_LINK = 2
"""Take a cluster for endless where so many barren pages lead to one new URL of it, or fewer do.
Otherwise those that wait come to an end by themselves, and one of them may be a page yet."""

_TRIED_OF = 20
"""Of so many URLs of a closed cluster, one is fetched all the same: a new page opens it again."""

_TRIED_OF_BARREN = 15
"""Of every so many barren pages: the more of them, the fewer URLs are tried. However many links
lead on from each page of a trap, there come to be less than one that is tried, and it ends."""

_NUMBERED = "#"
"""Apart from names that are many: what is found out of numbers says nothing of them."""

_OFTEN = 3
"""A path goes round in circles where a segment stands in it so often."""

_MAX_ARGUMENTS = 12


@dataclass(slots=True)
class UrlCluster:
    """URLs of one kind: the same kinds of host, path and names of arguments.

    Attributes:
        id: Number in the crawl's directory.
        name: As people read it.
        fetched: Pages fetched.
        new: Those of them whose text was new.
        barren: Pages since the last new one.
        met: Its URLs that were found since then, while it was not open.
        recent: The last of them, a bit each, the newest last; 1 for a new one.
        state: "open"; "slow", after all others; or "closed".
        reason: Why it is not open.
    """

    id: int
    name: str
    fetched: int = 0
    new: int = 0
    barren: int = 0
    met: int = 0
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
        self.barren = 0 if is_new else self.barren + 1
        if is_new:
            self.met = 0
        self.recent = (self.recent << 1 | is_new) & ((1 << _LOOKED_AT) - 1)
        before = self.state
        self.state, self.reason = self._judged(budget)
        return self.state != before

    def _judged(self, budget: int) -> tuple[str, str | None]:
        if budget and self.fetched >= budget:
            return CLOSED, f"its budget of {budget:,} pages is spent"
        if self.state == CLOSED and self.barren:
            return CLOSED, self.reason
        if self.barren >= LONG and self.met * PAGES_A_LINK >= self.barren:
            return CLOSED, f"none of its last {LONG} pages was new"
        few = _FEW if self.state == OPEN else _MANY
        is_known = self.state != OPEN or self.fetched >= _LOOKED_AT
        if is_known and self.recent.bit_count() <= few:
            return SLOW, f"of its last {_LOOKED_AT} pages {_FEW} or fewer were new"
        return OPEN, None

    def is_tried(self, number: int, budget: int = 0) -> bool:
        """Whether a URL is fetched although the cluster is closed.

        Args:
            number: A hash of the URL.
            budget: As for ``note``; beyond it nothing is fetched.
        """
        if budget and self.fetched >= budget:
            return False
        return number % max(_TRIED_OF, self.barren // _TRIED_OF_BARREN) == 0


class ClusterNames:
    """Finds the cluster of an address; memory is bounded by hosts."""

    def __init__(self, most_hosts: int = 500) -> None:
        self._most_hosts = most_hosts
        self._patterns: dict[str, PathPatterns] = {}
        self.host = HostPatterns(_domain, _NUMBERED)

    def remember(self, name: str) -> None:
        """Go on with the name of a cluster as another process found it."""
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
        """Return the kinds of host, path and names of arguments."""
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
        return patterns(address)
    return patterns(address._replace(segments=address.segments[:turn])).rstrip("/") + f"/{REST}"


def _domain(name: str) -> str:
    """Return the domain that has its own owner, "" of an IP address and of a name alone."""
    labels = name.split(".")
    if not labels[-1].isalpha():
        return ""
    return registered_domain(name) or (".".join(labels[-2:]) if len(labels) > 1 else "")


def _turn(segments: tuple[str, ...]) -> int | None:
    """Where a path begins to go round in circles: at the first segment that comes again."""
    counts = Counter(filter(None, segments))
    if not counts or max(counts.values()) < _OFTEN:
        return None
    return next(place for place, segment in enumerate(segments) if counts[segment] > 1)
