"""Find the traps of a crawl: clusters of URLs to request last, or not at all any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.pages.verdicts import DUPLICATES, KEPT
from crawler.url_rules.url_clusters import (
    CLOSED,
    LONG,
    OPEN,
    PAGES_A_LINK,
    SLOW,
    ClusterNames,
    UrlCluster,
)

if TYPE_CHECKING:
    from crawler.storage.database import Database
    from crawler.url_rules.learning.address import Address

SLOW_PRIORITY = -100
"""A priority below every other one that a crawl gives by itself."""

MAX_CLUSTERS = 20_000


class UrlTraps:
    """The table ``url_clusters``, with the clusters that were met lately in memory.

    Args:
        database: The crawl's database.
        budget: Pages that may be fetched of each cluster in a visit, 0 for any number.

    Attributes:
        reopened: Clusters that a smaller budget had closed; their requests are to be put back.
    """

    def __init__(self, database: Database, budget: int) -> None:
        self._database = database
        self._budget = budget
        self._names = ClusterNames()
        self._clusters: dict[str, UrlCluster] = {}
        self._changed: dict[int, UrlCluster] = {}
        self._hosts: set[str] = set()
        self.reopened = self._reopen()
        rows = database.read("SELECT name, state FROM url_clusters WHERE state != ?", (OPEN,))
        for name, _ in rows.fetchall():
            self._names.remember(name)
            self._hosts.add(name.partition("/")[0])
        database.before_commit.append(self._save)

    def _reopen(self) -> list[int]:
        """Open clusters that a smaller budget than the present one closed; return their numbers."""
        rows = self._database.read(
            "SELECT id FROM url_clusters WHERE state = ? AND (barren < ? OR met * ? < barren)"
            " AND (? = 0 OR fetched < ?)",
            (CLOSED, LONG, PAGES_A_LINK, self._budget, self._budget),
        ).fetchall()
        self._database.write_many(
            "UPDATE url_clusters SET state = ?, reason = NULL WHERE id = ?",
            [(OPEN, number) for (number,) in rows],
        )
        return [number for (number,) in rows]

    def __bool__(self) -> bool:
        """Return whether any cluster is not open."""
        return bool(self._hosts)

    def __contains__(self, host: object) -> bool:
        """Return whether a host has any cluster that is not open."""
        return isinstance(host, str) and self._names.host(host) in self._hosts

    def cluster(self, address: Address) -> UrlCluster:
        """Return the cluster of an address, after the learned rules."""
        name = self._names(address)
        cluster = self._clusters.pop(name, None) or self._stored(name)
        self._clusters[name] = cluster
        if len(self._clusters) > MAX_CLUSTERS:
            self._save()
            del self._clusters[next(iter(self._clusters))]
        return cluster

    def _stored(self, name: str) -> UrlCluster:
        row = self._database.read(
            "SELECT id, name, fetched, new, barren, met, recent, state, reason FROM url_clusters"
            " WHERE name = ?",
            (name,),
        ).fetchone()
        if row is not None:
            return UrlCluster(*row)
        cursor = self._database.write(
            "INSERT INTO url_clusters (name, fetched, new, barren, met, recent, state)"
            " VALUES (?, 0, 0, 0, 0, 0, ?)",
            (name, OPEN),
        )
        return UrlCluster(int(cursor.lastrowid or 0), name)

    def note(self, address: Address, verdict: str) -> str | None:
        """Take a page into account; return the former state of its cluster if it changed.

        Only a page that is fetched for the first time in a visit shows whether there is anything
        new: neither one that is unchanged since the last visit does, nor one that failed.
        """
        if verdict not in KEPT and verdict not in DUPLICATES:
            return None
        cluster = self.cluster(address)
        before = cluster.state
        changed = cluster.note(is_new=verdict in KEPT, budget=self._budget)
        self._changed[cluster.id] = cluster
        if not changed:
            return None
        self._hosts.add(cluster.name.partition("/")[0])
        return before

    def note_met(self, address: Address) -> None:
        """Count a URL that is found for the first time, and that no rule skips."""
        if address.host not in self:
            return
        cluster = self.cluster(address)
        if cluster.state != OPEN:
            cluster.met += 1
            self._changed[cluster.id] = cluster

    def closed(self, address: Address, group: bytes) -> int | None:
        """Return the number of the closed cluster for which an address is not fetched, or None."""
        if address.host not in self:
            return None
        cluster = self.cluster(address)
        if cluster.state != CLOSED or cluster.is_tried(int.from_bytes(group[4:8]), self._budget):
            return None
        return cluster.id

    def priority(self, address: Address, wanted: int) -> int:
        """Return the priority with which an address is queued."""
        if address.host not in self or self.cluster(address).state == OPEN:
            return wanted
        return min(wanted, SLOW_PRIORITY)

    def clear(self) -> None:
        """Reset the counts for another visit; slow and closed clusters stay so.

        Clusters that were closed because their budget was spent are opened: each visit has a new
        one.
        """
        self._save()
        self._clusters.clear()
        self._database.write("UPDATE url_clusters SET fetched = 0, new = 0")
        self._database.write(
            "UPDATE url_clusters SET state = ?, reason = NULL WHERE state = ?"
            " AND (barren < ? OR met * ? < barren)",
            (OPEN, CLOSED, LONG, PAGES_A_LINK),
        )

    def _save(self) -> None:
        rows = [
            (c.fetched, c.new, c.barren, c.met, c.recent, c.state, c.reason, c.id)
            for c in self._changed.values()
        ]
        self._changed.clear()
        if rows:
            self._database.write_many(
                "UPDATE url_clusters SET fetched = ?, new = ?, barren = ?, met = ?, recent = ?,"
                " state = ?, reason = ? WHERE id = ?",
                rows,
            )


__all__ = ["CLOSED", "OPEN", "SLOW", "UrlTraps"]
