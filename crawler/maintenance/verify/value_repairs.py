"""Repair single values, and disagreements of two tables on one page."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from crawler.maintenance.verify import column_checks as columns
from crawler.maintenance.verify import repeat_checks as repeats
from crawler.storage import meta_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import Finding
    from crawler.maintenance.verify.queueing import QueueAgain
    from crawler.storage.database import Database

_DUE_NOW = """
INSERT OR IGNORE INTO known
SELECT key, max(visit, seen_visit), 'unchanged', visit, NULL, NULL, NULL, NULL, 0, 0, 0, 86400.0, ?
FROM pages WHERE id = ?
"""


class ValueMender:
    """Repairs values that are wrong by themselves.

    Args:
        directory: Crawl directory that was checked.
        database: Its database, for writing.
        again: Factory of the queue for URLs, which needs repaired values.
    """

    def __init__(
        self, directory: CrawlDirectory, database: Database, again: Callable[[], QueueAgain]
    ) -> None:
        self._directory = directory
        self._database = database
        self._again = again

    def mend(self, finding: Finding) -> str:
        """Repair a finding of ``VALUE_RULES``; return a report."""
        return _ACTS[finding.rule](self, finding)

    def _put_right(self, finding: Finding) -> str:
        rows = 0
        for column in (*columns.typed_columns(self._database.read), *columns.COLUMNS):
            act = f"UPDATE {column.table} SET {column.right}"
            if column.right is None:
                act = f"DELETE FROM {column.table}"
            rows += self._database.write(f"{act} WHERE {column.wrong}").rowcount
        self._again().requests.line_up()
        return f"values put right: {rows:,}"

    def _compute_keys(self, finding: Finding) -> str:
        wrong = [
            (canonical_url, key, page_id)
            for page_id, _, canonical_url, key in columns.wrong_keys(self._directory)
        ]
        sql = "UPDATE pages SET canonical_url = ?, key = ? WHERE id = ?"
        self._database.write_many(sql, wrong)
        return f"captures given the keys of their URLs: {len(wrong):,}"

    def _queue_lost(self, finding: Finding) -> str:
        queued = 0
        lost = self._database.read(columns.KNOWN_ONLY).fetchall()
        for key, url in lost:
            self._database.write("DELETE FROM known WHERE key = ?", (key,))
            if url and self._directory.plan is not None:
                queued += self._again().push_url(url, key, 0)
        return f"pages without a capture forgotten: {len(lost):,}, queued again: {queued:,}"

    def _let_be_due(self, finding: Finding) -> str:
        rows = [(time.time(), page_id) for page_id in finding.ids]
        self._database.write_many(_DUE_NOW, rows)
        return f"pages that are due now: {len(rows):,}"

    def _drop_links(self, finding: Finding) -> str:
        rows = [(number,) for number in columns.unreadable_links(self._database.read)]
        self._database.write_many("DELETE FROM links WHERE id = ?", rows)
        return f"lists of links taken away: {len(rows):,}"

    def _forget_redirects(self, finding: Finding) -> str:
        rows = [(key,) for key in columns.wrong_redirects(self._directory)]
        self._database.write_many("DELETE FROM redirects WHERE key = ?", rows)
        return f"redirects forgotten: {len(rows):,}"

    def _derive_meta(self, finding: Finding) -> str:
        wrong = columns.wrong_meta(self._directory)
        for name, value in wrong.items():
            self._database.set_meta(name, value)
        return f"values of the crawl derived: {', '.join(wrong)}"

    def _forget_parameters(self, finding: Finding) -> str:
        rows = [(number,) for number in repeats.unreadable_parameters(self._database.read)]
        self._database.write_many("DELETE FROM parameters WHERE id = ?", rows)
        self._database.write_many("UPDATE pages SET parameters = NULL WHERE parameters = ?", rows)
        # The next crawl takes them from its settings again if no others hold.
        self._database.write("DELETE FROM meta WHERE name = ?", (meta_names.SETTINGS_PARAMETERS,))
        return f"parameters forgotten: {len(rows):,}"


_ACTS: dict[str, Callable[[ValueMender, Finding], str]] = {
    columns.META: ValueMender._derive_meta,
    repeats.CHOSEN: ValueMender._forget_parameters,
    columns.VALUES: ValueMender._put_right,
    columns.KEYS: ValueMender._compute_keys,
    columns.LOST: ValueMender._queue_lost,
    columns.UNKNOWN: ValueMender._let_be_due,
    columns.LINKS: ValueMender._drop_links,
    columns.REDIRECTS: ValueMender._forget_redirects,
}

VALUE_RULES = tuple(_ACTS)
"""Rules that can be repaired here, in the order of the repairs."""
