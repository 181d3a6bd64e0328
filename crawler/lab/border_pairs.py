"""Rank the pairs from which a label teaches most: those on which the bounds are least sure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from crawler.lab.judgement import SIMHASH, shares
from neardup.evaluation import kernels
from neardup.evaluation.distinct_pairs import Picked, count_all, pick

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from crawler.lab.crawl_source import LabPage
    from crawler.lab.judgement import Choice, WeighedPairs
    from crawler.lab.page_columns import PageColumns


@dataclass(frozen=True, slots=True)
class ListFilter:
    """Takes the pages in whose URL or title all of some words stand, in either case.

    Attributes:
        words: The words, case-folded; without any, all pages are taken.
    """

    words: tuple[str, ...] = ()

    @classmethod
    def of(cls, written: str | None) -> ListFilter:
        """Return the filter of what a reader wrote: words with spaces between them."""
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


def ranked_pairs(of: WeighedPairs, choice: Choice, distances: Sequence[int]) -> Picked:
    """Return pairs of distinct texts at some distances, those first that teach most.

    It counts that distance and similarity disagree, that the similarity is near ``min_similarity``
    and the distance near ``max_distance``. Every further pair of one family counts less: the second
    half, the third a third. Of more than 200,000 pairs an even sample is weighed.
    """
    picked = _pick(of, choice, distances)
    families = kernels.families(of.near.lists, _RELATED)[picked.later]
    weights = _fewer_of_each(families, _weights(picked, choice))
    order = np.lexsort((picked.later, picked.earlier, -weights))
    return Picked(
        picked.earlier[order],
        picked.later[order],
        picked.distance[order],
        picked.similarity[order],
    )


def shown_pairs(
    ranked: Picked,
    choice: Choice,
    pages: PageColumns,
    labels: Mapping[frozenset[bytes], bool],
    limit: int,
    search: ListFilter,
) -> list[NearPair]:
    """Return the first pairs of which a page is searched for, those with a label last."""
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


def _pick(of: WeighedPairs, choice: Choice, distances: Sequence[int]) -> Picked:
    counts = count_all(of.near, of.is_judged, choice.parameters.min_similarity)
    totals = counts.different + counts.similar + counts.unknown
    wanted = np.zeros_like(totals)
    chosen = [bits for bits in range(len(totals)) if bits in distances]
    wanted[chosen] = totals[chosen]
    given = shares(wanted, _MAX_WEIGHED)
    return pick(of.near, of.is_judged, totals, given, with_unknown=True)


def _weights(picked: Picked, choice: Choice) -> NDArray[np.float64]:
    """Return the weight of each pair, the higher the more its label teaches: float64, (pairs,)."""
    parameters = choice.parameters
    is_known = picked.similarity >= 0
    off = np.abs(picked.similarity - parameters.min_similarity) / _SIMILARITY_SCALE
    weights: NDArray[np.float64] = np.where(is_known, np.exp(-off), 0.0)
    if choice.method != SIMHASH:
        return weights
    # The border lies between the last distance that is near and the first that is not.
    beyond = np.abs(picked.distance - (parameters.max_distance + 0.5)) - 0.5
    weights += np.exp(-beyond / _DISTANCE_SCALE) / 2
    is_similar = picked.similarity >= parameters.min_similarity
    disagree = is_known & (is_similar != (picked.distance <= parameters.max_distance))
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
    picked: Picked,
    row: int,
    choice: Choice,
    pages: Sequence[LabPage],
    labels: Mapping[frozenset[bytes], bool],
) -> NearPair:
    first, second = int(picked.earlier[row]), int(picked.later[row])
    bits, similarity = int(picked.distance[row]), float(picked.similarity[row])
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
