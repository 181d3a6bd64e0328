"""Tell which URLs belong to a crawl: those near its seeds, less what the user rules out.

Scopes have names: for people, to compare two of them, and for the directory of a crawl.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

import xxhash

from crawler.urls.canonical import Canonicalizer, MalformedUrl
from crawler.urls.hosts import requestable
from crawler.urls.parts import PLAIN_HOST, PLAIN_PATH, PLAIN_PORT, shown, split
from crawler.urls.seeds import host_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tldextract import TLDExtract

    from crawler.urls.patterns import UrlPatterns

#: What a scope can be, and what it covers around each seed.
KINDS = {
    "prefix": "the folder of the seed and all below it",
    "host": "the host of the seed, at its port",
    "domain": "the registered domain of the seed with all its subdomains, at any port",
}

OUT_OF_SCOPE, DENIED, NOT_ALLOWED = "out of scope", "by deny", "by allow"
EXCLUDED, NOT_INCLUDED = "by exclude", "by include"
ON_NOFOLLOW_PAGES, MARKED_NOFOLLOW = "on pages that say nofollow", "marked nofollow"
HASH_ROUTES = "to routes behind a #"
"""Reasons that keep a URL out, as reports print them; the last three beside a scope."""

RULED_OUT = frozenset({DENIED, EXCLUDED})
"""Reasons for which a URL is not even a step of a redirect."""

_canonicalize = Canonicalizer()
# Canonical already, as most URLs are. No dot segment may hide in the path: "/3/../private" is not
# below "/3/".
_PLAIN = re.compile(rf"https?://({PLAIN_HOST})({PLAIN_PORT})({PLAIN_PATH})(?:[?#]|\Z)")
_CANONICAL = re.compile(r"https?://(?:[^@/]*@)?(\[[^\]]*\]|[^:/]*)((?::[0-9]+)?)(/.*)")
_AFTER_PATH = re.compile(r"[?#].*", re.DOTALL)


class _Place(NamedTuple):
    host: str
    origin: str
    path: str


class Scope:
    """The URLs of a crawl.

    http and https count as the same; so do different spellings of a URL. A seed is always in
    scope, whatever expressions and patterns say of it. Immutable; can be pickled.
    """

    def __init__(  # what users give, each under its name
        self,
        seeds: Sequence[str],
        kind: str = "prefix",
        allow: str | None = None,
        deny: str | None = None,
        include: str | None = None,
        exclude: str | None = None,
    ) -> None:
        """Draw the scope around the seeds.

        Args:
            seeds: URLs.
            kind: One of ``KINDS``.
            allow: Regular expression that must be found in a URL.
            deny: Regular expression that must not be found in it; stronger than ``allow``.
            include: Patterns as in gitignore, one a line, of which the last that matches must not
                begin with ``!``.
            exclude: Patterns for URLs that are left out; stronger than ``include``.

        Raises:
            ValueError: An unknown kind, a bad regular expression or pattern, in one line that
                names it.
            MalformedUrl: A seed is no URL.
        """
        if kind not in KINDS:
            raise ValueError(f"scope: {shown(kind)} is none of {', '.join(KINDS)}")
        self._allow = _compile("allow", allow)
        self._deny = _compile("deny", deny)
        self._include = _patterns("include", include)
        self._exclude = _patterns("exclude", exclude)
        self.seeds = tuple(seeds)
        self.kind = kind
        self._canonical_seeds = frozenset(map(_canonicalize, self.seeds))
        places = [_place(seed) for seed in self.seeds]
        self._folders = _folders(places)
        self._origins = frozenset(place.origin for place in places)
        # Only for the kind that needs it is the list of public suffixes read.
        hosts = {place.host for place in places} if kind == "domain" else set()
        domains = {host: registered_domain(host) for host in hosts}
        self._hosts = frozenset(domain or host for host, domain in domains.items())
        self._subdomains = tuple({f".{domain}" for domain in domains.values() if domain})

    def allows(self, url: str) -> bool:
        """Is the URL in scope? A text that is no URL is not; nothing is ever raised."""
        return self.refusal(url) is None

    @lru_cache(1024)  # noqa: B019  # a process has few scopes, and each page of a site these links
    def refusal(self, url: str) -> str | None:
        """Return what keeps a URL out, such as the scope or ``deny``; None where nothing does.

        Nothing is ever raised. Recent answers are cached, as a scope never changes.
        """
        try:
            if not self._covers(_place(url)):
                return OUT_OF_SCOPE
            refusal = self._pattern_against(url)
            return refusal if refusal and _canonicalize(url) not in self._canonical_seeds else None
        except MalformedUrl:
            return OUT_OF_SCOPE

    def with_seeds(self, seeds: Sequence[str]) -> Scope:
        """Make a scope around other seeds.

        Raises:
            MalformedUrl: A seed is no URL.
        """
        allow = self._allow.pattern if self._allow else None
        deny = self._deny.pattern if self._deny else None
        include = self._include.written if self._include else None
        exclude = self._exclude.written if self._exclude else None
        return Scope(seeds, self.kind, allow, deny, include, exclude)

    def excludes(self, url: str) -> bool:
        """Return whether a URL is left out wherever it is; of a seed it is not. Never raises."""
        if self._exclude is None:
            return False
        try:
            return self._exclude.match(url) and _canonicalize(url) not in self._canonical_seeds
        except ValueError:
            return False

    def _covers(self, place: _Place) -> bool:
        if self.kind == "host":
            return place.origin in self._origins
        if self.kind == "prefix":
            return place.path.startswith(self._folders.get(place.origin, ()))
        return place.host in self._hosts or place.host.endswith(self._subdomains)

    def _pattern_against(self, url: str) -> str | None:
        if self._deny and self._deny.search(url):
            return DENIED
        if self._exclude and self._exclude.match(url):
            return EXCLUDED
        if self._allow and not self._allow.search(url):
            return NOT_ALLOWED
        return NOT_INCLUDED if self._include and not self._include.match(url) else None


def _compile(argument: str, pattern: str | None) -> re.Pattern[str] | None:
    if pattern is None:
        return None
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(
            f"{argument}: {shown(pattern)} is not a regular expression: {error}"
        ) from None


def _patterns(argument: str, written: str | None) -> UrlPatterns | None:
    if not written:
        return None
    from crawler.urls.patterns import UrlPatterns  # noqa: PLC0415  # few crawls need its libraries

    try:
        return UrlPatterns(written)
    except ValueError as error:
        raise ValueError(f"{argument}: {error}") from None


def _place(url: str) -> _Place:
    found = _PLAIN.match(url)
    if not found:
        # The query can be long, and says nothing about the place.
        found = _CANONICAL.match(_canonicalize(_AFTER_PATH.sub("", url)))
        if not found:
            raise MalformedUrl(f"{shown(url)} has no host")
    host, port, path = found.groups()
    return _Place(host, host + port, path)


def _folders(places: list[_Place]) -> dict[str, tuple[str, ...]]:
    folders: dict[str, list[str]] = {}
    for place in places:
        folder = place.path[: place.path.rindex("/") + 1]
        folders.setdefault(place.origin, []).append(folder)
    return {origin: tuple(paths) for origin, paths in folders.items()}


@cache
def _extractor() -> TLDExtract:
    """Return what knows the suffixes of the list that the package brings; none is downloaded.

    Its private part counts too, so that the domain of someone.github.io is not all of github.io.
    """
    import tldextract  # noqa: PLC0415  # it imports requests, for a download

    return tldextract.TLDExtract(
        suffix_list_urls=(), cache_dir=None, include_psl_private_domains=True
    )


def registered_domain(host: str) -> str:
    """Return the registered domain; "" for an address, localhost and other names without one."""
    found = _extractor()(host)
    return f"{found.domain}.{found.suffix}" if found.domain and found.suffix else ""


@lru_cache(4096)
def domain_or_suffix(name: str) -> str:
    """Return the registered domain of a host name; its last two labels where the list has none.

    An IP address and a single label have neither: "".
    """
    labels = name.split(".")
    if ":" in name or labels[-1].isdigit():
        return ""
    return registered_domain(name) or (".".join(labels[-2:]) if len(labels) > 1 else "")


def moved_scope(scope: Scope, seed: str, target: str) -> Scope | None:
    """Return the scope after a seed was redirected, or None where the crawl is not to follow.

    On the same host the target takes the seed's place (``/docs`` that leads to
    ``/docs/`` means that folder, ``/3.12/`` that leads to ``/3.13/`` the newer one),
    unless that made the crawl wider: ``/app/`` that leads to ``/login`` is that page
    and not the whole host. Another host of the same registered domain (``www.``) is
    added. Another owner's site is not what the user asked for. What other seeds
    cover is in scope already, wherever it is.
    """
    others = [other for other in scope.seeds if other != seed]
    if scope.with_seeds(others).allows(target):
        return scope
    seed_parts, target_parts = urlsplit(seed), urlsplit(target)
    if seed_parts.netloc == target_parts.netloc:
        wider = _folder(seed_parts.path).startswith(_folder(target_parts.path))
        return scope if wider else scope.with_seeds([*others, target])
    if Scope([seed], kind="domain").allows(target):
        return scope.with_seeds([*scope.seeds, target])
    return None


def may_lead_back(url: str, target_url: str) -> bool:
    """Return whether a redirect out of a scope may come back: by a login, or by a page for cookies.

    Within a site it may; elsewhere where the target's query names the host it comes from.

    Raises:
        MalformedUrl: The target is none that can be asked.
    """
    host = urlsplit(url).hostname or ""
    query = unquote(urlsplit(requestable(target_url)).query).lower()
    return host in query or Scope([url], kind="domain").allows(target_url)


def is_same_place(url: str, target_url: str) -> bool:
    """Return whether a redirect only changes the scheme, or adds or drops ``www.``."""
    return _host_and_path(url) == _host_and_path(target_url)


def _host_and_path(url: str) -> tuple[str, str, str]:
    parts = urlsplit(url)
    return (parts.hostname or "").removeprefix("www."), parts.path or "/", parts.query


def _folder(path: str) -> str:
    return path.rpartition("/")[0] + "/"


_MAX_PATH = 60
"""Shorten the path in a folder's name to this many characters: a name may have 255 bytes."""

