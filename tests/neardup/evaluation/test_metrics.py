import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import Deduplicator, Parameters, Verdict, hamming, jaccard
from neardup.document import analyse
from neardup.errors import DocumentError, FingerprintError, ParameterError
from neardup.evaluation.metrics import (
    CrawlOutcome,
    Scores,
    SweepRow,
    count_errors,
    labelled_pairs,
    near_pairs,
    read_similar,
    sweep,
    wilson,
)
from tests.neardup.texts import changed, prose


@pytest.mark.parametrize(
    ("scores", "precision", "recall", "f1"),
    [
        (Scores(0, 0, 0), 1.0, 1.0, 1.0),
        (Scores(0, 0, 1), 1.0, 0.0, 0.0),
        (Scores(0, 1, 0), 0.0, 1.0, 0.0),
        (Scores(1, 1, 2), 1.0, 0.5, 2 / 3),
        (Scores(1, 2, 1), 0.5, 1.0, 2 / 3),
    ],
)
def test_scores_of_known_counts(scores: Scores, precision: float, recall: float, f1: float) -> None:
    assert (scores.precision, scores.recall, scores.f1) == pytest.approx((precision, recall, f1))


def test_labelled_pairs_come_once() -> None:
    similar = {1: frozenset({2, 7}), 2: frozenset({1}), 7: frozenset({1})}
    assert labelled_pairs(similar) == {(1, 2), (1, 7)}


@given(st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_f1_lies_between_precision_and_recall(right: int, wrong: int, missed: int) -> None:
    scores = Scores(right, right + wrong, right + missed)
    if scores.found and scores.labelled:
        low, high = sorted((scores.precision, scores.recall))
        assert low - 1e-9 <= scores.f1 <= high + 1e-9
    assert Scores(right, right + missed, right + wrong).f1 == scores.f1


CSV_ROWS = "a,b,j3,j5\n1,2,0.9,0.8\n2,3,0.85,0.79\n7,1,1,1\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    written = tmp_path / "pairs.csv"
    written.write_text(CSV_ROWS)
    return written


def test_a_pair_counts_both_ways_from_the_min_similarity_on(path: Path) -> None:
    assert read_similar(path) == {1: {2, 7}, 2: {1}, 7: {1}}
    assert read_similar(path, measure="j3") == {1: {2, 7}, 2: {1, 3}, 3: {2}, 7: {1}}
    assert read_similar(path, min_similarity=1) == {1: {7}, 7: {1}}


def test_a_missing_column_is_named(path: Path) -> None:
    with pytest.raises(DocumentError, match="line 2: columns a, b and j9 expected"):
        read_similar(path, measure="j9")


@pytest.mark.parametrize("row", ["x,2,0.9,0.9", "1,2,0.9,high", "1"])
def test_a_bad_row_is_named(path: Path, row: str) -> None:
    path.write_text(CSV_ROWS + row + "\n")
    with pytest.raises(DocumentError, match="line 5"):
        read_similar(path)


@pytest.mark.parametrize(
    ("right", "of", "low", "high"),
    [
        # Newcombe, Statistics in Medicine 17, 1998, table I, method 3.
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_intervals_are_those_of_the_literature(
    right: int, of: int, low: float, high: float
) -> None:
    found = wilson(right, of)
    assert found is not None
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)


def test_a_share_of_nothing_is_none() -> None:
    assert wilson(0, 0) is None


class TestWilsonProperties:
    @given(st.integers(1, 10**6), st.data())
    def test_the_share_lies_within(self, of: int, data: st.DataObject) -> None:
        found = wilson(data.draw(st.integers(0, of)), of)
        assert found is not None
        assert 0 <= found.low <= found.share <= found.high <= 1


NEW = Verdict("new")


def repeats(number: int) -> Verdict:
    return Verdict("near_duplicate", number, 1)


# 1, 2 and 3 resemble one another; 4 resembles none.
RESEMBLING = {1: frozenset({2, 3}), 2: frozenset({1, 3}), 3: frozenset({1, 2})}


@pytest.mark.parametrize(
    ("verdicts", "outcome"),
    [
        ([], CrawlOutcome(0, 0, 0, 0)),
        ([(1, NEW), (2, repeats(1)), (3, repeats(1)), (4, NEW)], CrawlOutcome(2, 2, 0, 0)),
        ([(1, NEW), (2, NEW), (3, NEW)], CrawlOutcome(3, 0, 0, 2)),
        ([(1, NEW), (4, repeats(1))], CrawlOutcome(1, 1, 1, 0)),
        # What is kept later does not excuse an earlier drop.
        ([(4, NEW), (1, repeats(4)), (2, NEW)], CrawlOutcome(2, 1, 1, 0)),
        # A drop is right where some kept text resembles it, be another one named.
        ([(1, NEW), (4, NEW), (2, repeats(4))], CrawlOutcome(2, 1, 0, 0)),
    ],
)
def test_errors_are_counted_in_crawl_order(
    verdicts: list[tuple[int, Verdict]], outcome: CrawlOutcome
) -> None:
    assert count_errors(verdicts, RESEMBLING) == outcome


PRINTS = st.dictionaries(st.integers(0, 99), st.integers(0, 2**12 - 1), max_size=25)


@given(PRINTS, st.integers(0, 8))
def test_every_near_pair_is_found_once_and_in_order(
    fingerprints: dict[int, int], radius: int
) -> None:
    values = list(fingerprints.values())
    expected = sorted(
        (later, distance, earlier)
        for later in range(len(values))
        for earlier in range(later)
        if (distance := hamming(values[later], values[earlier])) <= radius
    )
    found = near_pairs(fingerprints, radius)
    rows = zip(found.later.tolist(), found.distances.tolist(), found.earlier.tolist(), strict=True)
    assert list(rows) == expected


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
