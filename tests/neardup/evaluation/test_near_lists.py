"""Near lists hold every pair of distinct texts, or the beginning of all of them."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import jaccard
from neardup.document import analyse
from neardup.evaluation.metrics import near_pairs
from neardup.names import Name
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
        is_near = lists.distance <= 8
        assert lists.is_candidate[~is_near].all()
        later = np.repeat(np.arange(len(texts)), np.diff(lists.starts))
        columns = [part[is_near].tolist() for part in (later, lists.earlier, lists.distance)]
        assert list(zip(*columns, strict=True)) == brute(crawl)
        shares = [jaccard(texts[a], texts[b]) for a, b in zip(*columns[:2], strict=True)]
        assert lists.similarity[is_near].tolist() == shares


def test_the_same_text_under_two_names_is_listed_twice() -> None:
    texts = [prose(1, 40), changed(prose(1, 40), 1, 1), prose(1, 40), prose(1, 40)]
    texts.append(changed(prose(1, 40), 2, 1))
    crawl = Crawl(texts, names=[Name(title) for title in ("Red", "Red", "Blue", "Red", "Blue")])
    lists = crawl.near().lists
    first, last = lists.starts[4:6].tolist()
    assert sorted(lists.earlier[first:last].tolist()) == [0, 1, 2]
    others = dict(zip(lists.earlier[first:last], lists.is_other[first:last], strict=True))
    assert others == {0: True, 1: True, 2: False}


def test_a_list_ends_after_a_thousand_texts() -> None:
    words, texts = prose(1, 1300).split(), []
    for place in range(1200):
        changed_words = list(words)
        changed_words[place] = f"other{place}"
        texts.append(" ".join(changed_words))
    lists = Crawl(texts, at_once=500).near().lists
    assert np.diff(lists.starts).tolist() == [min(place, 1000) for place in range(1200)]
    last = lists.earlier[lists.starts[1199] :].tolist()
    distances = lists.distance[lists.starts[1199] :].tolist()
    assert list(zip(distances, last, strict=True)) == sorted(zip(distances, last, strict=True))
