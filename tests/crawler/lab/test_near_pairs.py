"""The order in which pairs are shown to somebody who labels them, and the nearest of each text."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.lab import near_pairs
from crawler.lab.judgement import Choice
from crawler.lab.labels import Label
from crawler.lab.near_pairs import count_nearest, shares
from neardup import Parameters, hamming, jaccard
from neardup.fingerprints.digest import text_digest
from tests.crawler.lab.pages import Book, Made
from tests.neardup.texts import changed, prose


def book() -> Book:
    """A template of which there are twenty pages, and five pages with a copy each."""
    texts = [words_of(0)]
    texts += [changed(texts[0], number, 5) for number in range(20)]
    for seed in range(1, 6):
        texts += [words_of(seed), changed(words_of(seed), 100 + seed, seed)]
    return Book([Made(text) for text in texts])


def words_of(seed: int) -> str:
    """A text that shares no word with those of other seeds."""
    return " ".join(f"{word}{seed}" for word in prose(seed, 150).split())


def test_every_pair_of_the_asked_distances_is_there_once() -> None:
    made = book()
    texts = [one.text for one in made.made]
    prints = [made.document(one, Parameters()).fingerprint or 0 for one in made.made]
    pairs = {(a, b): hamming(prints[a], prints[b]) for b in range(len(texts)) for a in range(b)}
    for distances in ([0], [3, 5], range(9)):
        found = made.session().pairs(Choice(), distances, limit=1000)
        expected = {pair: bits for pair, bits in pairs.items() if bits in distances}
        assert {(one.first, one.second): one.distance for one in found} == expected
        assert len(found) == len(expected)
        for one in found:
            assert one.similarity == pytest.approx(jaccard(texts[one.first], texts[one.second]))


def test_the_first_pairs_are_those_of_a_larger_number() -> None:
    session = book().session()
    found = session.pairs(Choice(), range(9), limit=1000)
    assert session.pairs(Choice(), range(9), limit=7) == found[:7]


def test_what_has_a_label_comes_last() -> None:
    made = book()
    session = made.session()
    before = session.pairs(Choice(), range(9), limit=1000)
    said = []
    for pair, is_duplicate in ((before[0], True), (before[2], False)):
        digests = [text_digest(made.made[place].text) for place in (pair.second, pair.first)]
        said.append(Label(digests[0], digests[1], is_duplicate, "", "", 0.0))
    said.append(Label(b"a" * 16, b"b" * 16, True, "", "", 0.0))
    after = session.pairs(Choice(), range(9), limit=1000, labels=said)
    assert after == [
        *(pair for pair in before if pair not in (before[0], before[2])),
        replace(before[0], label=True),
        replace(before[2], label=False),
    ]


def test_one_template_does_not_fill_the_beginning() -> None:
    found = book().session().pairs(Choice(), range(9), limit=1000)
    of_template = [pair.second <= 20 for pair in found]
    assert sum(of_template) > 50
    # The others are there soon, each a family of its own.
    others = [place for place, is_of_it in enumerate(of_template) if not is_of_it]
    assert len(others) >= 3
    assert others[-1] < 12


def test_pairs_at_the_border_come_first_and_say_why() -> None:
    made = book()
    session = made.session()
    choice = Choice(Parameters(max_distance=2))
    (first, *_), least = session.pairs(choice, range(9)), choice.parameters.min_similarity
    similarity = first.similarity or 0.0
    # Distance and similarity disagree about it.
    assert (first.distance <= 2) != (similarity >= least)
    assert ("not similar enough" in first.why) == (first.distance <= 2)


def test_where_equality_alone_counts_similarity_is_the_border() -> None:
    found = book().session().pairs(Choice(method="exact"), range(9), limit=200)
    assert "close to min_similarity 0.8" in found[0].why
    assert not any("max_distance" in pair.why for pair in found)


def test_shares_are_as_even_as_what_there_is_allows() -> None:
    available = np.array([0, 5, 1000, 1000, 0, 0, 0, 0, 30])
    assert shares(available, 135).tolist() == [0, 5, 50, 50, 0, 0, 0, 0, 30]
    assert shares(available, 10**6).tolist() == available.tolist()


fingerprints = st.lists(st.integers(0, 2**64 - 1), min_size=2, max_size=600)


class TestNearestProperties:
    @settings(deadline=None)
    @given(fingerprints)
    def test_counts_equal_those_of_all_pairs(self, values: list[int]) -> None:
        expected = [0] * 65
        for place, value in enumerate(values):
            others = values[:place] + values[place + 1 :]
            expected[min((value ^ other).bit_count() for other in others)] += 1
        found = count_nearest(np.array(values, np.uint64))
        assert found.counts.tolist() == expected
        assert (found.asked, found.is_sampled) == (len(values), False)


def test_of_very_many_a_sample_is_asked() -> None:
    values = np.random.default_rng(1).integers(0, 2**64, 20_000, dtype=np.uint64)
    values[1::2] = values[::2]
    found = count_nearest(values)
    assert found.is_sampled
    assert found.asked == near_pairs.MAX_COMPARED // 20_000
    assert found.counts[0] == found.asked


def test_one_text_has_no_nearest() -> None:
    for count in (0, 1):
        found = count_nearest(np.zeros(count, np.uint64))
        assert (found.counts.sum(), found.asked) == (0, 0)
