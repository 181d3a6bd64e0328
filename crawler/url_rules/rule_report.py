"""Report the learned rules of a crawl for ``crawl-once rules``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from crawler.pages.page_row import url_of
from crawler.storage import meta_names
from crawler.storage.database import meta_of
from crawler.storage.states import COVERED, FORGOTTEN, HOLDS, SKIPPED
from crawler.url_rules.kinds import OPEN
from crawler.url_rules.learning.evidence import lower_bound
from crawler.url_rules.rule_files import restored
from crawler.url_rules.rule_store import STANDARD, RuleRow, rule_rows
from crawler.url_rules.skipped import COUNTS
from neardup.plurals import many

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator

MAX_CLUSTERS = 50

_STATES: dict[int, str] = {HOLDS: "holds", FORGOTTEN: "forgotten"}

_CLUSTERS = f"""
SELECT name, tried, gained, state, reason, coalesce(waiting, 0)
FROM url_kinds LEFT JOIN (
    SELECT rule, count(*) AS waiting FROM requests WHERE state = {SKIPPED} AND rule < 0
    GROUP BY rule
) ON rule = -id
WHERE state != ? ORDER BY coalesce(waiting, 0) DESC, tried DESC, id LIMIT ?
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
        origin: "learned", or the file that it came from; "docs/urls.md" of a standard rule.
        examined: State of its validation: "proven", "all" (tried on all of too few pages), "ids"
            (not tried), "undecided" (too many pages cannot be compared), "seldom" (a standard rule,
            tried in the crawl), "no" (not to the end).
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

    @property
    def is_standard(self) -> bool:
        return self.origin == STANDARD


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


def rule_report(connection: sqlite3.Connection) -> RuleReport:
    """Read the rules of a crawl, standard ones that were tried too, also while it is running."""
    read = connection.execute
    rows = [row for row in rule_rows(read) if row.state != COVERED]
    rows += rule_rows(read, are_standard=True)
    skipped = dict(connection.execute(COUNTS).fetchall())
    rules = [_rule(row, skipped.get(row.id, 0)) for row in rows]
    rules.sort(key=lambda rule: (rule.state != "holds", -rule.saved))
    traps = trap_report(connection)
    waiting = sum(skipped.values())
    return RuleReport(tuple(rules), _refuted(connection), traps, waiting)


def _rule(row: RuleRow, skipped: int) -> StoredRule:
    rule = row.rule
    return StoredRule(
        row.id,
        str(rule.context),
        str(rule.transform),
        _STATES.get(row.state, "revoked"),
        row.positives,
        round(lower_bound(row.positives), 3),
        row.saved + skipped,
        row.explored,
        row.origin,
        row.reason,
        rule.examined,
        {_tried_name(*proof): count for proof, count in rule.tried.items()},
        rule.head_start,
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
        "seldom": "not validated, since it is a standard rule, which is tried ever more seldom;"
        " -s URLS_DISABLED_RULES switches it off, in a new directory",
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
    return url_of(connection.execute, page) or "a page that is no longer held"