_UNFIT = re.compile(r"[^a-z0-9._-]")


def scope_name(seeds: Sequence[str], kind: str) -> str:
    """Name the URLs around seeds, so that two scopes have one name only if they cover the same.

    ``docs.python.org/3/`` is a folder, ``docs.python.org/`` a host, ``*.python.org`` a domain;
    http and https are the same. Several seeds give several names, in order, with commas.

    Raises:
        MalformedUrl: A seed is no URL.
    """
    names = {_name(seed, kind) for seed in seeds}
    # What lies in the folder of another seed adds nothing.
    wide = {name for name in names if name.endswith("/")}
    within = {name for name in wide if any(name != one and name.startswith(one) for one in wide)}
    return ", ".join(sorted(names - within))


def scope_folder(seeds: Sequence[str], kind: str) -> str:
    """Name a folder after a scope, where the folder of its host holds another one.

    The host of the first seed as ``host_folder`` names it, and its path with a plus for each
    slash: ``docs.python.org+3+library``; ``docs.python.org++host``, ``docs.python.org++domain``.
    A digest keeps scopes apart where the path had to be changed, and those of several seeds.

    Raises:
        MalformedUrl: A seed is no URL.
    """
    host, name = host_folder(seeds[0]), scope_name(seeds, kind)
    if kind == "domain":
        whole = f"{host}++domain"
        return whole if name == _name(seeds[0], kind) else f"{whole}-{_digest(name)}"
    path = _folder_of(seeds[0], kind).strip("/")
    fitted = _joined(path) if path else "+host"
    is_whole = (fitted.replace("+", "/") == path or not path) and name == _name(seeds[0], kind)
    return f"{host}+{fitted}" + ("" if is_whole else f"-{_digest(name)}")


def _name(seed: str, kind: str) -> str:
    parts = split(_canonicalize(seed))
    if kind == "domain":
        return f"*.{registered_domain(parts.host) or parts.host}"
    return parts.host + (f":{parts.port}" if parts.port else "") + _folder_of(seed, kind)


def _folder_of(seed: str, kind: str) -> str:
    """Return the path that a scope begins with."""
    if kind != "prefix":
        return "/"
    return _folder(split(_canonicalize(_AFTER_PATH.sub("", seed))).path)


def _joined(path: str) -> str:
    segments = (_UNFIT.sub("_", segment.lower()) for segment in path.split("/"))
    return "+".join(segments)[:_MAX_PATH].rstrip(".")


def _digest(name: str) -> str:
    return xxhash.xxh3_64_hexdigest(name.encode())
