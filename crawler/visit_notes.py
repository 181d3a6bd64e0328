"""What a crawl notes of a visit beside its pages, for whoever goes on with it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.storage.database import Database

_SITEMAPS = "sitemaps"
_MOVED = "moved_seeds"
NO_ROBOTS = "no_robots"
"""Key of ``meta``: JSON, hosts whose robots.txt answered that there is none, by the answer."""

MAX_NO_ROBOTS = 20
"""So many hosts are named for each reason."""


class VisitNotes:
    """Where seeds were redirected to, and how many sitemaps were asked for; in ``meta``.

    Args:
        database: That of the crawl.

    Attributes:
        after_moved_seed: Told of each seed, and where it leads, that another crawl of the same
            fleet met.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.after_moved_seed: list[Callable[[str, str], None]] = []

    def begin_visit(self) -> None:
        """Begin another visit; seeds stay moved."""
        self._database.set_meta(_SITEMAPS, "0")
        self._database.set_meta(NO_ROBOTS, "{}")

    def begin_plan(self) -> None:
        """Begin a crawl about something else."""
        self._database.set_meta(_MOVED, "{}")

    def moved_seeds(self) -> dict[str, str]:
        """Where seeds were redirected to, in this crawl."""
        found: dict[str, str] = json.loads(self._database.meta(_MOVED) or "{}")
        return found

    def note_moved_seed(self, seed: str, target: str) -> None:
        """Remember for a resumed crawl that a seed was redirected."""
        self._database.set_meta(_MOVED, json.dumps({**self.moved_seeds(), seed: target}))

    def take_moved_seed(self, seed: str, target: str) -> None:
        """As ``note_moved_seed``, of one that another crawl of the fleet met."""
        self.note_moved_seed(seed, target)
        for act in self.after_moved_seed:
            act(seed, target)

    def note_no_robots(self, host: str, reason: str) -> None:
        """Note that a host has no robots.txt, so that nothing is forbidden there."""
        found: dict[str, list[str]] = json.loads(self._database.meta(NO_ROBOTS) or "{}")
        hosts = found.setdefault(reason, [])
        if host not in hosts and len(hosts) < MAX_NO_ROBOTS:
            hosts.append(host)
            self._database.set_meta(NO_ROBOTS, json.dumps(found))

    @property
    def sitemaps(self) -> int:
        """Sitemaps that were asked for in this visit, by earlier processes as well."""
        return int(self._database.meta(_SITEMAPS) or 0)

    def count_sitemap(self) -> int:
        """Note that another sitemap is asked for; say how many there are with it."""
        count = self.sitemaps + 1
        self._database.set_meta(_SITEMAPS, str(count))
        return count
