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
"""A cluster is slow if at most this many of its last 40 pages were new."""

_MANY = 8
"""A slow cluster is open again if more than this many of its last 40 pages are new."""

LONG = 300
"""A cluster is closed after this many pages in a row that were not new but led to more of it."""

PAGES_A_LINK = 2
"""A cluster is endless if at most this many barren pages lead to one new URL of it.

Otherwise its URLs come to an end by themselves, and one of them may be a page yet.
"""

_TRIED_OF = 20
"""One in this many URLs of a closed cluster is fetched: a new page opens the cluster again."""

_TRIED_OF_BARREN = 15
"""Fetch one URL of a closed cluster in ``barren / 15``, if that is fewer than one in 20.

However many links lead on from each page of a trap, there come to be less than one that is
fetched, and the trap ends.
"""

_NUMBERED = "#"
"""The pattern of a number, unlike the one of a varying name: the two are learned separately."""

_OFTEN = 3
"""A path is circular if one segment occurs in it at least this many times."""

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
        """Take a page into account; return whether the state changed.

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
        """Return whether a URL is fetched although the cluster is closed.

        Args:
            number: A hash of the URL.
            budget: Pages that may be fetched of each cluster, 0 for any number; then nothing is.
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
    """Return the registered domain of a host name, "" for an IP address and for a single label."""
    labels = name.split(".")
    if not labels[-1].isalpha():
        return ""
    return registered_domain(name) or (".".join(labels[-2:]) if len(labels) > 1 else "")


def _turn(segments: tuple[str, ...]) -> int | None:
    """Return the first segment of a circular path that occurs again; None for any other path."""
    counts = Counter(filter(None, segments))
    if not counts or max(counts.values()) < _OFTEN:
        return None
    return next(place for place, segment in enumerate(segments) if counts[segment] > 1)
