"""Learn which kinds of URLs have pages that show more in a browser than came.

A kind is a pattern of host, path and arguments (``crawler.url_rules.cluster_names``). Of each kind
a few pages are tried, fewer of a host where none showed more; counts are written with the pages.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from crawler.storage import meta_names
from crawler.storage.database import meta_of
from crawler.url_rules.cluster_names import ClusterNames
from crawler.url_rules.learning.address import Address

if TYPE_CHECKING:
    import sqlite3

    from crawler.storage.database import Database

FIRST_OF_HOST: Final = 2
"""The first pages of a host that are tried, whatever their kind."""

FIRST_OF_KIND: Final = 2
"""Pages of a kind that are tried where they have a place to fill."""

VAIN_TRIES: Final = 5
"""Tries of a host that may show nothing more, and one more of each ``PAGES_OF_A_TRY`` pages. The
first of a kind with a place to fill stands above it."""

MAX_UNCLEAR: Final = 3
"""Tries of a kind that could not be shown whole, before it has had one that was."""

PAGES_OF_A_TRY: Final = 100

MIN_TRIED: Final = 4
"""A kind of which one page showed more is decided after this many."""

SAMPLED_OF: Final = 80
"""Of a kind that shows nothing more, one page in so many is tried, if others of its host do."""

LATER_PAGE: Final = 50
"""This page of a host that shows nothing more is tried."""

PAGES_OF_A_SAMPLE: Final = 2_000
"""One page in so many of a host that shows nothing more is tried."""

WINDOW: Final = 40
"""The counts of a kind are halved at this many tries, since a site may change."""

MAX_KINDS: Final = 2_000
"""Pages of further kinds are of one kind of their host, as long as that is one of these."""


class HostTries(NamedTuple):
    """The tries of a host in this process.

    Attributes:
        pages: Pages of all its kinds.
        vain: Tries that showed nothing more.
        gained: Tries that showed more.
    """

    pages: int = 0
    vain: int = 0
    gained: int = 0

    @property
    def is_untried(self) -> bool:
        """Whether no try of the host says anything of its other pages."""
        return not (self.vain or self.gained)


class RenderKind(NamedTuple):
    """Counts of a kind of URLs.

    Attributes:
        pages: Pages with scripts that showed something as they came.
        tried: Those that were shown in the browser, lately.
        gained: Those of them that showed more there.
        unclear: Further ones that showed no more, and could not be shown whole.
    """

    pages: int = 0
    tried: int = 0
    gained: int = 0
    unclear: int = 0

    @property
    def needs_browser(self) -> bool:
        """Whether all pages of the kind are shown in the browser."""
        return self.gained >= 2 and 2 * self.gained >= self.tried

    @property
    def may_need_browser(self) -> bool:
        """Whether pages of the kind are tried until it is decided, or always."""
        return self.needs_browser or (self.gained > 0 and self.tried < MIN_TRIED)

    @property
    def is_unclear(self) -> bool:
        """Whether its pages may show more, and the browser could seldom show them whole."""
        return self.unclear > 0 and self.unclear >= self.tried - self.gained

    def is_due(self, host: HostTries, *, has_place: bool) -> bool:
        """Return whether the last page counted is to be tried.

        Args:
            host: What was tried of all kinds of its host.
            has_place: Whether the page has a sign that a script may fill it.
        """
        if self.may_need_browser or host.is_untried or host.pages <= FIRST_OF_HOST:
            return True
        if has_place and not self.tried and self.unclear < MAX_UNCLEAR:
            return True
        if host.vain >= VAIN_TRIES + host.pages // PAGES_OF_A_TRY:
            return False
        if has_place and self.tried < FIRST_OF_KIND:
            return True
        if host.gained:
            return self.pages % SAMPLED_OF == 0
        return host.pages == LATER_PAGE or host.pages % PAGES_OF_A_SAMPLE == 0

    def with_try(self, *, is_gain: bool, is_whole: bool = True) -> RenderKind:
        """Return the counts after one more try.

        Args:
            is_gain: Whether the browser showed more.
            is_whole: Whether nothing kept it from showing all.
        """
        if not is_gain and not is_whole:
            counted = self._replace(unclear=self.unclear + 1)
        else:
            counted = self._replace(tried=self.tried + 1, gained=self.gained + is_gain)
        if counted.tried + counted.unclear < WINDOW:
            return counted
        return counted._replace(
            tried=counted.tried // 2, gained=counted.gained // 2, unclear=counted.unclear // 2
        )


class RenderKinds:
    """The kinds of one crawl, in the table ``meta``.

    Args:
        database: The database, with whose commits the counts are written.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kinds = _parsed(database.meta(meta_names.RENDER_KINDS))
        self._names = ClusterNames()
        self._hosts: dict[str, HostTries] = {}
        for name, kind in self._kinds.items():
            self._names.remember(name)
            self._count(name, kind.pages, kind.tried - kind.gained, kind.gained)
        self._is_changed = False
        database.before_commit.append(self._write)

    def name(self, canonical_url: str) -> str:
        """Return the name of the kind of a URL, which may become more general with time."""
        name = self._names(Address.parse(canonical_url))
        if name in self._kinds or len(self._kinds) < MAX_KINDS:
            return name
        host = f"{name.partition('/')[0]}/"
        return host if host in self._kinds or len(self._kinds) < 2 * MAX_KINDS else ""

    def kind(self, name: str) -> RenderKind:
        """Return the counts of a kind. Complexity: O(1)."""
        return self._kinds.get(name, RenderKind())

    def is_due(self, name: str, *, has_place: bool) -> bool:
        """Count a page of a kind, and return whether it is to be tried. Complexity: O(1)."""
        kind = self.kind(name)
        kind = self._kinds[name] = kind._replace(pages=kind.pages + 1)
        self._is_changed = True
        return kind.is_due(self._count(name, 1), has_place=has_place)

    def note(self, name: str, *, is_gain: bool, is_whole: bool = True) -> None:
        """Note what a try gave."""
        self._kinds[name] = self.kind(name).with_try(is_gain=is_gain, is_whole=is_whole)
        self._count(name, 0, int(not is_gain), int(is_gain))
        self._is_changed = True

    def host(self, name: str) -> HostTries:
        """Return what was tried of the host of a kind. Complexity: O(1)."""
        return self._hosts.get(name.partition("/")[0], HostTries())

    def _count(self, name: str, pages: int, vain: int = 0, gained: int = 0) -> HostTries:
        counts = zip(self.host(name), (pages, vain, gained), strict=True)
        counted = self._hosts[name.partition("/")[0]] = HostTries(*map(sum, counts))
        return counted

    def _write(self) -> None:
        if self._is_changed:
            self._is_changed = False
            self._database.set_meta(meta_names.RENDER_KINDS, json.dumps(self._kinds))


def read_kinds(connection: sqlite3.Connection) -> dict[str, RenderKind]:
    """Return the kinds of a crawl by name, those with most tries first."""
    found = _parsed(meta_of(connection.execute, meta_names.RENDER_KINDS))
    return dict(sorted(found.items(), key=lambda item: (-item[1].tried, item[0])))


def _parsed(value: str | None) -> dict[str, RenderKind]:
    counts: dict[str, list[int]] = json.loads(value or "{}")
    return {name: RenderKind(*count) for name, count in counts.items()}
