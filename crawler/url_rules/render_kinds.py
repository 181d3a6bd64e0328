"""Learn which kinds of URLs have pages that show more in a browser than came.

A kind is a pattern of host, path and arguments (``ClusterNames``). Of each kind
a few pages are tried, fewer of a host where none showed more; counts are written with the pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from crawler.url_rules.kinds import MORE_IN_BROWSER, ClusterNames, Kind, Kinds, stored_kinds
from crawler.url_rules.learning.address import Address

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

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

LATER_PAGE: Final = 50
"""This page of a host that shows nothing more is tried."""

PAGES_OF_A_SAMPLE: Final = 2_000
"""One page in this many of a host that shows nothing more is tried."""


@dataclass(slots=True)
class RenderKind(Kind):
    """A kind of URLs, or a whole host, that may show more in a browser.

    A gain is a page that showed more there.

    Attributes:
        met: Pages with scripts that showed something as they came.
        tried: Those that were shown in the browser; of a host also those that were unclear.
        unclear: Further ones that showed no more, and could not be shown whole.
    """

    def counts(self) -> dict[str, int]:
        """Return the counts by the names that reports have for them."""
        return {
            "pages": self.met,
            "tried": self.tried,
            "gained": self.gained,
            "unclear": self.unclear,
        }

    @property
    def needs_browser(self) -> bool:
        """Whether all pages of the kind are shown in the browser."""
        return self.lately_gained >= 2 and 2 * self.lately_gained >= self.lately_tried

    @property
    def may_need_browser(self) -> bool:
        """Whether pages of the kind are tried until it is decided, or always."""
        return self.needs_browser or (self.gained > 0 and self.tried < MIN_TRIED)

    @property
    def is_unclear(self) -> bool:
        """Whether its pages may show more, and the browser could seldom show them whole."""
        return self.unclear > 0 and self.unclear >= self.tried - self.gained

    def is_due(self, host: RenderKind, *, has_place: bool) -> bool:
        """Return whether the last page counted is to be tried.

        Args:
            host: What was tried of all kinds of its host.
            has_place: Whether the page has a sign that a script may fill it.
        """
        if self.may_need_browser or not host.tried or host.met <= FIRST_OF_HOST:
            return True
        if has_place and not self.tried and self.unclear < MAX_UNCLEAR:
            return True
        if host.tried - host.gained >= VAIN_TRIES + host.met // PAGES_OF_A_TRY:
            return False
        if has_place and self.tried < FIRST_OF_KIND:
            return True
        if host.gained:
            return self.is_sampled(MORE_IN_BROWSER, self.met)
        return host.met == LATER_PAGE or host.met % PAGES_OF_A_SAMPLE == 0


class RenderKinds(Kinds[RenderKind]):
    """The kinds of one crawl that may show more in a browser, and their hosts, by name.

    Args:
        database: The database, with whose commits the counts are written.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database, MORE_IN_BROWSER, RenderKind)
        self._names = ClusterNames()
        for kind in self:
            if "/" in kind.name:  # else it is a host
                self._names.remember(kind.name)

    def name(self, canonical_url: str) -> str:
        """Return the name of the kind of a URL, which may become more general with time."""
        return self._names(Address.parse(canonical_url))

    def host(self, name: str) -> RenderKind:
        """Return what was tried of the host of a kind. Complexity: O(1)."""
        return self[name.partition("/")[0]]

    def is_due(self, name: str, *, has_place: bool) -> bool:
        """Count a page of a kind, and return whether it is to be tried. Complexity: O(1)."""
        host = self.host(name)
        for one in (name, host.name):
            self.note_met(one)
        return self[name].is_due(host, has_place=has_place)

    def note(self, name: str, *, is_gain: bool, is_whole: bool = True) -> None:
        """Note what a try gave.

        Args:
            name: The name of the kind.
            is_gain: Whether the browser showed more.
            is_whole: Whether nothing kept it from showing all.
        """
        self.note_try(self.host(name).name, is_gain=is_gain)
        if is_gain or is_whole:
            self.note_try(name, is_gain=is_gain)
        else:
            self[name].unclear += 1
            self.note_change(self[name])


def read_kinds(read: Callable[..., sqlite3.Cursor]) -> dict[str, RenderKind]:
    """Return the kinds of a crawl by name, those with most tries first; hosts have no slash."""
    stored = stored_kinds(read, MORE_IN_BROWSER, RenderKind)
    found = {kind.name: kind for kind in stored if "/" in kind.name}
    return dict(sorted(found.items(), key=lambda item: (-item[1].tried, item[0])))
