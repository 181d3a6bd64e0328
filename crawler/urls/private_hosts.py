"""Recognise hosts that lead into a private network, and decide which may lead a crawl there.

They are recognised by the spelling alone, without DNS; the addresses that a public name is resolved
to are judged in ``crawler.downloader.resolver``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TYPE_CHECKING
from weakref import WeakSet

from crawler.urls.hosts import canonical_host
from crawler.urls.parts import MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# https://www.iana.org/assignments/iana-ipv4-special-registry and the one for IPv6: whatever is not
# globally reachable. Written out since ipaddress.is_private differs between versions of Python.
_PRIVATE_IPV4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network; 0.0.0.0 reaches the machine itself
            "10.0.0.0/8",
            "100.64.0.0/10",  # carrier-grade NAT
            "127.0.0.0/8",  # loopback
            "169.254.0.0/16",  # link-local, and the metadata of cloud machines
            "172.16.0.0/12",
            "192.0.0.0/24",  # protocol assignments
            "192.0.2.0/24",  # documentation, as the two below
            "192.168.0.0/16",
            "198.18.0.0/15",  # benchmarks
            "198.51.100.0/24",
            "203.0.113.0/24",
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)
_PRIVATE_IPV6 = tuple(
    map(
        IPv6Network,
        (
            "::/127",  # unspecified and loopback
            "64:ff9b:1::/48",  # NAT64 of a local network
            "100::/63",  # discarded, and dummies
            "2001:2::/48",  # benchmarks
            "2001:10::/28",  # ORCHID, deprecated
            "2001:db8::/32",  # documentation, as the next
            "3fff::/20",
            "5f00::/16",  # segment routing
            "fc00::/7",  # unique local
            "fe80::/10",  # link-local
            "fec0::/10",  # site-local, deprecated
            "ff00::/8",  # multicast
        ),
    )
)
# Networks whose addresses carry an IPv4 address, which is where they lead; how many bits stand to
# the right of it, and whether they are inverted.
_CARRIERS = (
    (IPv6Network("::/96"), 0, False),  # IPv4-compatible, deprecated
    (IPv6Network("::ffff:0:0/96"), 0, False),  # IPv4-mapped
    (IPv6Network("::ffff:0:0:0/96"), 0, False),  # IPv4-translated, RFC 2765
    (IPv6Network("64:ff9b::/96"), 0, False),  # NAT64, RFC 6052
    (IPv6Network("2002::/16"), 80, False),  # 6to4, RFC 3056
    (IPv6Network("2001::/32"), 0, True),  # Teredo, RFC 4380: the client, inverted
)
_CACHED_HOSTS = 1024  # every request asks it of where it goes and of what led there
_DOTTED = re.compile(r"[0-9]+(?:\.[0-9]+){3}")
# localhost: RFC 6761. local: RFC 6762, the names of one link. internal: reserved by ICANN for
# private use, and the metadata of Google's machines. home.arpa: RFC 8375.
_PRIVATE_DOMAINS = (".localhost", ".localdomain", ".local", ".internal", ".home.arpa")


@lru_cache(_CACHED_HOSTS)
def is_private(host: str) -> bool:
    """Return whether the host leads into a private network, or to this machine.

    Private are IP addresses in every spelling that a resolver accepts (``0x7f.1``, ``2130706433``,
    ``[::1]``, ``::ffff:10.0.0.1``, with a zone or a dot at the end); names that are reserved for
    private networks; and names without a dot, which only a local search list can resolve. A text
    that is no host is not called public: the answer is True. Nothing is ever raised.

    Args:
        host: The host of a URL, with or without brackets, without a port.
    """
    try:
        name = canonical_host(_bracketed(host))
    except MalformedUrl:
        return True
    if name.startswith("["):
        return _is_private_ipv6(IPv6Address(name[1:-1]))
    if _DOTTED.fullmatch(name):
        return _is_private_ipv4(IPv4Address(name))
    name = name.rstrip(".")
    return "." not in name or name.endswith(_PRIVATE_DOMAINS) or name == "home.arpa"


def _bracketed(host: str) -> str:
    host = host.partition("%")[0] if ":" in host else host  # fe80::1%eth0
    return f"[{host.strip('[]')}]" if ":" in host else host


def _is_private_ipv4(address: IPv4Address) -> bool:
    return any(address in network for network in _PRIVATE_IPV4)


def _is_private_ipv6(address: IPv6Address) -> bool:
    if any(address in network for network in _PRIVATE_IPV6):
        return True
    for network, shift, inverted in _CARRIERS:
        if address in network:
            bits = int(address) >> shift & 0xFFFFFFFF
            return _is_private_ipv4(IPv4Address(bits ^ 0xFFFFFFFF if inverted else bits))
    return False


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
