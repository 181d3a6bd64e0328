"""Store and report of which hosts rel=canonical is not trusted."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.storage import meta_names
from crawler.storage.database import meta_of
from crawler.url_rules.learning.canonicals import Untrusted

if TYPE_CHECKING:
    import sqlite3

    from crawler.storage.database import Database
    from crawler.url_rules.learning.learner import RuleLearner


class CanonicalTrust:
    """Stores what a learner finds out of the canonical URLs of hosts.

    Args:
        database: The crawl's database.
        learner: The learner, which is told what an earlier process found out.
    """

    def __init__(self, database: Database, learner: RuleLearner) -> None:
        self._database = database
        self._untrusted = learner.untrusted
        self._untrusted.update(_read(database.meta(meta_names.UNTRUSTED)))
        self._stored = dict(self._untrusted)

    def save(self) -> None:
        """Store the hosts if they are others than before."""
        if self._untrusted != self._stored:
            self._stored = dict(self._untrusted)
            self._database.set_meta(meta_names.UNTRUSTED, json.dumps(self._untrusted))


@dataclass(frozen=True, slots=True)
class UntrustedHost:
    """A host whose pages declare canonical URLs of other texts.

    Attributes:
        texts: Number of texts whose pages did when that was found out.
        page: One of these pages.
        named: The URL that it names.
        is_one: Whether all of them name that URL.
    """

    host: str
    texts: int
    page: str
    named: str
    is_one: bool

    def __str__(self) -> str:
        if self.is_one:
            proof = f"pages of {self.texts} different texts name {self.named}"
        else:
            proof = (
                f"pages of {self.texts} texts name URLs of other texts, such as {self.page}, "
                f"which names {self.named}"
            )
        return f"rel=canonical of {self.host} is not trusted: {proof}"


def untrusted_hosts(connection: sqlite3.Connection) -> tuple[UntrustedHost, ...]:
    """Read the hosts of a crawl whose rel=canonical counts for nothing, also while it runs."""
    found = _read(meta_of(connection.execute, meta_names.UNTRUSTED))
    return tuple(UntrustedHost(host, *found[host]) for host in sorted(found))


def _read(packed: str | None) -> dict[str, Untrusted]:
    known = json.loads(packed or "{}")
    return {host: Untrusted(*evidence) for host, evidence in known.items()}
