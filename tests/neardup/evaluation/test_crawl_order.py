import pytest

from neardup import Verdict
from neardup.evaluation.metrics import CrawlOutcome, count_errors

NEW = Verdict("new")


def repeats(number: int) -> Verdict:
    return Verdict("near_duplicate", number, 1)


# 1, 2 and 3 resemble one another; 4 resembles none.
SIMILAR = {1: frozenset({2, 3}), 2: frozenset({1, 3}), 3: frozenset({1, 2})}


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
    assert count_errors(verdicts, SIMILAR) == outcome
