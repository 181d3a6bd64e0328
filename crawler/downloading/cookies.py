"""Read and write files of cookies, and limit the cookies that are kept, and those that are sent."""

from __future__ import annotations

import math
import re
import time
from contextlib import suppress
from http.cookiejar import Cookie, CookieJar
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from http.cookiejar import CookiePolicy

JAR = "cookies.txt"
"""Name of the file in a crawl directory that keeps the cookies of the sites."""

_HEAD = "# Netscape HTTP Cookie File\n"
_HTTP_ONLY = "#HttpOnly_"
_SPELLINGS = ("HTTPOnly", "HttpOnly", "httponly")
_PLACE = re.compile(r"(\[[^\]]*\][^:]*|[^:]*)(?::(\d+))?")
"""A domain; wget adds the port of a cookie."""

_IS_ADDRESS = re.compile(r"[\d.]+|\[.*")
_TABS = 6
_MAX_SECS = 2**53
_FLAGS = {"TRUE": True, "FALSE": False}

# Maximum length of name and value together, as in browsers (RFC 6265, section 6.1).
_MAX_COOKIE = 4096
_MAX_DOMAINS = 30  # times the cookies of one: the RFC wants 50 and 3,000
_MAX_HEADER = 8000  # nginx refuses a line of more than 8 KiB, and the page with it


