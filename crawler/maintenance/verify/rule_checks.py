"""Check that every skipped request has a valid rule and another request in its place."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from crawler.maintenance.verify.finding import MAX_EXAMPLES, Finding
from crawler.storage import meta_names
from crawler.storage.states import HOLDS, SKIPPED, RuleStatus
from crawler.url_rules.rule_files import restored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch

READABLE = "url-rules-readable"
HELD = "skipped-by-a-rule-that-holds"
STANDS = "skipped-for-another-request"
GROUPS = "groups-of-requests"

UNREADABLE_RULES = "SELECT id, rule, state FROM url_rules"
NOT_HELD = f"""
SELECT id, url FROM requests
WHERE state = {SKIPPED} AND rule NOT IN (SELECT id FROM url_rules WHERE state = {HOLDS}) ORDER BY id
"""
ALONE = f"""
SELECT requests.id, requests.url FROM requests LEFT JOIN url_groups USING (group_digest)
WHERE requests.state = {SKIPPED} AND (
    url_groups.key IS NULL OR url_groups.key = requests.key OR NOT EXISTS
    (SELECT 1 FROM requests AS other WHERE other.key = url_groups.key AND other.state != {SKIPPED}))
ORDER BY requests.id
"""
WRONG_GROUP = """
NOT EXISTS (SELECT 1 FROM requests WHERE requests.key = url_groups.key)
OR (page NOTNULL AND NOT EXISTS (SELECT 1 FROM pages WHERE pages.id = url_groups.page))
"""
_REGROUPS = "puts them back into the queue, of which the next crawl skips what its rules skip"


def find_misruled(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Check learned rules, the requests they skip, and the requests made instead.

    Complexity: O(skipped requests * log requests + groups of URLs).
    """
    broken = unreadable(directory)
    if broken:
        yield Finding(
            READABLE,
            f"learned URL rules that cannot be read: {len(broken):,}",
            len(broken),
            tuple(f"rule {number}" for number in broken[:MAX_EXAMPLES]),
            remedy="forgets them",
        )
    if is_regrouping(directory):
        return  # the next crawl begins by putting the queue in agreement
    if meta_names.FLEET in directory.meta:
        return  # requests that stand for others may be another worker's
    for rule, sql, what in (
        (HELD, NOT_HELD, "requests skipped by a rule that does not hold"),
        (STANDS, ALONE, "requests skipped for the sake of none that is made"),
    ):
        rows = directory.connection.execute(sql).fetchall()
        if rows:
            examples = tuple(url for _, url in rows[:MAX_EXAMPLES])
            yield Finding(rule, f"{what}: {len(rows):,}", len(rows), examples, remedy=_REGROUPS)
    wrong = directory.count(f"SELECT count(*) FROM url_groups WHERE {WRONG_GROUP}")
    if wrong:
        what = f"addresses that stand for no request, or for a page that is not there: {wrong:,}"
        yield Finding(GROUPS, what, wrong, remedy="lets the next crawl make them anew")


def is_regrouping(directory: CrawlDirectory) -> bool:
    """Return whether the queue does not agree with the rules yet."""
    return bool(json.loads(directory.meta.get(meta_names.REGROUPING) or "[]"))


def unreadable(directory: CrawlDirectory) -> list[int]:
    """Return the numbers of rules that no crawl can read."""
    return [
        number
        for number, rule, state in directory.connection.execute(UNREADABLE_RULES)
        if state not in set(RuleStatus) or not _is_rule(rule)
    ]


def _is_rule(written: str) -> bool:
    try:
        restored(json.loads(written))
    except (ValueError, TypeError, RecursionError):
        return False
    return True
