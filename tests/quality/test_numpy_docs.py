"""Errors on 4,753 real texts with known answers, in crawl order.

The bounds belong to this corpus and are only ever lowered. What each of them counts stands in
``neardup.evaluation``; the truth is Jaccard of word 5-shingles of at least .8.
"""

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from neardup import Deduplicator, Parameters
from neardup.evaluation.metrics import Similar, count_errors, read_similar

DATA = Path(__file__).parents[3] / "shared" / "data"
TEXTS = DATA / "numpy.docs.jsonl.gz"
PAIRS = DATA / "numpy.pairs.csv"
CORPUS = (
    "b5af2257dc87697fb60eb393bc45736609f5aaa0d13ff6188afddaa13700b7c1",
    "cbcbfe5c71c25a038e02641694a61999232d74b90facacf1178372490a7b70c8",
)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (TEXTS.exists() and PAIRS.exists()),
        reason="../shared/data, the labelled texts, is absent",
    ),
]


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def texts() -> list[tuple[int, str]]:
    with gzip.open(TEXTS, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    # A row has its text where it is the first page with it.
    return [(row["g"], row["text"]) for row in rows if row.get("words", 0) >= 50]


@pytest.fixture(scope="module")
def similar() -> Similar:
    return read_similar(PAIRS)


def test_the_corpus_is_the_one_that_the_bounds_belong_to(
    texts: list[tuple[int, str]], similar: Similar
) -> None:
    assert (sha256(TEXTS), sha256(PAIRS)) == CORPUS
    assert len(texts) == 4753
    assert sum(map(len, similar.values())) // 2 >= 10_118


@pytest.mark.parametrize(
    ("parameters", "wrong_drops", "missed"),
    [
        (Parameters(verify=False, compare_names=False), 9, 1456),
        (Parameters(compare_names=False), 0, 0),
    ],
    ids=["distance 3 alone", "confirmed"],
)
def test_errors_stay_within_bounds(
    texts: list[tuple[int, str]],
    similar: Similar,
    parameters: Parameters,
    wrong_drops: int,
    missed: int,
) -> None:
    with Deduplicator(parameters) as deduplicator:
        verdicts = [(number, deduplicator.judge(number, text)) for number, text in texts]
    outcome = count_errors(verdicts, similar)
    # For pytest -rP, which reports it.
    print(outcome)
    assert outcome.kept + outcome.dropped == len(texts)
    assert outcome.wrong_drops <= wrong_drops
    assert outcome.missed <= missed
