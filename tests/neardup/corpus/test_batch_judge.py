"""Batches of texts are judged as the same texts one after the other."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import Parameters, evidence
from neardup.batch.analysing import batch_of, row_of
from neardup.batch.parsing import WebPage
from neardup.corpus import batch_judge
from neardup.corpus.batch_judge import BatchJudge
from tests.neardup.batch.corpus import made, online, title_of

SIZES = st.lists(st.integers(1, 40), min_size=1, max_size=8)


def judged(texts: list[str], sizes: list[int], parameters: Parameters) -> list[dict[str, Any]]:
    """The rows of documents, of batches of the sizes, one after the other and from the start."""
    found, place = [], 0
    with TemporaryDirectory() as folder, closing(BatchJudge(parameters, Path(folder))) as judge:
        while place < len(texts):
            for size in sizes:
                some = texts[place : place + size]
                pages = [
                    WebPage(place + n, f"{place + n}", text, title=title_of(text))
                    for n, text in enumerate(some)
                ]
                if pages:
                    rows = [row_of(page, 0, "a", parameters) for page in pages]
                    tables = judge.judge(batch_of(rows))
                    found += tables["documents"].to_pylist()
                place += size
    return found


def check(texts: list[str], sizes: list[int], parameters: Parameters) -> None:
    """Expect of batches what a deduplicator says of the texts one after the other."""
    _, verdicts = online(dict(enumerate(texts)), parameters)
    wanted = [
        (one.kind, one.duplicate_of, one.distance, one.similarity, one.tier, one.resembles)
        for one in verdicts.values()
    ]
    assert [as_said(row) for row in judged(texts, sizes, parameters)] == wanted


def as_said(row: dict[str, Any]) -> tuple[Any, ...]:
    names = ("verdict", "duplicate_of", "distance", "similarity", "tier", "resembles")
    return tuple(row[name] for name in names)


class TestBatchJudgeProperties:
    @settings(max_examples=20)
    @given(st.integers(0, 10_000), SIZES, st.sampled_from([{}, {"verify": False}]))
    def test_verdicts_are_those_of_a_deduplicator_in_batches_of_any_size(
        self, seed: int, sizes: list[int], options: dict[str, Any]
    ) -> None:
        check(made(seed, 60), sizes, Parameters(**options))


@pytest.mark.parametrize("seed", [13, 26, 33])
def test_verdicts_stay_where_names_are_not_looked_up_any_more(
    monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """The batch in which this begins is judged one by one.

    Names are looked up for texts of more candidates than are compared. For these seeds a verdict is
    another one where texts of the batch are counted that come after such a text.
    """
    monkeypatch.setattr(evidence, "MAX_CANDIDATES", 1)
    for module in (batch_judge, evidence):
        monkeypatch.setattr(module, "MAX_NAMED", 20)
    check(made(seed, 120), [40], Parameters(max_distance=8))
