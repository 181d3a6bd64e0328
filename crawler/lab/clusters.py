"""Find the clusters of pages that a choice makes one page, and the reasons."""

from __future__ import annotations

import json
from contextlib import closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawler.lab.words import measures_of
from crawler.storage.database import open_for_reading
from crawler.url_rules.learned_rule import LearnedRule
from crawler.url_rules.learning.address import Address
from crawler.url_rules.learning.context import AddressInContext
from crawler.url_rules.rule_files import restored
from crawler.url_rules.rule_report import StoredRule, rule_report
from crawler.urls.canonical import Canonicalizer, MalformedUrl
from neardup.evaluation.judging import LAYERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from crawler.lab.judgement import Judgement
    from crawler.url_rules.learning.proposals import Proposal

MAX_ADDRESSES = 200
"""At most this many URLs of a cluster are looked at: further ones would teach nothing new."""

_canonical = Canonicalizer()

_MAX_MEMBERS = 1000


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
    places = [AddressInContext.of(address) for address in dict.fromkeys(_addresses(urls))]
    return [rule.stored for rule in rules if _joins(rule.proposal, places)]


def _joins(proposal: Proposal, places: Sequence[AddressInContext]) -> bool:
    rule = LearnedRule(0, *proposal)
    return len({rule.apply(place) for place in places}) < len(places)


def _addresses(urls: Iterable[str]) -> Iterator[Address]:
    for url, _ in zip(urls, range(MAX_ADDRESSES), strict=False):
        # A file may name its pages in any way.
        with suppress(MalformedUrl):
            yield Address.parse(_canonical(url))


@dataclass(frozen=True, slots=True)
class ClusterMember:
    """A page that repeats the representative.

    Attributes:
        place: The place of the page.
        layer: One of ``LAYERS``.
        distance: The distance in bits; -1: none.
        similarity: The similarity, 0 to 1; None: not known.
        why: The distance and the similarity in words.
    """

    place: int
    layer: str
    distance: int
    similarity: float | None
    why: str


@dataclass(frozen=True, slots=True)
class LabCluster:
    """A kept page with those that repeat it.

    Attributes:
        representative: The place of the kept page.
        size: The number of its pages, the representative among them.
        members: The other pages in crawl order, at most the first 1,000.
    """

    representative: int
    size: int
    members: tuple[ClusterMember, ...]


def largest_clusters(
    judgement: Judgement,
    limit: int,
    min_similarity: float | None = None,
    searched: NDArray[np.bool_] | None = None,
) -> list[LabCluster]:
    """Return the kept pages that most others repeat, with these.

    Args:
        judgement: The judgement that drops pages.
        limit: The largest number of clusters.
        min_similarity: The bound of the judgement, which similarities are told apart from.
        searched: The pages of which a cluster has one at least: bool, (pages,); None: all.
    """
    dropped = np.flatnonzero(~judgement.kept)
    # Stable, so members stay in crawl order.
    order = dropped[np.argsort(judgement.original[dropped], kind="stable")]
    originals, starts, counts = np.unique(
        judgement.original[order], return_index=True, return_counts=True
    )
    largest = np.lexsort((originals, -counts))
    if searched is not None:
        is_found = searched[originals] | np.isin(
            originals, judgement.original[dropped[searched[dropped]]]
        )
        largest = largest[is_found[largest]]
    largest = largest[:limit]
    return [
        LabCluster(
            int(originals[row]),
            int(counts[row]) + 1,
            tuple(
                _member(judgement, int(place), min_similarity)
                for place in order[starts[row] : starts[row] + min(counts[row], _MAX_MEMBERS)]
            ),
        )
        for row in largest
    ]


def _member(judgement: Judgement, place: int, min_similarity: float | None) -> ClusterMember:
    layer = LAYERS[judgement.layer[place]]
    bits, similarity = int(judgement.distance[place]), float(judgement.similarity[place])
    known = None if np.isnan(similarity) else similarity
    measures = measures_of(bits, known, min_similarity=min_similarity)
    why = _why(layer, measures, judgement.containment_of(place))
    return ClusterMember(place, layer, bits, known, why)


def _why(layer: str, measures: str, containment: float | None) -> str:
    if layer == "payload":
        return "the same bytes"
    if layer == "text":
        return "the same words"
    if layer == "contained":
        return f"a part of it, {measures_of(-1, None, containment)}".removesuffix(", ")
    return measures or "near, by what the crawl stored"
