"""The canonical URL: the key by which two URLs are the same page. Never the URL requested."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import xxhash

from crawler.urls.hosts import check_host
from crawler.urls.parts import PLAIN_HOST, PLAIN_PATH, PLAIN_PORT, MalformedUrl, join, split
from crawler.urls.standard import PARTS_RULES, TEXT_RULES

if TYPE_CHECKING:
    from collections.abc import Collection

    from crawler.urls.parts import Parts
    from crawler.urls.standard import Rule

__all__ = ["RULES", "VERSION", "Canonicalizer", "MalformedUrl"]

#: Raised with every change after which some URL has another canonical form.
VERSION = 1
#: All rules, in the order in which they are applied.
RULES: tuple[Rule[str] | Rule[Parts], ...] = TEXT_RULES + PARTS_RULES

_CACHED_KEYS = 16_384
_CACHED_CHARACTERS = 500  # so that the cache is bounded in bytes too
# Most links: nothing to do but to drop the fragment, and to look at a query.
_PLAIN = re.compile(
    rf"(https?://{PLAIN_HOST}{PLAIN_PORT}{PLAIN_PATH})(?:\?([!\"$-~]*))?(?:#[\x00-\x7f]*)?"
)


class Known(NamedTuple):
    """The key of a URL in a crawl.

    Attributes:
        key: The digest of the canonical URL, 16 bytes.
        is_canonical: Whether the URL is its own canonical form.
    """

    key: bytes
    is_canonical: bool


class Canonicalizer:
    """Bring a URL to its canonical form by the rules that are switched on.

    Pure and idempotent: a canonical URL is its own canonical form. Two URLs share one only if no
    server that keeps to the standards can tell them apart, or if they differ in no more than a
    known tracking or session parameter. Can be pickled.
    """

    def __init__(self, disabled: Collection[str] = ()) -> None:
        """Switch rules off by name.

        Raises:
            ValueError: No rule has that name.
        """
        known = [rule.name for rule in RULES]
        for name in disabled:
            if name not in known:
                raise ValueError(f"no URL rule is called {name!r}; there are {', '.join(known)}")
        self._disabled = tuple(name for name in known if name in disabled)
        self._text = [rule.apply for rule in TEXT_RULES if rule.name not in disabled]
        rules = [rule for rule in PARTS_RULES if rule.name not in disabled]
        removals = [rule for rule in rules if rule.arguments]
        start = rules.index(removals[0]) if removals else len(rules)
        self._first = [rule.apply for rule in rules[:start]]
        self._removals = [rule.apply for rule in removals]
        self._last = [rule.apply for rule in rules[start + len(removals) :]]
        self._of_query = [
            [rule.on_query for rule in some if rule.on_query is not None]
            for some in (rules[:start], removals, rules[start + len(removals) :])
        ]
        names = "|".join(rule.arguments for rule in removals) or "(?!)"
        self._removable = re.compile(f"(?:^|&)(?:{names})=", re.IGNORECASE | re.ASCII)
        self._cached = lru_cache(_CACHED_KEYS)(self._known)

    @property
    def version(self) -> str:
        """The version of the rules and the names of those switched off, as every key needs it."""
        return f"{VERSION} without {', '.join(self._disabled)}" if self._disabled else str(VERSION)

    @classmethod
    def of_version(cls, version: str) -> Canonicalizer | None:
        """Return the canonicalizer of a version as ``version`` says it, or None of another one."""
        _, _, disabled = version.partition(" without ")
        try:
            found = cls(disabled.split(", ") if disabled else ())
        except ValueError:
            return None
        return found if found.version == version else None

    def __call__(self, url: str) -> str:
        """Make the canonical URL.

        Raises:
            MalformedUrl: It is no http or https URL with a host. Nothing else is ever raised.

        Complexity: linear in the length of the URL.
        """
        plain = _PLAIN.fullmatch(url)
        if plain is None or "fragment" in self._disabled:
            return self._by_rules(url)
        address, query = plain.groups()
        return str(address) if query is None else f"{address}{self._marked_query(query)}"

    def key(self, url: str) -> bytes:
        """Digest the canonical URL: 16 bytes, xxh3-128 of its UTF-8.

        Raises:
            MalformedUrl: It is no http or https URL with a host.
        """
        return self.known_as(url).key

    def description_key(self, url: str) -> bytes:
        """Digest the canonical URL of a file that is only read for the pages that it names.

        Raises:
            MalformedUrl: It is no http or https URL with a host.
        """
        return xxhash.xxh3_128_digest(b"description\0" + self.key(url))

    def known_as(self, url: str) -> Known:
        """Digest the canonical URL, and return whether the URL is canonical itself.

        Raises:
            MalformedUrl: It is no http or https URL with a host.
        """
        return self._known(url) if len(url) > _CACHED_CHARACTERS else self._cached(url)

    def __reduce__(self) -> tuple[type[Canonicalizer], tuple[tuple[str, ...]]]:
        """Pickle the names: a cache cannot cross to another process."""
        return Canonicalizer, (self._disabled,)

    def _known(self, url: str) -> Known:
        canonical = self(url)
        return Known(xxhash.xxh3_128_digest(canonical.encode()), canonical == url)

    def _marked_query(self, query: str) -> str:
        """Return the canonical query of a URL that needs no other change, with its mark."""
        first, removals, last = self._of_query
        for change in first:
            query = change(query)
        if self._removable.search(query):
            for change in removals:
                query = change(query)
        for change in last:
            query = change(query)
        return "" if not query and "empty_query" not in self._disabled else f"?{query}"

    def _by_rules(self, url: str) -> str:
        for rule in self._text:
            url = rule(url)
        parts = split(url)
        for apply in self._first:
            parts = apply(parts)
        if parts.query and self._removable.search(parts.query):
            for apply in self._removals:
                parts = apply(parts)
        for apply in self._last:
            parts = apply(parts)
        check_host(parts.host)
        return join(parts)