def read_cookies(path: str) -> list[Cookie]:
    """Return the cookies of a file that have not expired; those of a session too.

    Such files are written by curl, wget, httrack, and extensions of browsers.

    Raises:
        ValueError: It cannot be read, or is no such file; the message names it.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no text in UTF-8") from None
    try:
        found = list(_cookies(lines))
    except ValueError:
        raise ValueError(
            f"{path} is no Netscape cookie file; each line should have a domain, TRUE or FALSE, "
            "a path, TRUE or FALSE, a time, a name and a value, with tabs between"
        ) from None
    valid = [cookie for cookie in found if not cookie.is_expired()]
    if not valid:
        raise ValueError(f"{path} has no cookie that is still valid")
    return valid


def stored_cookies(folder: Path) -> list[Cookie]:
    """Return the cookies that a crawl directory keeps, also those that have expired meanwhile."""
    try:
        return list(_cookies((folder / JAR).read_text(encoding="utf-8").split("\n")))
    except (OSError, ValueError):  # there are none, or they were changed by hand
        return []


def write_cookies(path: Path, cookies: Iterable[Cookie]) -> int:
    """Write a Netscape file that its owner alone reads; return the number of its cookies.

    One with a tab is left out: it would make the whole file unreadable. After a crash the file is
    the old one or the new one.

    Raises:
        OSError: It cannot be written.

    Complexity: O(cookies).
    """
    # Arguments are checked without it.
    from neardup.files.durable import write_durably  # noqa: PLC0415

    lines = [line for line in map(_line, cookies) if line.count("\t") == _TABS]
    content = [line.encode("utf-8", "replace") for line in (_HEAD, *lines)]
    write_durably(path, content, rights=0o600)
    return len(lines)


def _cookies(lines: Iterable[str]) -> Iterator[Cookie]:
    """Yield the cookies of the lines of a file.

    Raises:
        ValueError: A line is neither a cookie nor a remark.
    """
    for line in lines:
        is_http_only = line.startswith(_HTTP_ONLY)
        if line.strip() and (is_http_only or not line.lstrip().startswith(("#", "$"))):
            yield _cookie(line.removeprefix(_HTTP_ONLY), is_http_only=is_http_only)


def _cookie(line: str, *, is_http_only: bool) -> Cookie:
    fields = line.split("\t") if "\t" in line else line.split(None, 6)
    place, shared, path, secure, expires, name, value = fields if fields[6:] else [*fields, ""]
    found = _PLACE.fullmatch(place)
    if found is None or {shared.upper(), secure.upper()} - _FLAGS.keys():
        raise ValueError(line)
    domain, port = found[1].lstrip(".").lower(), found[2]
    is_shared = _FLAGS[shared.upper()] or place.startswith(".")
    if "." not in domain:
        domain += ".local"  # as http.cookiejar has a name without a full stop
    if is_shared and not _IS_ADDRESS.fullmatch(domain):  # httrack writes no full stop before it
        domain = f".{domain}"
    # curl writes 0 for a cookie of a session, some extensions -1.
    until = max(0, int(min(float(expires or 0), _MAX_SECS))) or None
    has_value = bool(name)
    return netscape_cookie(
        name if has_value else value,
        value if has_value else None,
        domain,
        path,
        until,
        port=port,
        is_secure=_FLAGS[secure.upper()],
        is_http_only=is_http_only,
    )


def netscape_cookie(  # noqa: PLR0913  # the fields of a cookie
    name: str,
    value: str | None,
    domain: str,
    path: str,
    expires: int | None,
    *,
    port: str | None = None,
    is_secure: bool = False,
    is_http_only: bool = False,
) -> Cookie:
    """Return a cookie as a Netscape file has it.

    Args:
        name: Name of the cookie.
        value: Its value; None where the name stands alone.
        domain: The host, with a full stop before it for all hosts below it too.
        path: Path below which it is sent.
        expires: End of its life, in seconds since 1970; None: that of the session.
        port: The only port to which it is sent; None for any.
        is_secure: Whether it is sent by ``https`` alone.
        is_http_only: Whether it is hidden from scripts.
    """
    is_shared = domain.startswith(".")
    return Cookie(
        version=0,
        name=name,
        value=value,
        port=port,
        port_specified=port is not None,
        domain=domain,
        domain_specified=is_shared,
        domain_initial_dot=is_shared,
        path=path,
        path_specified=True,
        secure=is_secure,
        expires=expires,
        discard=expires is None,
        comment=None,
        comment_url=None,
        rest={"HTTPOnly": ""} if is_http_only else {},
    )


def _line(cookie: Cookie) -> str:
    is_http_only = any(map(cookie.has_nonstandard_attr, _SPELLINGS))
    place = f"{_HTTP_ONLY if is_http_only else ''}{cookie.domain}"
    name, value = ("", cookie.name) if cookie.value is None else (cookie.name, cookie.value)
    fields = (
        f"{place}:{cookie.port}" if cookie.port_specified and cookie.port else place,
        str(cookie.domain.startswith(".")).upper(),
        cookie.path,
        str(cookie.secure).upper(),
        str(cookie.expires or 0),
        name,
        value,
    )
    return "\t".join(fields) + "\n"


class CookieName(NamedTuple):
    """The domain, path and name by which a cookie replaces another one."""

    domain: str
    path: str
    name: str


def name_of(cookie: Cookie) -> CookieName:
    return CookieName(cookie.domain, cookie.path, cookie.name)


def is_below(host: str, domain: str) -> bool:
    """Return whether cookies of a domain may be for a host."""
    domain = domain.lstrip(".").removesuffix(".local")
    return host == domain or host.endswith(f".{domain}")


class BoundedJar(CookieJar):
    """A cookie jar with limits on a cookie's length, on a domain's cookies and on all of them.

    Args:
        most: Maximum number of cookies of one domain; the oldest go first.
        policy: Policy that decides which cookies are accepted at all.

    Attributes:
        is_changed: Whether a cookie was set or cleared; the caller resets it.
        gained: Names of cookies that were not there before; the caller clears it.
        is_closed: Whether no cookie is replaced or removed, so that only new ones are stored.
    """

    def __init__(self, most: int, policy: CookiePolicy | None = None) -> None:
        super().__init__(policy)
        self._most = most
        self.is_changed = False
        self.gained: set[CookieName] = set()
        self.is_closed = False
        self._next_end = math.inf
        # By age, domains as well as their cookies.
        self._held: dict[str, dict[CookieName, None]] = {}
        self._count = 0

    def set_cookie(self, cookie: Cookie) -> None:
        """Store a cookie unless it is too long, and drop older ones where there are too many."""
        if len(cookie.name) + len(cookie.value or "") > _MAX_COOKIE:
            return
        if "." not in cookie.domain.strip("."):  # for its host alone (RFC 6265, section 5.3)
            cookie.domain = f"{cookie.domain.strip('.')}.local"
        if self.is_closed and name_of(cookie) in self._held.get(cookie.domain, {}):
            return
        jar: dict[str, dict[str, dict[str, Cookie]]] = self._cookies  # type: ignore[attr-defined]
        known = jar.get(cookie.domain, {}).get(cookie.path, {}).get(cookie.name)
        super().set_cookie(cookie)
        self.is_changed |= known is None or vars(known) != vars(cookie)
        self._next_end = min(self._next_end, cookie.expires or math.inf)
        self._note(name_of(cookie))
        if len(self._held[cookie.domain]) > self._most:
            self._drop_oldest_of(cookie.domain)
        elif self._count > self._most * _MAX_DOMAINS:
            self._drop_domain(next(iter(self._held)))

    def clear(
        self, domain: str | None = None, path: str | None = None, name: str | None = None
    ) -> None:
        """Remove cookies, such as one that a site declares to have expired."""
        if self.is_closed:
            return
        self.is_changed = True
        super().clear(domain, path, name)

    def take_ended(self) -> list[CookieName]:
        """Remove the cookies whose time is over, so that they can be gained again; return them."""
        now = int(time.time())
        if now < self._next_end:
            return []
        ended = [name_of(cookie) for cookie in self if cookie.is_expired(now)]
        for name in ended:
            self.clear(*name)
            self._held[name.domain].pop(name)
            self._count -= 1
        self._next_end = min((one.expires for one in self if one.expires), default=math.inf)
        return ended

    def _note(self, name: CookieName) -> None:
        domain = self._held[name.domain] = self._held.pop(name.domain, {})
        if name not in domain:
            self._count += 1
            self.gained.add(name)
        domain.pop(name, None)
        domain[name] = None

    def _drop_oldest_of(self, domain: str) -> None:
        names = self._held[domain]
        oldest = next(iter(names))
        del names[oldest]
        self._count -= 1
        with suppress(KeyError):  # it has expired in the meantime
            if any(name.path == oldest.path for name in names):
                super().clear(*oldest)  # also while it is closed
            else:  # its path too, since a domain may have many paths
                super().clear(domain, oldest.path)

    def _drop_domain(self, domain: str) -> None:
        self._count -= len(self._held.pop(domain))
        with suppress(KeyError):
            super().clear(domain)


def shortened(header: bytes) -> bytes:
    """Return a ``Cookie`` header cut to its first cookies, as many as servers accept."""
    if len(header) <= _MAX_HEADER:
        return header
    return header[: _MAX_HEADER + 1].rpartition(b";")[0]
