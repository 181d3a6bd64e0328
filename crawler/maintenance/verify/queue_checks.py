"""Check that every queued request will be made, and none twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from crawler.frontier.queue import MAX_TRIES
from crawler.frontier.request_records import MalformedRequestError, decode_parts
from crawler.maintenance.verify.finding import MAX_EXAMPLES, Finding
from crawler.storage import meta_names
from crawler.storage.states import FAILED, LEASED, QUEUED, TODO, RequestState
from crawler.urls.canonical import MalformedUrl
from neardup.bloom import ScalableBloomFilter
from neardup.errors import IndexFileError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from crawler.maintenance.crawl_directory import CrawlDirectory
    from crawler.maintenance.verify.finding import CheckWatch
    from crawler.urls.canonical import Canonicalizer

LEASES = "leases-ended"
LINES = "hosts-in-line"
FETCHABLE = "queued-can-be-fetched"
SEEN = "queued-is-seen"
SKIPPED = "skipped-by-a-rule"
BLOOM = "bloom-knows-seen"

_QUEUED = f"SELECT id, url, request, key FROM requests WHERE state IN ({QUEUED}) ORDER BY id"
_UNFINISHED = (
    f"SELECT id, url, request, tries FROM requests WHERE state IN ({QUEUED}, {FAILED}) ORDER BY id"
)
_WRONG_LINES = f"""
SELECT count(*) FROM (
    SELECT host, max(priority) AS priority FROM requests WHERE state = {TODO} GROUP BY host
    EXCEPT SELECT host, priority FROM hosts
    UNION ALL SELECT host, 0 FROM hosts
    WHERE NOT EXISTS (SELECT 1 FROM requests WHERE state = {TODO} AND requests.host = hosts.host))
"""


def find_unqueued(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Check leases, the line of hosts, and the seen set of queued requests.

    Complexity: O(queued requests * log seen).
    """
    leases = directory.count(f"SELECT count(*) FROM requests WHERE state = {LEASED}")
    if leases:
        yield Finding(
            LEASES,
            f"requests under way when the crawl was stopped: {leases:,}",
            leases,
            remedy="puts them back into the queue",
            is_leftover=True,
        )
    wrong = directory.count(_WRONG_LINES)
    if wrong:
        yield Finding(
            LINES,
            f"hosts that do not stand in line for what is queued of them: {wrong:,}",
            wrong,
            remedy="lines them up anew",
        )
    misruled = directory.count(
        f"SELECT count(*) FROM requests WHERE (state = {RequestState.SKIPPED}) != (rule NOTNULL)"
    )
    if misruled:
        yield Finding(
            SKIPPED,
            f"requests skipped by no rule, or by one and not skipped: {misruled:,}",
            misruled,
            remedy="puts them back into the queue, or takes the rule away",
        )
    stuck = [(number, url) for number, url, _ in unfetchable(directory)]
    if stuck:
        yield Finding(
            FETCHABLE,
            f"requests that cannot be taken up, or broke at every try: {len(stuck):,}",
            len(stuck),
            tuple(url for _, url in stuck[:MAX_EXAMPLES]),
            remedy="queues their URLs again",
        )
    yield from _find_unseen(directory, watch)


def unfetchable(directory: CrawlDirectory) -> Iterator[tuple[int, str, bytes | None]]:
    """Yield id, URL and stored form of each request that no crawl will make; None: unreadable.

    Only for crawls by our own spiders. Not for a fleet's workers, whose requests are lent to them,
    and have another form.
    """
    if directory.plan is None or meta_names.FLEET in directory.meta:
        return
    for number, url, encoded, tries in directory.connection.execute(_UNFINISHED):
        readable = _parts(encoded) is not None
        if not readable or tries >= MAX_TRIES:
            yield number, url, encoded if readable else None


def _find_unseen(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    sql = f"SELECT count(*) FROM requests WHERE state IN ({QUEUED})"
    watch.begin("queue", directory.count(sql))
    count = 0
    examples: list[str] = []
    for _, url, _ in unseen(directory, watch):
        count += 1
        if len(examples) < MAX_EXAMPLES:
            examples.append(url)
    if count:
        yield Finding(
            SEEN,
            f"queued requests that the seen set lacks, or knows as others: {count:,}",
            count,
            tuple(examples),
            remedy="gives them the keys of their URLs",
        )


def unseen(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[tuple[int, str, bytes]]:
    """Yield id, URL and right key of each queued request that is not seen under that key.

    Only for crawls by our own spiders: elsewhere requests may have fingerprints of another kind.
    """
    canonicalizer = directory.canonicalizer
    if directory.plan is None or canonicalizer is None:
        return
    for number, url, encoded, stored in directory.connection.execute(_QUEUED):
        key = _key(canonicalizer, url, encoded)
        if key is not None and stored != key and not (stored is None and _is_seen(directory, key)):
            yield number, url, key
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
    try:
        return canonicalizer.key(url)
    except MalformedUrl:
        return None


def _parts(encoded: bytes) -> dict[str, Any] | None:
    """Return the decoded parts of a stored request, or None if they are unreadable."""
    try:
        return decode_parts(encoded)
    except MalformedRequestError:
        return None


def find_forgotten(directory: CrawlDirectory, watch: CheckWatch) -> Iterator[Finding]:
    """Query the Bloom filter for every seen key: it may have too many, but never too few.

    Complexity: O(seen keys).
    """
    if not directory.bloom.exists():
        return  # the next crawl makes it of the table, as after every kill
    remedy = "makes it anew from the seen set"
    try:
        bloom = ScalableBloomFilter.load(directory.bloom)
    except IndexFileError as error:
        yield Finding(BLOOM, f"the Bloom filter cannot be read: {error}", remedy=remedy)
        return
    keys = "FROM requests WHERE key IS NOT NULL"
    watch.begin("Bloom filter", directory.count(f"SELECT count(*) {keys}"))
    lacking = 0
    for (key,) in directory.connection.execute(f"SELECT key {keys}"):
        lacking += not bloom.has_digest(key)
        watch.advance()
    if lacking:
        what = f"seen URLs that the Bloom filter does not know: {lacking:,}"
        yield Finding(BLOOM, what, lacking, remedy=remedy)
