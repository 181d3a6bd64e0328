"""Merge URL rules: the learned ones, the traps, and what was tried of the fixed ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from crawler.storage import meta_names
from crawler.storage.states import VariantState
from crawler.url_rules.variants import releasing_hosts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from crawler.maintenance.merge.merged_crawls import MergedCrawl
    from crawler.maintenance.merge.parted_keys import PartedKeys
    from crawler.storage.database import Database

_RULES = """
SELECT rule, state, positives, explored, saved, origin, since, reason, tried FROM url_rules
"""
_CLUSTERS = """
SELECT name, fetched, new, barren, met, counted, deepest, recent, state, reason FROM url_clusters
"""
# Counts of traps add up; the state is that of the crawl with most pages of the kind.
_ADD_CLUSTER = """
INSERT INTO url_clusters
    (name, fetched, new, barren, met, counted, deepest, recent, state, reason)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET
    barren = iif(excluded.fetched > fetched, excluded.barren, barren),
    met = iif(excluded.fetched > fetched, excluded.met, met),
    counted = iif(excluded.fetched > fetched, excluded.counted, counted),
    deepest = iif(excluded.fetched > fetched, excluded.deepest, deepest),
    recent = iif(excluded.fetched > fetched, excluded.recent, recent),
    state = iif(excluded.fetched > fetched, excluded.state, state),
    reason = iif(excluded.fetched > fetched, excluded.reason, reason),
    fetched = fetched + excluded.fetched, new = new + excluded.new
"""

_VARIANTS = """
SELECT key, page, standing, host, rules, url, state, priority, request FROM variants
"""
# A page of its own in one crawl is one in all; what one crawl only skipped may be tried in another.
_ADD_VARIANT = """
INSERT INTO variants VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET
    standing = excluded.standing, rules = excluded.rules, url = excluded.url,
    state = excluded.state, priority = excluded.priority, request = excluded.request
WHERE excluded.state > state
"""
_HOSTS_SKIPPED = f"SELECT DISTINCT host FROM variants WHERE state = {VariantState.SKIPPED}"
_FIXED_RULES = "SELECT host, rule, met, tried, agreed, due_at, reason FROM fixed_rules"
_ADD_FIXED_RULE = """
INSERT INTO fixed_rules VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (host, rule) DO UPDATE SET
    met = met + excluded.met, tried = tried + excluded.tried, agreed = agreed + excluded.agreed,
    due_at = max(due_at, excluded.due_at), reason = coalesce(reason, excluded.reason)
"""


def merge_url_rules(database: Database, sources: Sequence[MergedCrawl], parted: PartedKeys) -> None:
    """Copy learned rules, each once, the watched kinds of URLs, and what fixed rules came to.

    A rule that any crawl revoked, or its user forgot, holds nowhere.
    """
    rules: dict[str, list[object]] = {}
    for source in sources:
        for rule, state, positives, explored, saved, *rest in source.connection.execute(_RULES):
            row = [state, positives, explored, saved, *rest]
            held = rules.setdefault(rule, row)
            if held is not row:
                rules[rule] = _together(held, row)
        database.write_many(_ADD_CLUSTER, source.connection.execute(_CLUSTERS))
    _merge_fixed_rules(database, sources, parted)
    database.write_many(
        "INSERT INTO url_rules (rule, state, positives, explored, saved, origin, since, reason,"
        " tried) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((rule, *row) for rule, row in rules.items()),
    )


def _merge_fixed_rules(
    database: Database, sources: Sequence[MergedCrawl], parted: PartedKeys
) -> None:
    """Copy variants and trials; what one crawl skipped by a rule that another revoked is due."""
    revoked: list[set[tuple[str, str]]] = []
    releasing: set[str] = set()
    for source in sources:
        database.write_many(_ADD_VARIANT, _variants(source, parted))
        rows = source.connection.execute(_FIXED_RULES).fetchall()
        database.write_many(_ADD_FIXED_RULE, rows)
        revoked.append({(host, rule) for host, rule, *_, reason in rows if reason})
        releasing.update(releasing_hosts(source.connection.execute))
    for source, known in zip(sources, revoked, strict=True):
        news = {host for host, _ in set().union(*revoked) - known}
        releasing |= news.intersection(
            host for (host,) in source.connection.execute(_HOSTS_SKIPPED)
        )
    parted.note_variants()
    database.set_meta(meta_names.FIXED_RELEASING, json.dumps(sorted(releasing)))


def _variants(source: MergedCrawl, parted: PartedKeys) -> Iterator[tuple[object, ...]]:
    """Yield the variants of a crawl; the first URL of a page that was parted is no variant."""
    for key, page, standing, *rest in source.connection.execute(_VARIANTS):
        if key != page:
            taken_for = parted.key(source.number, standing)
            yield key, page, taken_for, *rest
        elif parted.own(source.number, key) is None:
            yield key, page, standing, *rest


def _together(held: list[object], row: list[object]) -> list[object]:
    """Return one rule of two crawls: their texts may be the same, their requests are not."""
    first, second = sorted((held, row), key=lambda one: -int(str(one[0])))
    state, positives, explored, saved, *rest = first
    numbers = [int(str(number)) for number in second[1:4]]
    return [
        state,
        max(int(str(positives)), numbers[0]),
        int(str(explored)) + numbers[1],
        int(str(saved)) + numbers[2],
        *rest,
    ]
