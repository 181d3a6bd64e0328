"""Verdicts are those of a deduplicator, however much of the near lists is held."""

import random
from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import Deduplicator, Parameters
from neardup.evaluation.judging import CHANGED, Bounds, Near, judge_all
from neardup.evaluation.near_arrays import Lists
from neardup.whole import part_of, with_whole
from tests.neardup.evaluation.near import FEATURES, Crawl
from tests.neardup.texts import changed, prose


def bounds_of(parameters: Parameters) -> Bounds:
    return Bounds(
        parameters.radius,
        parameters.max_distance,
        parameters.min_words,
        parameters.verify,
        parameters.min_similarity,
        by_minhash=False,
    )


def originals(crawl: Crawl, near: Near, parameters: Parameters) -> list[int]:
    verdicts, unknown = judge_all(crawl.columns, near, bounds_of(parameters))
    assert unknown == 0
    assert (verdicts.kept == (verdicts.original < 0)).all()
    is_changed = crawl.columns.is_changed & verdicts.kept
    assert (is_changed == (verdicts.layer == CHANGED)).all()
    return [int(place) for place in verdicts.original]


def said(crawl: Crawl, parameters: Parameters) -> list[int]:
    """The original of each text, as a deduplicator names it; -1: none."""
    found = []
    with Deduplicator(parameters) as deduplicator:
        for place, text in enumerate(crawl.texts):
            original = deduplicator.judge(place, text).duplicate_of
            found.append(-1 if original is None else original)
    return found


def cut(near: Near, source: random.Random) -> Near:
    """Forget the ends of some lists."""
    lists = near.lists
    keep: list[int] = []
    is_cut, starts = lists.is_cut.copy(), [0]
    for place in range(len(is_cut)):
        first, last = int(lists.starts[place]), int(lists.starts[place + 1])
        if first < last and source.random() < 0.7:
            last, is_cut[place] = source.randrange(first, last), True
        keep += range(first, last)
        starts.append(len(keep))
    kept = np.array(keep, np.int64)
    columns = (lists.earlier[kept], lists.distance[kept], lists.similarity[kept])
    return near._replace(lists=Lists(np.array(starts, np.int64), is_cut, *columns))


@st.composite
def crawls(draw: st.DrawFn) -> tuple[Crawl, random.Random]:
    """Few texts, much changed; shuffled ones have the same fingerprint."""
    source = random.Random(draw(st.integers(0, 2**32)))
    texts = [prose(source.randrange(10**6), source.randrange(12, 40)) for _ in range(3)]
    wholes = [prose(number, 40) for number in range(2)]
    for _ in range(draw(st.integers(0, 40))):
        words = part_of(source.choice(texts)).split()
        if source.random() < 0.4:
            source.shuffle(words)
        text = changed(" ".join(words), source.randrange(10**6), source.randrange(3))
        if source.random() < 0.3:
            text = with_whole(text, changed(source.choice(wholes), 1, source.randrange(9)))
        texts.append(text)
    places = frozenset(place for place in range(len(texts)) if source.random() < 0.1)
    return Crawl(texts, places, source.randrange(1, 20)), source


near_bounds = st.builds(
    lambda near, far, verify, least: Parameters(
        features=FEATURES,
        max_distance=min(near, far),
        candidate_distance=max(near, far),
        min_words=1,
        verify=verify,
        min_similarity=least,
    ),
    st.integers(0, 8),
    st.integers(0, 8),
    st.booleans(),
    st.sampled_from([0.0, 0.3, 0.6, 0.8, 1.0]),
)


class TestJudgingProperties:
    @settings(deadline=None)
    @given(crawls(), near_bounds)
    def test_lists_that_are_cut_change_no_verdict(
        self, made: tuple[Crawl, random.Random], parameters: Parameters
    ) -> None:
        crawl, source = made
        expected = said(crawl, parameters)
        assert originals(crawl, crawl.near(), parameters) == expected
        assert originals(crawl, cut(crawl.near(), source), parameters) == expected


def test_a_neighbourhood_of_more_than_a_thousand_fingerprints() -> None:
    """All numbers of at most three bits out of 20 are within six bits of each other."""
    values = [
        sum(1 << bit for bit in bits) for size in range(4) for bits in combinations(range(20), size)
    ]
    source = random.Random(1)
    source.shuffle(values)
    groups = [source.randrange(2000) for _ in values]
    texts = [
        " ".join([*(f"g{group}w{word}" for word in range(8)), f"own{place}"])
        for place, group in enumerate(groups)
    ]
    crawl = Crawl(texts, at_once=300, fingerprints=values)
    near, max_seen = crawl.near(), 0
    assert near.lists.is_cut.any()
    prints = np.array(values, np.uint64)
    for radius, least in ((8, 0.5), (6, 0.5), (4, 0.5), (6, 0.9)):
        parameters = Parameters(min_words=1, candidate_distance=radius, min_similarity=least)
        kept: list[int] = []
        expected = []
        for place, group in enumerate(groups):
            before = np.array(kept, np.int64)
            distances = np.bitwise_count(prints[before] ^ prints[place])
            order = np.argsort(distances, kind="stable")
            order = order[distances[order] <= radius]
            max_seen, order = max(max_seen, len(order)), order[:1000]
            same = [int(one) for one in before[order] if groups[one] == group and least < 0.6]
            expected.append(same[0] if same else -1)
            if not same:
                kept.append(place)
        assert originals(crawl, near, parameters) == expected
        assert originals(crawl, cut(near, source), parameters) == expected
    assert max_seen > 1000
