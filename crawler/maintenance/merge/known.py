"""What is known of the URLs that any of the crawls asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.maintenance.merge.merged_crawls import Source
    from crawler.maintenance.verify.finding import Watch
    from crawler.storage.database import Database

_ROWS = """
SELECT key, visit + ?1, outcome, since + ?1, reason, moved_to, distance, similarity, is_near,
       not_sent, was_away, interval_secs, due_at
FROM known
"""
_HAS_NEWEST = "SELECT 1 FROM scratch.captures WHERE key = ? AND latest = 1 AND +source = ?"
_PUT = """
INSERT INTO known VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET visit = excluded.visit, outcome = excluded.outcome,
    since = excluded.since, reason = excluded.reason, moved_to = excluded.moved_to,
    distance = excluded.distance, similarity = excluded.similarity, is_near = excluded.is_near,
    not_sent = excluded.not_sent, was_away = excluded.was_away,
    interval_secs = excluded.interval_secs, due_at = excluded.due_at
WHERE excluded.due_at > known.due_at
"""


def merge_known(database: Database, sources: Sequence[Source], watch: Watch) -> None:
    """Copy what became of each URL, as the crawl has it whose capture is the newest.

    Complexity: O(URLs * log URLs).
    """
    for is_newest in (True, False):
        for source in sources:
            watch.begin(f"URLs of {source.folder}", source.count("known"))
            rows = _rows(database, source, watch, is_newest=is_newest)
            # Of URLs without a page, such as redirects, the last word counts.
            sql = _PUT if is_newest else _PUT.replace("excluded.due_at > known", _NOBODY_HAS)
            database.write_many(sql, rows)
            database.commit()


_NOBODY_HAS = (
    "NOT EXISTS (SELECT 1 FROM pages WHERE pages.key = known.key) AND excluded.due_at > known"
)


def _rows(
    database: Database, source: Source, watch: Watch, *, is_newest: bool
) -> Iterator[tuple[object, ...]]:
    for row in source.connection.execute(_ROWS, (source.shift,)):
        watch.advance()
        found = database.read(_HAS_NEWEST, (row[0], source.number)).fetchone()
        if (found is not None) == is_newest:
            yield row
