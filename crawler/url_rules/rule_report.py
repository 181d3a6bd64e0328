"""Report the learned rules of a crawl for ``crawl-once rules``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from crawler.storage import meta_names
from crawler.storage.database import meta_of
from crawler.storage.states import COVERED, FORGOTTEN, HOLDS, SKIPPED
from crawler.url_rules.learned_rule import NOT_EXAMINED
from crawler.url_rules.learning.canonicals import UntrustedHost, untrusted_hosts
from crawler.url_rules.learning.evidence import lower_bound
from crawler.url_rules.rule_files import restored
from crawler.url_rules.skipped import COUNTS
from crawler.url_rules.traps import OPEN
from crawler.url_rules.variants import tried_rules
from neardup.plurals import many

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

MAX_CLUSTERS = 50

_CLUSTERS = f"""
SELECT name, fetched, new, state, reason, coalesce(waiting, 0)
FROM url_clusters LEFT JOIN (
    SELECT rule, count(*) AS waiting FROM requests WHERE state = {SKIPPED} AND rule < 0
    GROUP BY rule
) ON rule = -id
WHERE state != ? ORDER BY coalesce(waiting, 0) DESC, fetched DESC, id LIMIT ?
"""  # noqa: S608


UNEXAMINED = f"""
SELECT count(*) FROM url_rules
WHERE state = {HOLDS} AND coalesce(json_extract(tried, '$.examined'), 'no') IN ('no', 'undecided')
"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class StoredCluster:
    """A slow or closed cluster in the directory of a crawl.

    Attributes:
        name: Host, path pattern and names of arguments.
        state: "slow" or "closed".
        skipped: Number of requests that are not made because of it.
    """

    name: str
    fetched: int
    new: int
    state: str
    reason: str
    skipped: int


def trap_report(connection: sqlite3.Connection) -> tuple[StoredCluster, ...]:
    """Read the clusters of a crawl that are not open, also while it is running.

    Returns:
        At most 50, with the most requests that are not made first.

    Complexity: O(requests that are skipped + clusters).
    """
    rows = connection.execute(_CLUSTERS, (OPEN, MAX_CLUSTERS))
    return tuple(StoredCluster(*row) for row in rows)


@dataclass(frozen=True, slots=True)
class StoredRule:
    """A rule in the directory of a crawl.

    Attributes:
        where: The addresses for which it holds.
        what: The part of them that does not matter.
        state: "holds", "revoked" or "forgotten".
        texts: Number of texts that were met under two addresses which it makes one.
        confidence: The share of cases in which it holds at least, with 95 % certainty.
        saved: Number of requests that were not made, in all visits.
        explored: Number of requests that were made all the same, to try it.
        origin: "learned", or the file that it came from.
        examined: State of its validation: "proven", "all" (tried on all of too few pages), "ids"
            (not tried), "undecided" (too many pages cannot be compared), "no" (not to the end).
        tried: Number of pages on which it was tried since it holds, for each of its values and
            together with each other rule.
        head_start: Where it was known from, so that fewer texts were enough; "" for others.
    """

    id: int
    where: str
    what: str
    state: str
    texts: int
    confidence: float
    saved: int
    explored: int
    origin: str
    reason: str | None
    examined: str
    tried: dict[str, int]
    head_start: str = ""


@dataclass(frozen=True, slots=True)
class FixedRuleOnHost:
    """A rule of ``docs/urls.md`` on a host.

    Attributes:
        name: The name to switch it off by.
        variants: URLs that were met and that it takes for another one.
        tried: Those that were requested all the same.
        agreed: Those that were the page that they were taken for.
        reason: Why it does not hold on the host; None where it holds.
    """

    host: str
    name: str
    variants: int
    tried: int
    agreed: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class RefutedRule:
    """A rule with some evidence for it that was never believed."""

    where: str
    what: str
    texts: int
    page: str
    other: str


