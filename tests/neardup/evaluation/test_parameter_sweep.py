import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import Deduplicator, Parameters, jaccard
from neardup.document import analyse
from neardup.errors import FingerprintError, ParameterError
from neardup.evaluation.metrics import CrawlOutcome, Scores, SweepRow, count_errors, sweep
from tests.neardup.texts import changed, prose

SIMILAR = {1: frozenset({2, 3}), 2: frozenset({1}), 3: frozenset({1})}
FINGERPRINTS = {1: 0b0, 2: 0b1, 3: 0b11, 4: 0b111}


def test_a_row_says_what_a_distance_does() -> None:
    assert sweep(FINGERPRINTS, SIMILAR, [0, 1, 3]) == [
        SweepRow(0, CrawlOutcome(4, 0, 0, 2), Scores(0, 0, 2)),
        # 2 repeats 1; 3 is near 2 alone, which is dropped; 4 repeats 3, wrongly.
        SweepRow(1, CrawlOutcome(2, 2, 1, 1), Scores(1, 3, 2)),
        SweepRow(3, CrawlOutcome(1, 3, 1, 0), Scores(2, 6, 2)),
    ]


def test_pairs_of_texts_without_a_fingerprint_are_not_to_be_found() -> None:
    (row,) = sweep({1: 0, 2: 0}, SIMILAR | {9: frozenset({1})}, [0])
    assert (row.scores.recall, row.outcome.missed) == (1.0, 0)


def test_no_texts_make_rows_of_nothing() -> None:
    assert sweep({}, {}, [3]) == [SweepRow(3, CrawlOutcome(0, 0, 0, 0), Scores(0, 0, 0))]


@pytest.mark.parametrize(
    ("distances", "message"),
    [([], "at least one distance"), ([3, 9], "0..8, got 9"), ([-1], "0..8, got -1")],
)
def test_bad_parameters_are_named(distances: list[int], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        sweep({}, {}, distances)


def test_a_bad_fingerprint_is_refused() -> None:
    with pytest.raises(FingerprintError):
        sweep({1: 1 << 64}, {})


def test_it_drops_what_a_deduplicator_drops_by_distance_alone() -> None:
    source = random.Random(1)
    texts = [prose(seed, 150) for seed in range(20)]
    texts += [
        changed(source.choice(texts), seed, count=source.randrange(1, 8)) for seed in range(60)
    ]
    source.shuffle(texts)
    judged = Parameters(verify=False)
    fingerprints = {
        number: analyse(text, judged).fingerprint or 0 for number, text in enumerate(texts)
    }
    labelled = {
        number: frozenset(
            other
            for other in range(len(texts))
            if other != number and jaccard(text, texts[other]) > 0.7
        )
        for number, text in enumerate(texts)
    }
    for row in sweep(fingerprints, labelled):
        parameters = Parameters(max_distance=row.max_distance, verify=False)
        with Deduplicator(parameters) as deduplicator:
            verdicts = [
                (number, deduplicator.judge(number, text)) for number, text in enumerate(texts)
            ]
        assert row.outcome == count_errors(verdicts, labelled)


class TestSweepProperties:
    @settings(deadline=None)
    @given(
        st.lists(st.integers(0, 2**10 - 1), max_size=12),
        st.sets(st.tuples(st.integers(0, 11), st.integers(0, 11))),
        st.integers(0, 8),
    )
    def test_precision_and_recall_equal_those_of_all_pairs(
        self, values: list[int], pairs: set[tuple[int, int]], bits: int
    ) -> None:
        count = len(values)
        pairs = {pair for pair in pairs if pair[0] < pair[1] < count}
        labelled = {
            number: frozenset(b if a == number else a for a, b in pairs if number in (a, b))
            for number in range(count)
        }
        near = {
            (b, a)
            for a in range(count)
            for b in range(a)
            if (values[a] ^ values[b]).bit_count() <= bits
        }
        (row,) = sweep(dict(enumerate(values)), labelled, [bits])
        assert row.scores == Scores(len(pairs & near), len(near), len(pairs))
