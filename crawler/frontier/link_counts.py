"""Count what links of each kind led to: URLs that were found by them first, answers, new pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from crawler.frontier.file_links import GUESSES_ASIDE
from crawler.storage import meta_names
from crawler.storage.database import meta_of

if TYPE_CHECKING:
    import sqlite3

    from crawler.storage.database import Database


class LinkCount(NamedTuple):
    """Counts of what the links of a kind led to.

    Attributes:
        found: URLs that a link of the kind was the first to lead to, within the scope.
        fetched: Those of them that were answered.
        new: Those whose page is kept.
        aside: URLs that are not requested, since too few of their kind led to a page.
    """

    found: int = 0
    fetched: int = 0
    new: int = 0
    aside: int = 0


class LinkCounts:
    """Counts by the kind of a link, in the table ``meta``.

    They are written with what they count: in the same transaction.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        stored = _stored(database.meta(meta_names.LINK_COUNTS))
        self._counts = {kind: list(count[:3]) for kind, count in stored.items()}
        self._is_changed = False
        database.before_commit.append(self._write)

    def note_found(self, kind: str) -> None:
        self._of(kind)[0] += 1

    def note_answer(self, kind: str, *, is_new: bool) -> None:
        count = self._of(kind)
        count[1] += 1
        count[2] += is_new

    def _of(self, kind: str) -> list[int]:
        self._is_changed = True
        return self._counts.setdefault(kind, [0, 0, 0])

    def _write(self) -> None:
        if self._is_changed:
            self._is_changed = False
            self._database.set_meta(meta_names.LINK_COUNTS, json.dumps(self._counts))


def read_links(connection: sqlite3.Connection) -> dict[str, LinkCount]:
    """Return the counts of a crawl by kind, those with most URLs first."""
    found = _stored(meta_of(connection.execute, meta_names.LINK_COUNTS))
    for kind, aside in connection.execute(GUESSES_ASIDE):
        found[kind] = found.get(kind, LinkCount())._replace(aside=aside)
    return dict(sorted(found.items(), key=lambda item: -item[1].found))


def _stored(value: str | None) -> dict[str, LinkCount]:
    counts: dict[str, list[int]] = json.loads(value or "{}")
    return {kind: LinkCount(*count) for kind, count in counts.items()}
