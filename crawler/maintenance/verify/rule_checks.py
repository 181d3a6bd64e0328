"""Check that every skipped request has a valid rule and another request in its place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from crawler.maintenance.verify.finding import Rule, Stage
from crawler.storage import meta_names
from crawler.storage.states import HOLDS, SKIPPED, TODO, RuleStatus
from crawler.url_rules.regrouping import note_pending
from crawler.url_rules.rule_files import restored
from crawler.url_rules.rule_store import RuleStore

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding
    from crawler.maintenance.verify.repairer import Repairer

_NOT_HELD = f"""
SELECT id, url FROM requests
WHERE state = {SKIPPED} AND rule NOT IN (SELECT id FROM url_rules WHERE state = {HOLDS}) ORDER BY id
"""
_ALONE = f"""
SELECT requests.id, requests.url FROM requests LEFT JOIN url_groups USING (group_digest)
WHERE requests.state = {SKIPPED} AND (
    url_groups.key IS NULL OR url_groups.key = requests.key OR NOT EXISTS
    (SELECT 1 FROM requests AS other WHERE other.key = url_groups.key AND other.state != {SKIPPED}))
ORDER BY requests.id
"""
_WRONG_GROUP = """
NOT EXISTS (SELECT 1 FROM requests WHERE requests.key = url_groups.key)
OR (page NOTNULL AND NOT EXISTS (SELECT 1 FROM pages WHERE pages.id = url_groups.page))
"""


def find_misruled(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Check learned rules, the requests they skip, and the requests made instead.

    Complexity: O(skipped requests * log requests + groups of URLs).
    """
    read = directory.connection.execute
    yield from READABLE.found(
        (number, f"rule {number}")
        for number, rule, state in read("SELECT id, rule, state FROM url_rules")
        if state not in set(RuleStatus) or not _is_rule(rule)
    )
    if json.loads(directory.meta.get(meta_names.REGROUPING) or "[]"):
        return  # the next crawl begins by putting the queue in agreement
    if meta_names.FLEET in directory.meta:
        return  # requests that stand for others may be another worker's
    yield from HELD.found(read(_NOT_HELD))
    yield from STANDS.found(read(_ALONE))
    sql = f"SELECT count(*) FROM url_groups WHERE {_WRONG_GROUP}"
    yield from GROUPS.counted(directory.count(sql))


def _is_rule(written: str) -> bool:
    try:
        restored(json.loads(written))
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _forget_rules(repairer: Repairer, finding: Finding) -> str:
    repairer.write_each("DELETE FROM url_rules WHERE id = ?", finding.ids)
    _put_back(repairer, _NOT_HELD)
    return f"URL rules forgotten: {finding.count:,}"


def _put_back_unruled(repairer: Repairer, finding: Finding) -> str:
    return f"requests put back into the queue: {_put_back(repairer, _NOT_HELD):,}"


def _put_back_alone(repairer: Repairer, finding: Finding) -> str:
    return f"requests put back into the queue: {_put_back(repairer, _ALONE):,}"


def _put_back(repairer: Repairer, sql: str) -> int:
    """Put skipped requests back; the next crawl applies the rules again."""
    queue, numbers = repairer.queue, [number for number, _ in repairer.database.read(sql)]
    sql = f"UPDATE requests SET state = {TODO}, rule = NULL, group_digest = NULL WHERE id = ?"
    repairer.write_each(sql, numbers)
    queue.requests.line_up()
    _regroup(repairer)
    return len(numbers)


def _regroup(repairer: Repairer) -> None:
    hosts = {host for rule in RuleStore(repairer.database) for host in rule.hosts}
    note_pending(repairer.database, hosts)


def _forget_groups(repairer: Repairer, finding: Finding) -> str:
    repairer.database.write(f"DELETE FROM url_groups WHERE {_WRONG_GROUP}")
    _regroup(repairer)
    return f"addresses that the next crawl looks at anew: {finding.count:,}"


_REGROUPS = "puts them back into the queue, of which the next crawl skips what its rules skip"

READABLE = Rule(
    "url-rules-readable",
    "learned URL rules that cannot be read",
    "forgets them",
    _forget_rules,
    Stage.QUEUE,
)
HELD = Rule(
    "skipped-by-a-rule-that-holds",
    "requests skipped by a rule that does not hold",
    _REGROUPS,
    _put_back_unruled,
    Stage.QUEUE,
)
STANDS = Rule(
    "skipped-for-another-request",
    "requests skipped for the sake of none that is made",
    _REGROUPS,
    _put_back_alone,
    Stage.QUEUE,
)
GROUPS = Rule(
    "groups-of-requests",
    "addresses that stand for no request, or for a page that is not there",
    "lets the next crawl make them anew",
    _forget_groups,
    Stage.QUEUE,
)