@dataclass(frozen=True, slots=True)
class RuleReport:
    """The rules of a crawl that hold, that ended, and that were never believed."""

    rules: tuple[StoredRule, ...]
    refuted: tuple[RefutedRule, ...]
    traps: tuple[StoredCluster, ...]
    """Kinds of URLs whose pages stopped being new."""
    waiting: int
    """Requests that are skipped now."""
    untrusted_canonicals: tuple[UntrustedHost, ...]
    """Hosts whose pages declare canonical URLs of other texts."""
    fixed: tuple[FixedRuleOnHost, ...] = ()
    """Fixed rules that were tried, those that are wrong on a host first."""


def rule_report(connection: sqlite3.Connection) -> RuleReport:
    """Read the rules that a crawl learned, also while it is running."""
    rows = connection.execute(
        "SELECT id, state, rule, positives, explored, saved, origin, reason, tried"
        " FROM url_rules"
        " WHERE state != ? ORDER BY id",
        (COVERED,),
    )
    skipped = dict(connection.execute(COUNTS).fetchall())
    rules = [_rule(row, skipped.get(row[0], 0)) for row in rows.fetchall()]
    rules.sort(key=lambda rule: (rule.state != "holds", -rule.saved))
    traps = trap_report(connection)
    waiting, untrusted = sum(skipped.values()), untrusted_hosts(connection)
    fixed = tuple(
        FixedRuleOnHost(one.host, one.name, one.met, one.tried, one.agreed, one.reason)
        for one in tried_rules(connection.execute)
    )
    return RuleReport(tuple(rules), _refuted(connection), traps, waiting, untrusted, fixed)


def _rule(row: tuple[Any, ...], skipped: int) -> StoredRule:
    number, state, rule, positives, explored, saved, origin, reason, tried = row
    seen = json.loads(tried)
    context, transform = restored(json.loads(rule))
    name = {HOLDS: "holds", FORGOTTEN: "forgotten"}.get(state, "revoked")
    bound = round(lower_bound(positives), 3)
    return StoredRule(
        number,
        str(context),
        str(transform),
        name,
        positives,
        bound,
        saved + skipped,
        explored,
        origin,
        reason,
        seen.get("examined", NOT_EXAMINED),
        {_tried_name(*proof): count for *proof, count, _ in seen.get("tried", ())},
        seen.get("head_start", ""),
    )


def _tried_name(thing: int, value: str) -> str:
    return f"with rule {-thing}" if thing < 0 else value or "any"


def evidence_lines(rule: StoredRule) -> Iterator[str]:
    """Yield what speaks for a rule, what it saved, and whether that was tried."""
    texts = many(rule.texts, "text")
    if rule.origin == "learned":
        evidence = f"{texts} under two URLs each, none that differed"
    else:
        evidence = f"from {rule.origin}; {texts} under two URLs each since"
    yield f"{evidence}: right in {rule.confidence:.0%} or more of all cases"
    if rule.head_start:
        yield f"fewer texts were enough, since it is known from {rule.head_start}"
    saved = many(rule.saved, "request")
    yield f"{saved} not made, {rule.explored:,} made to try it"
    yield _validated(rule)


def _validated(rule: StoredRule) -> str:
    """Return whether enough requests that a rule skips were tried, and why not."""
    values = ", ".join(f"{value}: {pages:,}" for value, pages in rule.tried.items())
    if list(rule.tried) == ["any"]:
        pages = rule.tried["any"]
        values = many(pages, "page")
    return {
        "proven": f"validated on enough pages to prove it ({values})",
        "all": f"validated on each page that it skips ({values or 'none'})",
        "ids": "not validated, since it drops ids: only some pages were tried",
        "undecided": "NOT validated: too many pages could not be compared"
        f" ({values or 'none was'})",
    }.get(rule.examined, f"NOT validated to the end: the crawl ended first ({values or 'none'})")


def _refuted(connection: sqlite3.Connection) -> tuple[RefutedRule, ...]:
    found = []
    for known in json.loads(meta_of(connection.execute, meta_names.REFUTED) or "[]"):
        context, transform = restored(known["rule"])
        page, other = (_url(connection, known[name]) for name in ("page", "other"))
        found.append(RefutedRule(str(context), str(transform), known["texts"], page, other))
    return tuple(found)


def _url(connection: sqlite3.Connection, page: int) -> str:
    row = connection.execute("SELECT url FROM pages WHERE id = ?", (page,)).fetchone()
    return "a page that is no longer held" if row is None else str(row[0])
