"""Decide which hosts may lead a crawl into a private network."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakSet

from crawler.urls.addresses import is_private

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


class AddressGuard:
    """Knows the starts of a crawl, the private names, and the hosts that may be private.

    A crawl whose own start is private may go where it likes: a request inherits its permission from
    the host that led to it.

    Args:
        starts: Hosts of the seeds, which may be private.
        private: Names that an earlier process of the crawl found to be private and allowed.
        remember: Callback for each such name, for the next process, which skips the seeds.
        public: Names of seeds that were public before, and stay that.
    """

    def __init__(
        self,
        starts: Iterable[str] = (),
        private: Iterable[str] = (),
        remember: Callable[[str], object] = bool,
        public: Iterable[str] = (),
    ) -> None:
        self.starts = set(starts)
        self._private: set[str] = set(private)
        self._remember = remember
        self._public: set[str] = set(public)
        self._asked: set[str] = set()
        self._allowed: set[str] = set()
        _guards.add(self)

    def is_private(self, host: str) -> bool:
        return host in self._private or is_private(host)

    def may_lead(self, source: str | None, host: str) -> bool:
        """Return whether ``host`` may be private where ``source`` led to it.

        Args:
            source: Host of the linking page, or None for a page that hides where a link comes from.
            host: Host of the request.
        """
        if source is None:
            return bool(self.starts) and all(map(self.is_private, self.starts))
        return (source == host and host in self.starts) or self.is_private(source)

    def note_asked(self, host: str, *, allowed: bool) -> None:
        """Record that a host is requested, and whether it may be private; a permission stays."""
        self._asked.add(host)
        if allowed:
            self._allowed.add(host)

    def note_private(self, host: str) -> None:
        if host not in self._private and self.allows(host):
            self._remember(host)
        self._private.add(host)

    def note_public(self, host: str) -> bool:
        """Record that a name has a public address; return whether a seed's name has its first one.

        The owner of the name could give it a private address later, and pages from there would be
        taken for those of the site.
        """
        if host not in self.starts or host in self._public or host in self._private:
            return False
        self._public.add(host)
        return True

    def was_public(self, host: str) -> bool:
        """Return whether a name is that of a seed that was public."""
        return host in self._public

    def allows(self, host: str) -> bool | None:
        """Return whether a name may be resolved to a private address; None if nothing is known."""
        if host in self._public:
            return False
        if host in self._allowed or host in self.starts:
            return True
        return False if host in self._asked else None


_guards: WeakSet[AddressGuard] = WeakSet()


def may_resolve(host: str, address: str) -> bool:
    """Return whether the answer of a name server may be used.

    One resolver serves all crawls of a process, and proxies too: a name that no crawl has requested
    is not guarded here.
    """
    if is_private(host) or not is_private(address):
        return True
    answers = [guard.allows(host) for guard in _guards]
    for guard in _guards:
        guard.note_private(host)
    return True in answers or False not in answers
