"""Limit the cookies that are kept, and those that are sent."""

from __future__ import annotations

from contextlib import suppress
from http.cookiejar import CookieJar
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from http.cookiejar import Cookie, CookiePolicy

# Maximum length of name and value together, as in browsers (RFC 6265, section 6.1).
_MAX_COOKIE = 4096
_MAX_DOMAINS = 30  # times the cookies of one: the RFC wants 50 and 3,000
_MAX_HEADER = 8000  # nginx refuses a line of more than 8 KiB, and the page with it


class _Name(NamedTuple):
    domain: str
    path: str
    name: str


class BoundedJar(CookieJar):
    """A cookie jar with limits on a cookie's length, on a domain's cookies and on all of them.

    Args:
        most: Maximum number of cookies of one domain; the oldest go first.
        policy: Policy that decides which cookies are accepted at all.
    """

    def __init__(self, most: int, policy: CookiePolicy | None = None) -> None:
        super().__init__(policy)
        self._most = most
        # By age, domains as well as their cookies.
        self._held: dict[str, dict[_Name, None]] = {}
        self._count = 0

    def set_cookie(self, cookie: Cookie) -> None:
        """Store a cookie unless it is too long, and drop older ones where there are too many."""
        if len(cookie.name) + len(cookie.value or "") > _MAX_COOKIE:
            return
        super().set_cookie(cookie)
        self._note(_Name(cookie.domain, cookie.path, cookie.name))
        if len(self._held[cookie.domain]) > self._most:
            self._drop_oldest_of(cookie.domain)
        elif self._count > self._most * _MAX_DOMAINS:
            self._drop_domain(next(iter(self._held)))

    def _note(self, name: _Name) -> None:
        domain = self._held[name.domain] = self._held.pop(name.domain, {})
        self._count += name not in domain
        domain.pop(name, None)
        domain[name] = None

    def _drop_oldest_of(self, domain: str) -> None:
        names = self._held[domain]
        oldest = next(iter(names))
        del names[oldest]
        self._count -= 1
        with suppress(KeyError):  # it has expired in the meantime
            if any(name.path == oldest.path for name in names):
                self.clear(*oldest)
            else:  # its path too, since a domain may have many paths
                self.clear(domain, oldest.path)

    def _drop_domain(self, domain: str) -> None:
        self._count -= len(self._held.pop(domain))
        with suppress(KeyError):
            self.clear(domain)


def shortened(header: bytes) -> bytes:
    """Return a ``Cookie`` header cut to its first cookies, as many as servers accept."""
    if len(header) <= _MAX_HEADER:
        return header
    return header[: _MAX_HEADER + 1].rpartition(b";")[0]
