import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import Deduplicator, Parameters, jaccard
from neardup.document import analyse
from neardup.errors import FingerprintError, ParameterError
from neardup.evaluation.metrics import Scores, count_errors
from neardup.evaluation.parameter_sweep import SweepRow, sweep
from tests.neardup.texts import changed, prose

SIMILAR = {1: frozenset({2, 3}), 2: frozenset({1}), 3: frozenset({1})}
FINGERPRINTS = {1: 0b0, 2: 0b1, 3: 0b11, 4: 0b111}


def test_a_row_says_what_a_distance_does() -> None:
    alone = [sweep(FINGERPRINTS, SIMILAR, distances=[bits])[0] for bits in (0, 1, 3)]
    assert alone == [
        SweepRow(0, None, 4, 0, 0, 2, 1.0, 0.0, 0.0),
        # 2 repeats 1; 3 is near 2 alone, which is dropped; 4 repeats 3, wrongly.
        SweepRow(1, None, 2, 2, 1, 1, 1 / 3, 0.5, 0.4),
        SweepRow(3, None, 1, 3, 1, 0, 2 / 6, 1.0, 0.5),
    ]


def test_a_similarity_confirms_what_is_near() -> None:
    shares = {(1, 2): 0.9, (2, 3): 0.5, (3, 4): 0.1, (1, 3): 0.8, (2, 4): 0.1, (1, 4): 0.1}
    rows = sweep(
        FINGERPRINTS,
        SIMILAR,
        distances=[3],
        similarity=lambda earlier, later: shares[earlier, later],
        min_similarities=[0.8, 0.0],
    )
    assert [row.min_similarity for row in rows] == [None, 0.8, 0.0]
    assert rows[1] == SweepRow(3, 0.8, 2, 2, 0, 0, 1.0, 1.0, 1.0)
    assert rows[2].dropped == rows[0].dropped


def test_each_pair_is_compared_once_for_all_rows() -> None:
    asked: list[tuple[int, int]] = []

    def similarity(earlier: int, later: int) -> float:
        asked.append((earlier, later))
        return 1.0

    sweep(FINGERPRINTS, SIMILAR, similarity=similarity, min_similarities=[0.7, 0.8, 0.9])
    assert sorted(asked) == [(1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)]


def test_pairs_of_texts_without_a_fingerprint_are_not_to_be_found() -> None:
    (row,) = sweep({1: 0, 2: 0}, SIMILAR | {9: frozenset({1})}, distances=[0])
    assert (row.recall, row.missed) == (1.0, 0)


def test_no_texts_make_rows_of_nothing() -> None:
    assert sweep({}, {}, distances=[3]) == [SweepRow(3, None, 0, 0, 0, 0, 1.0, 1.0, 1.0)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"distances": []}, "at least one distance"),
        ({"distances": [3, 9]}, "0..8, got 9"),
        ({"distances": [-1]}, "0..8, got -1"),
        ({"min_similarities": [1.5]}, "0..1, got 1.5"),
        ({"min_similarities": [float("nan")]}, "0..1, got nan"),
    ],
)
def test_bad_parameters_are_named(arguments: dict[str, list[int]], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        sweep({}, {}, **arguments)  # type: ignore[arg-type]


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
        outcome = count_errors(verdicts, labelled)
        assert (row.kept, row.dropped) == (outcome.kept, outcome.dropped)
        assert (row.wrong_drops, row.missed) == (outcome.wrong_drops, outcome.missed)


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
        scores = Scores(len(pairs & near), len(near), len(pairs))
        (row,) = sweep(dict(enumerate(values)), labelled, distances=[bits])
        assert (row.precision, row.recall, row.f1) == (scores.precision, scores.recall, scores.f1)
