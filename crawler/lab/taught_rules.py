"""Which learned URL rules follow from a cluster's addresses?"""

from __future__ import annotations

import json
from contextlib import closing, suppress
from typing import TYPE_CHECKING, NamedTuple

from crawler.storage.database import open_for_reading
from crawler.url_rules.learned_rule import LearnedRule
from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.context import Place
from crawler.url_rules.rule_report import StoredRule, rule_report
from crawler.url_rules.rule_store import restored
from crawler.urls.canonical import Canonicalizer, MalformedUrl

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from crawler.url_rules.learning.proposals import Proposal

MOST_ADDRESSES = 200
"""Of a cluster that are looked at: what more would teach is the same."""

_canonical = Canonicalizer()


class Teaching(NamedTuple):
    """A rule with what can be tried on addresses."""

    stored: StoredRule
    proposal: Proposal


def read_rules(folder: Path) -> list[Teaching]:
    """Read the rules that a crawl learned, in the order of its report, beside the crawl.

    Raises:
        JobError: There is no crawl that can be read.
    """
    with closing(open_for_reading(folder)) as connection:
        rules = rule_report(connection).rules
        rows = connection.execute("SELECT id, rule FROM url_rules").fetchall()
    proposals = {number: restored(json.loads(rule)) for number, rule in rows}
    return [Teaching(rule, proposals[rule.id]) for rule in rules if rule.id in proposals]


def rules_taught_by(rules: Sequence[Teaching], urls: Iterable[str]) -> list[StoredRule]:
    """Return the rules that make one address of two of these, whose pages say the same.

    Complexity: O(rules * addresses).
    """
    places = [Place.of(address) for address in dict.fromkeys(_addresses(urls))]
    return [rule.stored for rule in rules if _joins(rule.proposal, places)]


def _joins(proposal: Proposal, places: Sequence[Place]) -> bool:
    rule = LearnedRule(0, *proposal)
    return len({rule.apply(place) for place in places}) < len(places)


def _addresses(urls: Iterable[str]) -> Iterator[Address]:
    for url, _ in zip(urls, range(MOST_ADDRESSES), strict=False):
        # A file may name its pages in any way.
        with suppress(MalformedUrl):
            yield Address.parse(_canonical(url))
