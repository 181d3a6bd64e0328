"""What all crawls learned of URLs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from crawler.maintenance.merge.merged_crawls import Source
    from crawler.storage.database import Database

_RULES = """
SELECT rule, state, positives, explored, saved, origin, since, reason, tried FROM url_rules
"""
_CLUSTERS = "SELECT name, fetched, new, barren, met, recent, state, reason FROM url_clusters"
# Traps are counted on: where pages of a kind were fetched most is known best what they are.
_ADD_CLUSTER = """
INSERT INTO url_clusters (name, fetched, new, barren, met, recent, state, reason)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET
    barren = iif(excluded.fetched > fetched, excluded.barren, barren),
    met = iif(excluded.fetched > fetched, excluded.met, met),
    recent = iif(excluded.fetched > fetched, excluded.recent, recent),
    state = iif(excluded.fetched > fetched, excluded.state, state),
    reason = iif(excluded.fetched > fetched, excluded.reason, reason),
    fetched = fetched + excluded.fetched, new = new + excluded.new
"""


def merge_url_rules(database: Database, sources: Iterable[Source]) -> None:
    """Copy learned rules, each once, and the kinds of URLs that are watched.

    What any crawl revoked, or its user forgot, holds nowhere.
    """
    rules: dict[str, list[object]] = {}
    for source in sources:
        for rule, state, positives, explored, saved, *rest in source.connection.execute(_RULES):
            row = [state, positives, explored, saved, *rest]
            held = rules.setdefault(rule, row)
            if held is not row:
                rules[rule] = _together(held, row)
        database.write_many(_ADD_CLUSTER, source.connection.execute(_CLUSTERS))
    database.write_many(
        "INSERT INTO url_rules (rule, state, positives, explored, saved, origin, since, reason,"
        " tried) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        ((rule, *row) for rule, row in rules.items()),
    )


def _together(held: list[object], row: list[object]) -> list[object]:
    """One rule of two crawls: texts may be the same ones, requests are not."""
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
