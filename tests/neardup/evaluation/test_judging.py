"""Verdicts are those of a judge that compares each text with all that were kept before it."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import Parameters, hamming, jaccard
from neardup.document import Document, analyse
from neardup.evaluation.judging import Verdicts, bounds_of, judge_all
from neardup.evaluation.near_arrays import (
    CANDIDATE,
    CHANGED,
    LAYERS,
    NEW,
    SAME_TEMPLATE,
    SIMHASH,
    TEXT,
)
from neardup.fingerprints.minhash import minhash
from neardup.indexes.banding import CANDIDATE_BANDING, CANDIDATE_PERMUTATIONS
from neardup.names import Name, difference
from neardup.verification import JaccardVerifier, compared_with
from neardup.whole import part_of, with_whole
from tests.neardup.evaluation.near import FEATURES, Crawl
from tests.neardup.texts import changed, prose

_TITLES = ["Red shoe | Shop", "Blue shoe | Shop", "Shop"]


def titled(titles: list[str]) -> list[Name]:
    return [Name(title) for title in titles]


def verdicts_of(crawl: Crawl, parameters: Parameters) -> Verdicts:
    verdicts = judge_all(crawl.columns, crawl.near(), bounds_of(parameters))
    assert (verdicts.kept == (verdicts.original < 0)).all()
    is_changed = crawl.columns.is_changed & verdicts.kept
    assert (is_changed == (verdicts.layer == CHANGED)).all()
    assert ((verdicts.layer == SAME_TEMPLATE) == (verdicts.resembles >= 0)).all()
    return verdicts


def found_by(crawl: Crawl, parameters: Parameters) -> list[tuple[str, int, int]]:
    """The layer, the original and what is resembled, of each text."""
    found = verdicts_of(crawl, parameters)
    rows = zip(found.layer.tolist(), found.original, found.resembles, strict=True)
    return [(LAYERS[layer], int(one), int(other)) for layer, one, other in rows]


def share_a_band(one: str, other: str) -> bool:
    shape = CANDIDATE_BANDING
    ours, theirs = (
        minhash(part_of(text), permutations=CANDIDATE_PERMUTATIONS).reshape(shape)
        for text in (one, other)
    )
    return bool((ours == theirs).all(axis=1).any())


def expected_of(crawl: Crawl, parameters: Parameters) -> list[tuple[str, int, int]]:
    """Compare each text with all kept ones, one by one."""
    kept: dict[int, Document] = {}
    found = []
    for place, text in enumerate(crawl.texts):
        document = analyse(text, crawl.parameters)
        layer, original, resembled = _expected(crawl, kept, place, document, parameters)
        if original < 0:
            kept[place] = document
            if place in np.flatnonzero(crawl.columns.is_changed):
                layer, resembled = CHANGED, -1
        found.append((LAYERS[layer], original, resembled))
    return found


def _expected(
    crawl: Crawl, kept: dict[int, Document], place: int, document: Document, parameters: Parameters
) -> tuple[int, int, int]:
    equal = [number for number, other in kept.items() if other.digest == document.digest]
    if equal:
        return TEXT, equal[0], -1
    compared = compared_with(JaccardVerifier(5), document.text, min_similarity=0.0)
    near = sorted(
        (hamming(document.fingerprint or 0, other.fingerprint or 0), number)
        for number, other in kept.items()
    )
    reached = [pair for pair in near if pair[0] <= parameters.max_distance]
    tiers = [(SIMHASH, reached)]
    if parameters.verify:
        banded = [pair for pair in near if share_a_band(document.text, kept[pair[1]].text)]
        tiers.append((CANDIDATE, banded))
    resembled = -1
    for layer, pairs in tiers:
        for _, number in pairs:
            if parameters.verify and compared(kept[number].text) < parameters.min_similarity:
                continue
            is_other = difference(crawl.names[place], crawl.names[number])
            if not (parameters.compare_names and is_other):
                return layer, number, -1
            resembled = number if resembled < 0 else resembled
    return (NEW if resembled < 0 else SAME_TEMPLATE), -1, resembled


@st.composite
def crawls(draw: st.DrawFn) -> Crawl:
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
    names = titled([source.choice(_TITLES) for _ in texts]) if source.random() < 0.7 else None
    return Crawl(texts, places, source.randrange(1, 20), names=names)


bounds = st.builds(
    lambda near, verify, least, names: Parameters(
        features=FEATURES,
        max_distance=near,
        min_words=1,
        verify=verify,
        min_similarity=least,
        compare_names=names,
    ),
    st.integers(0, 8),
    st.booleans(),
    st.sampled_from([0.0, 0.3, 0.6, 0.8, 1.0]),
    st.booleans(),
)


class TestJudgingProperties:
    @settings(deadline=None)
    @given(crawls(), bounds)
    def test_each_verdict_is_that_of_comparing_all_kept_texts(
        self, crawl: Crawl, parameters: Parameters
    ) -> None:
        assert found_by(crawl, parameters) == expected_of(crawl, parameters)


def siblings(count: int) -> list[str]:
    """Texts on one template of 200 words, each with three words of its own."""
    words = prose(1, 200).split()
    texts = []
    for number in range(count):
        own = [f"name{number}", f"price{number * 7}", f"code{number * 31}"]
        texts.append(" ".join(words[:100] + own + words[100:]))
    return texts


def test_siblings_of_other_names_are_kept_and_a_copy_among_them_is_dropped() -> None:
    texts = siblings(900)
    titles = [f"Product {number} | Shop" for number in range(900)]
    # A copy of the first product that was made by another template at its end.
    texts.append(texts[0] + " printed on paper")
    titles.append(titles[0])
    crawl = Crawl(texts, names=titled(titles), at_once=400)
    found = verdicts_of(crawl, Parameters(min_words=1))
    assert found.original.tolist() == [-1] * 900 + [0]
    assert (found.layer[1:900] == SAME_TEMPLATE).all()
    for place in (1, 700, 899):
        similarity = jaccard(texts[place], texts[int(found.resembles[place])])
        assert abs(found.similarity[place] - similarity) < 1e-6
    blind = verdicts_of(crawl, Parameters(min_words=1, compare_names=False))
    assert blind.original.tolist() == [-1] + [0] * 900
