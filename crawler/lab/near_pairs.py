"""Pairs of near texts: how many there are, a sample of them, and those that teach most.

A label teaches most of a pair on which the bounds are least sure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crawler.lab.judgement import SIMHASH
from neardup.clustering import clusters
from neardup.evaluation.near_arrays import RADIUS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from crawler.lab.crawl_source import LabPage
    from crawler.lab.judgement import Choice
    from crawler.lab.page_columns import PageColumns
    from neardup.evaluation.judging import Near


class WeighedPairs(NamedTuple):
    """Near lists, and whose pairs count.

    Attributes:
        near: All of them.
        is_judged: bool, (places,): of at least as many words as are asked for.
    """

    near: Near
    is_judged: NDArray[np.bool_]

    def firsts(self) -> NDArray[np.int64]:
        """Return the judged places that are the first of their text: int64, (texts,)."""
        members, places = self.near.members, np.flatnonzero(self.is_judged)
        firsts: NDArray[np.int64] = places[members.first_of_text[members.texts[places]] == places]
        return firsts


class Pairs(NamedTuple):
    """Pairs of distinct texts within 8 bits, by the later place, then nearest first.

    Attributes:
        earlier: int32, (pairs,): places.
        later: int32, (pairs,).
        distance: uint8, (pairs,): in bits.
        similarity: float64, (pairs,): -1: not known.
    """

    earlier: NDArray[np.int32]
    later: NDArray[np.int32]
    distance: NDArray[np.uint8]
    similarity: NDArray[np.float64]

    def taken(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Pairs:
        """Return some of the pairs, by a mask or by their places."""
        return Pairs._make(column[rows] for column in self)

    def counts(self) -> NDArray[np.int64]:
        """Return the number of pairs at each distance: int64, (9,)."""
        return np.bincount(self.distance, minlength=RADIUS + 1)


def distinct_pairs(of: WeighedPairs) -> Pairs:
    """Return all pairs of judged texts, each text at its first place.

    Complexity: O(pairs), some 10 ns each.
    """
    lists = of.near.lists
    is_counted = np.zeros(len(of.is_judged), np.bool_)
    is_counted[of.firsts()] = True
    later = np.repeat(np.arange(len(is_counted), dtype=np.int32), np.diff(lists.starts))
    are_pairs = is_counted[later] & is_counted[lists.earlier] & (lists.distance <= RADIUS)
    return Pairs(lists.earlier, later, lists.distance, lists.similarity).taken(are_pairs)


class Scatter(NamedTuple):
    """Pairs of distinct texts within 8 bits; of each distance no more than its share.

    Attributes:
        shown: These pairs, all of known similarity.
        pairs: The number of all pairs that they were taken from.
    """

    shown: Pairs
    pairs: int


def scatter(of: WeighedPairs, most: int) -> Scatter:
    """Return pairs of texts: of each distance all, or no more than its share."""
    pairs = distinct_pairs(of)
    known = pairs.taken(pairs.similarity >= 0)
    return Scatter(sampled(known, most), len(known.later))


def sampled(pairs: Pairs, most: int) -> Pairs:
    """Return at most this many pairs, those of each distance evenly spread over the crawl."""
    totals = pairs.counts()
    ranks = np.empty(len(pairs.distance), np.int64)
    order = np.argsort(pairs.distance, kind="stable")
    ranks[order] = np.arange(len(order)) - np.repeat(np.cumsum(totals) - totals, totals)
    quota, total = shares(totals, most)[pairs.distance], totals[pairs.distance]
    return pairs.taken((ranks + 1) * quota // total > ranks * quota // total)


def shares(available: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Share ``most`` out among the distances, as evenly as the available pairs allow."""
    given = np.zeros_like(available)
    left, waiting = most, list(np.argsort(available, kind="stable"))
    while waiting:
        # The scarcest first; what it leaves goes to the others.
        distance = waiting.pop(0)
        given[distance] = min(int(available[distance]), left // (len(waiting) + 1))
        left -= int(given[distance])
    return given


MAX_COMPARED = 100_000_000
"""The largest number of distances to compute, at 1 to 2 ns; of more texts a sample is asked."""


class NearestCounts(NamedTuple):
    """Texts by the distance of the nearest other one, int64, (65,); ``asked`` of them."""

    counts: NDArray[np.int64]
    asked: int
    is_sampled: bool


def count_nearest(fingerprints: NDArray[np.uint64]) -> NearestCounts:
    """Count distinct texts by the distance to the nearest other one; of very many a sample."""
    texts = len(fingerprints)
    if texts < 2:
        return NearestCounts(np.zeros(65, np.int64), 0, is_sampled=False)
    count = min(texts, max(1, MAX_COMPARED // texts))
    # Evenly spread over the crawl.
    asked = np.arange(count, dtype=np.int64) * texts // count
    counts = np.zeros(65, np.int64)
    for place in asked.tolist():
        distances = np.bitwise_count(fingerprints ^ fingerprints[place])
        distances[place] = 64
        counts[distances.min()] += 1
    return NearestCounts(counts, count, is_sampled=count < texts)


def histogram(of: WeighedPairs) -> NearestCounts:
    """Return the distances from each distinct text to the nearest one."""
    return count_nearest(of.near.fingerprints[of.firsts()])


@dataclass(frozen=True, slots=True)
class ListFilter:
    """Takes the pages in whose URL or title all of some words stand, in either case.

    Attributes:
        words: The words, case-folded; without any, all pages are taken.
    """

    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, written: str | None) -> ListFilter:
        """Return the filter for a text of a reader: words with spaces between them."""
        return cls(tuple((written or "").casefold().split()))

    def __bool__(self) -> bool:
        return bool(self.words)

    def takes(self, url: str, title: str | None) -> bool:
        """Whether a page of this URL and title is taken."""
        where = f"{url}\n{title or ''}".casefold()
        return all(word in where for word in self.words)

    def mask(self, pages: Sequence[LabPage]) -> NDArray[np.bool_]:
        """Return which pages are taken: bool, (pages,).

        Complexity: O(characters of URLs and titles).
        """
        if not self.words:
            return np.ones(len(pages), np.bool_)
        return np.fromiter((self.takes(one.url, one.title) for one in pages), np.bool_, len(pages))


EVERY_PAGE = ListFilter()

_MAX_WEIGHED = 200_000
_RELATED = 0.5
"""The least similarity of pages of one family, such as those of one template."""
_SIMILARITY_SCALE = 0.1
_DISTANCE_SCALE = 1.5


@dataclass(frozen=True, slots=True)
class NearPair:
    """A pair of distinct texts.

    Attributes:
        first: The place of the earlier page.
        second: The place of the later page.
        distance: The distance in bits; -1 where no fingerprints are compared.
        similarity: The similarity, 0 to 1; None: a text is not stored.
        label: The label that a person gave: True, duplicates; None: no label yet.
        why: The reason to label it, in words.
    """

    first: int
    second: int
    distance: int
    similarity: float | None
    label: bool | None
    why: str


def ranked_pairs(of: WeighedPairs, choice: Choice, distances: Sequence[int]) -> Pairs:
    """Return pairs of distinct texts at some distances, those first that teach most.

    It counts that distance and similarity disagree, that the similarity is near ``min_similarity``
    and the distance near ``max_distance``. Every further pair of one family counts less: the second
    half, the third a third. Of more than 200,000 pairs an even sample is looked at.
    """
    every = distinct_pairs(of)
    pairs = sampled(every.taken(np.isin(every.distance, list(distances))), _MAX_WEIGHED)
    families = _families(sampled(every, _MAX_WEIGHED), len(of.is_judged))[pairs.later]
    weights = _fewer_of_each(families, _weights(pairs, choice))
    return pairs.taken(np.lexsort((pairs.later, pairs.earlier, -weights)))


def shown_pairs(
    ranked: Pairs,
    choice: Choice,
    pages: PageColumns,
    labels: Mapping[frozenset[bytes], bool],
    limit: int,
    search: ListFilter,
) -> list[NearPair]:
    """Return the first pairs with a page that is searched for, those with a label last."""
    texts = pages.columns().texts.astype(np.int64)
    has_label = _has_label(texts[ranked.earlier], texts[ranked.later], pages.numbers, labels)
    order = np.argsort(has_label, kind="stable")
    if search:
        is_found = search.mask(pages.pages)
        order = order[(is_found[ranked.earlier] | is_found[ranked.later])[order]]
    return [_pair(ranked, int(row), choice, pages.pages, labels) for row in order[:limit]]


def _has_label(
    ones: NDArray[np.int64],
    others: NDArray[np.int64],
    numbers: Mapping[bytes, int],
    labels: Mapping[frozenset[bytes], bool],
) -> NDArray[np.bool_]:
    """Return which pairs of texts have a label."""
    count = len(numbers)
    known = [[numbers[one] for one in pair if one in numbers] for pair in labels]
    keys = [min(pair) * count + max(pair) for pair in known if len(pair) == 2]
    return np.isin(np.minimum(ones, others) * count + np.maximum(ones, others), keys)


def _families(pairs: Pairs, count: int) -> NDArray[np.int32]:
    """Return for each place the earliest one that it hangs together with by related pairs."""
    related = pairs.taken(pairs.similarity >= _RELATED)
    families = np.arange(count, dtype=np.int32)
    ends = zip(related.earlier.tolist(), related.later.tolist(), strict=True)
    for cluster in clusters(ends):
        families[list(cluster.members)] = cluster.representative
    return families


def _weights(pairs: Pairs, choice: Choice) -> NDArray[np.float64]:
    """Return the weight of each pair, the higher the more its label teaches: float64, (pairs,)."""
    parameters = choice.parameters
    is_known = pairs.similarity >= 0
    off = np.abs(pairs.similarity - parameters.min_similarity) / _SIMILARITY_SCALE
    weights: NDArray[np.float64] = np.where(is_known, np.exp(-off), 0.0)
    if choice.method != SIMHASH:
        return weights
    # The border lies between the last distance that is near and the first that is not.
    beyond = np.abs(pairs.distance - (parameters.max_distance + 0.5)) - 0.5
    weights += np.exp(-beyond / _DISTANCE_SCALE) / 2
    is_similar = pairs.similarity >= parameters.min_similarity
    disagree = is_known & (is_similar != (pairs.distance <= parameters.max_distance))
    weights[disagree] += 1
    return weights


def _fewer_of_each(
    families: NDArray[np.int32], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Divide the weights of each family by 1, 2, 3 ..., from the greatest on."""
    order = np.lexsort((-weights, families))
    starts = np.flatnonzero(np.diff(families[order], prepend=-1))
    ranks = np.arange(len(order)) - np.repeat(starts, np.diff(starts, append=len(order)))
    shared = np.empty_like(weights)
    shared[order] = weights[order] / (1 + ranks)
    return shared


def _pair(
    pairs: Pairs,
    row: int,
    choice: Choice,
    pages: Sequence[LabPage],
    labels: Mapping[frozenset[bytes], bool],
) -> NearPair:
    first, second = int(pairs.earlier[row]), int(pairs.later[row])
    bits, similarity = int(pairs.distance[row]), float(pairs.similarity[row])
    known = None if similarity < 0 else similarity
    digests = frozenset((pages[first].text_digest, pages[second].text_digest))
    return NearPair(first, second, bits, known, labels.get(digests), _why(choice, bits, known))


def _why(choice: Choice, bits: int, similarity: float | None) -> str:
    """Return the reason to label a pair, in words; its measures are shown beside it."""
    if similarity is None:
        return "a text is not held, so the similarity is not known"
    lesson = _of_distance(choice, bits, similarity) if choice.method == SIMHASH else ""
    return lesson or _of_similarity(choice, similarity)


def _of_distance(choice: Choice, bits: int, similarity: float) -> str:
    """Return why the distance makes a pair worth a label, in words; empty: it does not."""
    most, least = choice.parameters.max_distance, choice.parameters.min_similarity
    if bits <= most and similarity < least:
        return "near by distance, not similar enough"
    if bits > most and similarity >= least:
        return f"similar, farther apart than max_distance {most}"
    is_at_border = bits in {most, most + 1} and not _is_close(choice, similarity)
    return f"at the border of max_distance {most}" if is_at_border else ""


def _of_similarity(choice: Choice, similarity: float) -> str:
    least = choice.parameters.min_similarity
    if _is_close(choice, similarity):
        return f"close to min_similarity {least:g}"
    return "similar enough" if similarity >= least else "not similar enough"


def _is_close(choice: Choice, similarity: float) -> bool:
    return abs(similarity - choice.parameters.min_similarity) <= _SIMILARITY_SCALE / 2
