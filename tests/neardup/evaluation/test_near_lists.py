"""Near lists hold every pair of distinct texts, or the beginning of all of them."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import jaccard
from neardup.document import analyse
from neardup.evaluation.parameter_sweep import near_pairs
from tests.neardup.evaluation.near import Crawl
from tests.neardup.texts import changed, prose


def brute(crawl: Crawl) -> list[tuple[int, int, int]]:
    """Later place, earlier one that is the first of its text, distance."""
    prints = [analyse(text, crawl.parameters).fingerprint or 0 for text in crawl.texts]
    numbers = crawl.numbers.tolist()
    found = near_pairs(dict(enumerate(prints)), 8)
    pairs = zip(found.later.tolist(), found.earlier.tolist(), found.distances.tolist(), strict=True)
    return [
        (later, earlier, bits)
        for later, earlier, bits in pairs
        if numbers.index(numbers[earlier]) == earlier and numbers[earlier] != numbers[later]
    ]


class TestNearListsProperties:
    @settings(deadline=None)
    @given(st.integers(0, 2**32), st.integers(0, 60), st.integers(1, 20))
    def test_every_near_pair_is_listed_once(self, seed: int, count: int, at_once: int) -> None:
        source = random.Random(seed)
        texts = [prose(source.randrange(10**6), source.randrange(12, 40)) for _ in range(3)]
        for _ in range(count):
            words = source.choice(texts).split()
            if source.random() < 0.4:
                source.shuffle(words)
            texts.append(changed(" ".join(words), source.randrange(10**6), source.randrange(3)))
        crawl = Crawl(texts, at_once=at_once)
        lists = crawl.near().lists
        later = np.repeat(np.arange(len(texts)), np.diff(lists.starts))
        columns = (later.tolist(), lists.earlier.tolist(), lists.distance.tolist())
        assert list(zip(*columns, strict=True)) == brute(crawl)
        assert not lists.is_cut.any()
        shares = [jaccard(texts[a], texts[b]) for a, b in zip(*columns[:2], strict=True)]
        assert lists.similarity.tolist() == shares


def test_a_list_of_nearly_equal_texts_ends_soon_and_says_so() -> None:
    words, texts = prose(1, 300).split(), []
    for place in range(120):
        swapped = list(words)
        swapped[place], swapped[place + 1] = swapped[place + 1], swapped[place]
        texts.append(" ".join(swapped))
    crawl = Crawl(texts)
    lists, every = crawl.near().lists, brute(crawl)
    assert lists.is_cut.any()
    for place in range(120):
        first, last = lists.starts[place : place + 2].tolist()
        listed = list(
            zip(
                lists.earlier[first:last].tolist(), lists.distance[first:last].tolist(), strict=True
            )
        )
        expected = [(earlier, bits) for later, earlier, bits in every if later == place]
        assert listed == expected[: last - first]
        assert lists.is_cut[place] == (last - first < len(expected))
