"""Check that queued requests are made once, and skipped ones under another URL."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from crawler.frontier.queue import MAX_TRIES
from crawler.frontier.request_records import MalformedRequestError, decode_parts
from crawler.maintenance.verify.capture_checks import NO_PAGE
from crawler.maintenance.verify.finding import Mend, Rule, encoded_request, writing
from crawler.storage import meta_names
from crawler.storage.states import (
    FAILED,
    HOLDS,
    LEASED,
    QUEUED,
    SKIPPED,
    WAITING,
    RuleStatus,
)
from crawler.url_rules.kinds import CLOSED
from crawler.url_rules.rule_files import restored
from crawler.url_rules.rule_store import RuleStore, note_pending
from crawler.url_rules.skipped import SkippedRequests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch, Finding, Repairer
    from crawler.urls.canonical import Canonicalizer

_NOT_HELD = f"""
SELECT id, url FROM requests
WHERE state = {SKIPPED} AND rule NOT IN (
    SELECT id FROM url_rules WHERE state = {HOLDS}
    UNION ALL SELECT -id FROM url_kinds WHERE state = '{CLOSED}') ORDER BY id
"""
_UNRULED = f"SELECT id FROM requests WHERE state = {SKIPPED} AND rule IS NULL"
_ALONE = f"""
SELECT requests.id, requests.url FROM requests LEFT JOIN url_groups USING (group_digest)
WHERE requests.state = {SKIPPED} AND requests.rule > 0 AND (
    url_groups.key IS NULL OR url_groups.key = requests.key OR NOT EXISTS
    (SELECT 1 FROM requests AS other WHERE other.key = url_groups.key AND other.state != {SKIPPED}))
ORDER BY requests.id
"""
_WRONG_GROUP = f"""
NOT EXISTS (SELECT 1 FROM requests WHERE requests.key = url_groups.key)
OR (page NOTNULL AND {NO_PAGE.format("url_groups.page")})
"""

_QUEUED = f"SELECT id, url, request, key FROM requests WHERE state IN ({QUEUED}) ORDER BY id"
_UNFINISHED = f"""
SELECT id, url, request, depth, tries FROM requests
WHERE state IN ({QUEUED}, {FAILED}) ORDER BY id
"""
_BEGIN_AGAIN = f"UPDATE requests SET state = {WAITING}, tries = 0, request = ? WHERE id = ?"
_WRONG_LINES = f"""
SELECT count(*) FROM (
    SELECT host, max(priority) AS priority FROM requests WHERE state = {WAITING} GROUP BY host
    EXCEPT SELECT host, priority FROM hosts
    UNION ALL SELECT host, 0 FROM hosts
    WHERE NOT EXISTS (
        SELECT 1 FROM requests WHERE state = {WAITING} AND requests.host = hosts.host))
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


def _forget_rules(repairer: Repairer, finding: Finding) -> None:
    skipped = _skipped(repairer)
    for number in finding.ids:
        skipped.put_back_rule(number)
    repairer.write_each("DELETE FROM url_rules WHERE id = ?", finding.ids)
    _rule_again(repairer, finding)


def _rule_again(repairer: Repairer, finding: Finding) -> None:
    """Put back what no rule that holds skips rightly; the next crawl applies its rules again."""
    database = repairer.database
    database.write(f"UPDATE requests SET rule = NULL, group_digest = NULL WHERE state != {SKIPPED}")
    wrong = {number for (number,) in database.read(_UNRULED)}
    if meta_names.FLEET not in repairer.directory.meta:
        wrong |= {number for sql in (_NOT_HELD, _ALONE) for number, _ in database.read(sql)}
        database.write(f"DELETE FROM url_groups WHERE {_WRONG_GROUP}")
        note_pending(database, {host for rule in RuleStore(database) for host in rule.hosts})
    _skipped(repairer).put_back(sorted(wrong))


def _skipped(repairer: Repairer) -> SkippedRequests:
    return SkippedRequests(repairer.database, repairer.queue.requests)


_RULED_AGAIN = Mend(
    "puts them back into the queue, where the rules that hold apply to them", _rule_again
)

READABLE = Rule(
    "url-rules-readable",
    "learned URL rules that cannot be read",
    Mend("forgets them", _forget_rules),
)
HELD = Rule(
    "skipped-by-a-rule-that-holds",
    "requests skipped by a rule that does not hold",
    _RULED_AGAIN,
)
STANDS = Rule(
    "skipped-for-another-request",
    "requests skipped in favour of one that does not exist",
    _RULED_AGAIN,
)
GROUPS = Rule(
    "groups-of-requests",
    "groups of URLs without their request or page",
    Mend("lets the next crawl make them again", _rule_again),
)


