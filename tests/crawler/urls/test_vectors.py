from __future__ import annotations

from itertools import chain

import pytest

from tests.crawler.urls import comparisons
from tests.crawler.urls.differences import DIFFERENCES

pytestmark = pytest.mark.skipif(
    not comparisons.FOLDER.is_dir(), reason="the vectors of ../shared/data/urls are not here"
)

# Comparison, vectors of http and https, those among them that both sides refuse or should.
COUNTS = {
    "ada": (514, 267),
    "semantic_precise": (280, 118),
    "supplemental_whatwg": (118, 43),
    "aggressive": (42, 0),
    "surt": (66, 2),
    "path_dots": (376, 0),
    "funky_ipv4": (47, 16),
    "idempotence": (43, 27),
    "parsing": (47, 0),
}


@pytest.mark.parametrize("name", COUNTS)
def test_vectors_agree_but_for_the_listed_ones(name: str) -> None:
    outcomes = list(getattr(comparisons, name)())
    listed = list(chain.from_iterable(DIFFERENCES.get(name, {}).values()))
    differing = [outcome for outcome in outcomes if outcome.ours != outcome.theirs]
    assert sorted(outcome.vector for outcome in differing) == sorted(listed)
    refused = sum(outcome.theirs == comparisons.REFUSED for outcome in outcomes)
    assert (len(outcomes), refused) == COUNTS[name]


def test_whatever_the_standard_refuses_is_refused() -> None:
    for outcome in chain(comparisons.ada(), comparisons.semantic_precise()):
        if outcome.theirs == comparisons.REFUSED:
            assert outcome.ours == comparisons.REFUSED, outcome.vector


@pytest.mark.parametrize("name", ["semantic_precise", "supplemental_whatwg"])
def test_nothing_is_merged_that_the_semantic_vectors_keep_apart(name: str) -> None:
    # Differences are all of one kind: theirs merge more, or read what ours refuse.
    pages: dict[object, set[object]] = {}
    for outcome in getattr(comparisons, name)():
        if outcome.ours != comparisons.REFUSED:
            pages.setdefault(outcome.ours, set()).add(outcome.theirs)
    assert [theirs for theirs in pages.values() if len(theirs) > 1] == []
