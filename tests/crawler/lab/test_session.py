"""A session judges as a deduplicator that is fed the same texts in the same order."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.lab.choice import Choice
from crawler.lab.judgement import LAYERS
from neardup import Deduplicator, Features, Parameters
from tests.crawler.lab.pages import Book, Made
from tests.neardup.texts import changed, prose

if TYPE_CHECKING:
    from crawler.lab.judgement import Judgement

TINY = Parameters(min_words=12)


def oracle(book: Book, parameters: Parameters) -> list[tuple[str, int, int]]:
    """What a deduplicator says of each page: layer, place of the original, distance."""
    said = []
    with Deduplicator(parameters) as deduplicator:
        for place, made in enumerate(book.made):
            document = book.document(made, parameters)
            if made.is_changed:
                deduplicator.add_document(place, document)
                said.append(("changed", -1, -1))
                continue
            verdict = deduplicator.judge_document(place, document)
            if verdict.duplicate_of is None:
                said.append((verdict.kind, -1, -1))
            else:
                said.append((verdict.tier or "", verdict.duplicate_of, verdict.distance or 0))
    return said


def told(judgement: Judgement) -> list[tuple[str, int, int]]:
    layers = [LAYERS[layer] for layer in judgement.layer]
    rows = zip(layers, judgement.original.tolist(), judgement.distance.tolist(), strict=True)
    return list(rows)


@st.composite
def books(draw: st.DrawFn) -> Book:
    """Few texts, much changed: equal, shuffled (the same fingerprint), words replaced, short."""
    source = random.Random(draw(st.integers(0, 2**32)))
    texts = [prose(source.randrange(10**6), source.randrange(8, 40)) for _ in range(4)]
    made = []
    for _ in range(draw(st.integers(1, 45))):
        kind = source.random()
        text = source.choice(texts)
        if kind < 0.3:
            words = text.split()
            source.shuffle(words)
            text = " ".join(words)
        elif kind < 0.75:
            count = min(source.randrange(3), len(text.split()))
            text = changed(text, source.randrange(10**6), count)
        elif kind < 0.8:
            text = source.choice(["", "...", "few words", prose(source.randrange(10**6), 30)])
        texts.append(text)
        payload = source.choice([None, None, source.randrange(30)]) if text else None
        is_changed = source.random() < 0.1
        made.append(Made(text, payload, source.random() < 0.9, is_changed))
    return Book(made, TINY)


bounds = st.builds(
    lambda near, far, words, verify, least, features, size: Parameters(
        features=features,
        max_distance=min(near, far),
        candidate_distance=max(near, far),
        min_words=words,
        verify=verify,
        min_similarity=least,
        verify_shingle_size=size,
    ),
    st.integers(0, 8),
    st.integers(0, 8),
    st.sampled_from([1, 5, 11, 12, 20, 30]),
    st.booleans(),
    st.sampled_from([0.0, 0.2, 0.5, 0.7, 0.8, 1.0]),
    st.sampled_from([None, Features("character", 4, "count"), Features("word", 2, "set")]),
    st.sampled_from([5, 5, 2]),
)


class TestSessionProperties:
    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(books(), st.lists(bounds, min_size=1, max_size=3), st.integers(0, 45))
    def test_judges_as_a_deduplicator(
        self, book: Book, tried: list[Parameters], first: int
    ) -> None:
        session, pages = book.empty_session(), book.pages()
        session.extend(pages[:first])
        session.prepare(Choice(tried[0]))
        session.extend(pages[first:])
        for parameters in [*tried, book.running, tried[0]]:
            judgement = session.judge(Choice(parameters))
            assert told(judgement) == oracle(book, parameters)
            assert judgement.unknown == 0