def find_unqueued(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Check leases, the line of hosts, and the seen set of queued requests.

    Complexity: O(queued requests * log seen).
    """
    count = directory.count
    yield from LEASES.counted(count(f"SELECT count(*) FROM requests WHERE state = {LEASED}"))
    sql = f"SELECT count(*) FROM requests WHERE (state = {SKIPPED}) != (rule NOTNULL)"
    yield from RULED.counted(count(sql))
    yield from FETCHABLE.found(_unfetchable(directory))
    yield from LINES.counted(count(_WRONG_LINES))
    watch.begin("queue", count(f"SELECT count(*) FROM requests WHERE state IN ({QUEUED})"))
    yield from SEEN.found(_unseen(directory, watch))


def _unfetchable(directory: CrawlDirectory) -> Iterator[tuple[tuple[bytes, int], str]]:
    """Yield a form that can be read, id and URL of each request that no crawl will make.

    Only for crawls by our own spiders. Not for a fleet's workers, whose requests are lent to them,
    and have another form.
    """
    if directory.plan is None or meta_names.FLEET in directory.meta:
        return
    for number, url, encoded, depth, tries in directory.connection.execute(_UNFINISHED):
        readable = _parts(encoded) is not None
        if not readable or tries >= MAX_TRIES:
            yield (encoded if readable else encoded_request(depth), number), url


def _unseen(
    directory: CrawlDirectory, watch: CheckWatch
) -> Iterator[tuple[tuple[bytes, int], str]]:
    """Yield right key, id and URL of each queued request that is not seen under that key.

    Only for crawls by our own spiders: elsewhere requests may have fingerprints of another kind.
    """
    canonicalizer = directory.canonicalizer
    if directory.plan is None or canonicalizer is None:
        return
    for number, url, encoded, stored in directory.connection.execute(_QUEUED):
        key = _key(canonicalizer, url, encoded)
        if key is None or stored in {key, canonicalizer.description_key(url)}:
            pass
        elif not (stored is None and _is_seen(directory, key)):
            yield (key, number), url
        watch.advance()


def _is_seen(directory: CrawlDirectory, key: bytes) -> bool:
    """Return whether another request has the key: a redirect to the page itself has none."""
    sql = "SELECT 1 FROM requests WHERE key = ?"
    return directory.connection.execute(sql, (key,)).fetchone() is not None


def _key(canonicalizer: Canonicalizer, url: str, encoded: bytes) -> bytes | None:
    """Return the request fingerprint of a plain request; None for one that need not be seen."""
    parts = _parts(encoded)
    if parts is None or parts.get("method", "GET") != "GET":
        return None
    if parts.get("body") or parts.get("dont_filter"):
        return None
    return canonicalizer.key_of(url) or None


def _parts(encoded: bytes) -> dict[str, Any] | None:
    try:
        return decode_parts(encoded)
    except MalformedRequestError:
        return None


def _line_up(repairer: Repairer, finding: Finding) -> None:
    repairer.queue.requests.line_up()  # to open it ends the leases


def _queue_stuck(repairer: Repairer, finding: Finding) -> None:
    repairer.write_each(_BEGIN_AGAIN, finding.ids)
    repairer.queue.requests.line_up()


LEASES = Rule(
    "leases-ended",
    "requests under way when the crawl was stopped",
    Mend("puts them back into the queue", _line_up),
    is_leftover=True,
)
RULED = Rule(
    "skipped-by-a-rule",
    "requests whose state and rule disagree on whether they are skipped",
    Mend("puts them back into the queue, or removes the rule", _rule_again),
)
FETCHABLE = Rule(
    "queued-can-be-fetched",
    "requests that cannot be read, or broke at every try",
    Mend("queues their URLs again", _queue_stuck),
)
LINES = Rule(
    "hosts-in-line",
    "hosts with queued requests that the order of hosts lacks",
    Mend("makes the order of hosts again", _line_up),
)
SEEN = Rule(
    "queued-is-seen",
    "queued requests whose URLs have other keys in the seen set, or none",
    writing(
        "gives them the keys of their URLs",
        "UPDATE requests SET key = NULL WHERE id = ?2",
        # Another request may have it.
        "UPDATE OR IGNORE requests SET key = ?1 WHERE id = ?2",
    ),
)
