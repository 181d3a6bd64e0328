"""Repair the queue and the learned URL rules: each repair takes a finding and reports on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.maintenance.verify import queue_checks as frontier
from crawler.maintenance.verify import rule_checks as url_rules
from crawler.maintenance.verify.finding import NoWatch
from crawler.maintenance.verify.queueing import encoded_request
from crawler.storage.states import SKIPPED, TODO
from crawler.url_rules.regrouping import note_pending
from crawler.url_rules.rule_store import RuleStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import Finding
    from crawler.maintenance.verify.queueing import QueueAgain
    from crawler.storage.database import Database


class QueueMender:
    """Repairs queued requests and their learned rules.

    Args:
        directory: Crawl directory that was checked.
        database: Its database, for writing.
        again: Queue for requests that are made again.
    """

    def __init__(self, directory: CrawlDirectory, database: Database, again: QueueAgain) -> None:
        self._directory = directory
        self._database = database
        self._again = again

    def mend(self, finding: Finding) -> str:
        """Repair a finding of ``QUEUE_RULES``; return a report."""
        return _ACTS[finding.rule](self, finding)

    def _queue_stuck(self, finding: Finding) -> str:
        stuck = list(frontier.unfetchable(self._directory))
        for number, url, packed in stuck:
            sql = "SELECT key, depth FROM requests WHERE id = ?"
            row = self._database.read(sql, (number,)).fetchone()
            if row is not None:  # not replaced meanwhile
                self._database.write("DELETE FROM requests WHERE id = ?", (number,))
                parts = encoded_request(row[1]) if packed is None else packed
                self._again.push_encoded(url, parts, *row)
        return f"requests queued again: {len(stuck):,}"

    def _end_leases(self, finding: Finding) -> str:
        return f"requests put back into the queue: {finding.count:,}"

    def _line_up(self, finding: Finding) -> str:
        self._again.requests.line_up()
        return "lined up the hosts of the queue anew"

    def _see(self, finding: Finding) -> str:
        """Give each request the key of its URL, or none if another one has it."""
        wrong = [(key, number) for number, _, key in frontier.unseen(self._directory, NoWatch())]
        without = [(number,) for _, number in wrong]
        self._database.write_many("UPDATE requests SET key = NULL WHERE id = ?", without)
        self._database.write_many("UPDATE OR IGNORE requests SET key = ? WHERE id = ?", wrong)
        return f"queued requests given the keys of their URLs: {len(wrong):,}"

    def _rule(self, finding: Finding) -> str:
        """Put back requests that no rule skipped; remove the rule of those that are not skipped."""
        self._database.write(
            f"UPDATE requests SET rule = NULL, group_digest = NULL WHERE state != {SKIPPED}"
        )
        self._database.write(
            f"UPDATE requests SET state = {TODO}, group_digest = NULL"
            f" WHERE state = {SKIPPED} AND rule IS NULL"
        )
        self._again.requests.line_up()
        return f"requests whose rule was put right: {finding.count:,}"

    def _forget_rules(self, finding: Finding) -> str:
        rows = [(number,) for number in url_rules.unreadable(self._directory)]
        self._database.write_many("DELETE FROM url_rules WHERE id = ?", rows)
        self._put_back(url_rules.NOT_HELD)
        return f"URL rules forgotten: {len(rows):,}"

    def _put_back_unruled(self, finding: Finding) -> str:
        return f"requests put back into the queue: {self._put_back(url_rules.NOT_HELD):,}"

    def _put_back_alone(self, finding: Finding) -> str:
        return f"requests put back into the queue: {self._put_back(url_rules.ALONE):,}"

    def _put_back(self, sql: str) -> int:
        """Put skipped requests back; the next crawl applies the rules again."""
        rows = [(number,) for number, _ in self._database.read(sql).fetchall()]
        sql = f"UPDATE requests SET state = {TODO}, rule = NULL, group_digest = NULL WHERE id = ?"
        self._database.write_many(sql, rows)
        self._again.requests.line_up()
        self._regroup()
        return len(rows)

    def _regroup(self) -> None:
        hosts = {host for rule in RuleStore(self._database) for host in rule.hosts}
        note_pending(self._database, hosts)

    def _forget_groups(self, finding: Finding) -> str:
        self._database.write(f"DELETE FROM url_groups WHERE {url_rules.WRONG_GROUP}")
        self._regroup()
        return f"addresses that the next crawl looks at anew: {finding.count:,}"


_ACTS: dict[str, Callable[[QueueMender, Finding], str]] = {
    frontier.LEASES: QueueMender._end_leases,
    frontier.SKIPPED: QueueMender._rule,
    frontier.FETCHABLE: QueueMender._queue_stuck,
    frontier.LINES: QueueMender._line_up,
    frontier.SEEN: QueueMender._see,
    url_rules.READABLE: QueueMender._forget_rules,
    url_rules.HELD: QueueMender._put_back_unruled,
    url_rules.STANDS: QueueMender._put_back_alone,
    url_rules.GROUPS: QueueMender._forget_groups,
}

QUEUE_RULES = tuple(_ACTS)
"""Rules that can be repaired here, in the order of the repairs."""
