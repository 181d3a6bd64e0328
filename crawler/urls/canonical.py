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
    from collections.abc import Collection, Iterable

    from crawler.urls.parts import Parts
    from crawler.urls.standard import Rule

__all__ = ["RULES", "TRIED", "VERSION", "Canonicalizer", "MalformedUrl"]

#: Raised with every change after which some URL has another canonical form.
VERSION = 2
#: All rules, in the order in which they are applied.
RULES: tuple[Rule[str] | Rule[Parts], ...] = TEXT_RULES + PARTS_RULES

#: Rules that no standard promises: they are tried on each host.
TRIED: tuple[Rule[Parts], ...] = tuple(rule for rule in PARTS_RULES if rule.is_tried)

_CACHED_KEYS = 16_384
_EMPTY_QUERY = "empty_query"
_TRIED_NAMES = frozenset(rule.name for rule in TRIED)
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
    server that keeps to the standards can tell them apart, or if they differ in no more than the
    order of arguments or a known tracking or session parameter. Can be pickled.

    URLs that differ by those last rules are variants of one page until they prove to be pages of
    their own: then ``separate`` gives each its exact form, in which only standards are applied.
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
        self._tried = [(rule.name, rule.apply) for rule in rules if rule.is_tried]
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
        self._cached_exact = lru_cache(_CACHED_KEYS)(self._exact)
        self._others: dict[frozenset[str], Canonicalizer] = {}
        self._separate: set[bytes] = set()
        self._pages_apart: set[bytes] = set()  # the keys by the rules of what is separate

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
        if self._pages_apart and self.known_as(url).key in self._separate:
            return self.exact(url)
        return self._merged(url)

    def _merged(self, url: str) -> str:
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

    def key_of(self, url: str | None) -> bytes:
        """Digest the canonical URL as ``key`` does; nothing where it is no URL."""
        try:
            return b"" if url is None else self.key(url)
        except MalformedUrl:
            return b""

    def named(self, url: str) -> tuple[str, bytes]:
        """Return the canonical URL and its key; what is no URL as it is, without a key."""
        key = self.key_of(url)
        return (self(url) if key else url), key

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
        known = self._cached(url) if len(url) <= _CACHED_CHARACTERS else self._known(url)
        return self._apart(url, known) if known.key in self._pages_apart else known

    def separate(self, variants: Iterable[tuple[bytes, bytes]]) -> None:
        """Let variants be pages of their own.

        Args:
            variants: The ``variant_key`` of each, and the key that all rules give it: only URLs
                with such a key are looked at again.
        """
        for key, page in variants:
            self._separate.add(key)
            self._pages_apart.add(page)

    def _apart(self, url: str, known: Known) -> Known:
        key = self.variant_key(url)
        return Known(key, self.exact(url) == url) if key in self._separate else known

    def is_separate(self, key: bytes) -> bool:
        """Return whether a key is that of a variant that is a page of its own."""
        return key in self._separate

    def exact(self, url: str) -> str:
        """Make the canonical URL by standards alone, without the rules that are tried.

        Raises:
            MalformedUrl: It is no http or https URL with a host.
        """
        return self._exact_of(url)[0]

    def variant_key(self, url: str) -> bytes:
        """Digest the exact form of a URL: the key of a variant that is a page of its own.

        Raises:
            MalformedUrl: It is no http or https URL with a host.
        """
        return self._exact_of(url)[1]

    def _exact_of(self, url: str) -> tuple[str, bytes]:
        return self._exact(url) if len(url) > _CACHED_CHARACTERS else self._cached_exact(url)

    def _exact(self, url: str) -> tuple[str, bytes]:
        exact = self.without(_TRIED_NAMES)._merged(url)
        return exact, xxhash.xxh3_128_digest(b"variant\0" + exact.encode())

    def without(self, names: Collection[str]) -> Canonicalizer:
        """Return the canonicalizer with some more rules switched off, and nothing separated."""
        wanted = frozenset(self._disabled).union(names)
        if wanted not in self._others:
            self._others[wanted] = Canonicalizer(wanted)
        return self._others[wanted]

    def parting(self, url: str, other: str) -> tuple[str, ...]:
        """Return the names of the tried rules that are needed to make two URLs one.

        None is where several do the same: ``?sid=1&a=2`` and ``?a=2&sid=1`` are one by the order of
        arguments and by the name of a session.

        Raises:
            MalformedUrl: One is no http or https URL with a host.
        """
        names = self._changing(url) | self._changing(other)
        if len(names) == 1:
            return tuple(names)
        needed = [
            name
            for name in names
            if self.without([name])._merged(url) != self.without([name])._merged(other)
        ]
        return tuple(sorted(needed))

    def sufficient(self, url: str, other: str) -> tuple[str, ...]:
        """Return the names of the tried rules of which each one alone makes two URLs one.

        Raises:
            MalformedUrl: One is no http or https URL with a host.
        """
        names = {name for name, _ in self._tried}
        found = []
        for name in sorted(self._changing(url) | self._changing(other)):
            alone = self.without(names - {name})
            if alone._merged(url) == alone._merged(other):
                found.append(name)
        return tuple(found)

    def _changing(self, url: str) -> set[str]:
        """Return the names of the tried rules that change a URL, alone or after the others."""
        before = parts = split(self.exact(url))
        names = set()
        for name, apply in self._tried:
            changed = apply(parts)
            if changed is not parts or apply(before) is not before:
                names.add(name)
            parts = changed
        if before.query:  # which other rules have emptied
            names.discard(_EMPTY_QUERY)
        return names

    def __reduce__(self) -> tuple[type[Canonicalizer], tuple[tuple[str, ...]]]:
        """Pickle the names: a cache cannot cross to another process."""
        return Canonicalizer, (self._disabled,)

    def _known(self, url: str) -> Known:
        canonical = self._merged(url)
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
