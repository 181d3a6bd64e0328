"""Batches of texts are judged as the same texts one after the other."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import Parameters
from neardup.batch.parsing import WebPage
from neardup.corpus import analysis_pool, batch_judge
from neardup.corpus.batch_judge import BatchJudge
from tests.neardup.batch.corpus import made, online, title_of

if TYPE_CHECKING:
    import pytest

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
                    rows = [analysis_pool._row(page, 0, "a", parameters) for page in pages]
                    tables = judge.judge(analysis_pool._batch(rows))
                    found += tables["documents"].to_pylist()
                place += size
    return found


def as_said(row: dict[str, Any]) -> tuple[Any, ...]:
    names = ("verdict", "duplicate_of", "distance", "similarity", "tier", "resembles")
    return tuple(row[name] for name in names)


class TestBatchJudgeProperties:
    @settings(max_examples=20)
    @given(st.integers(0, 10_000), SIZES, st.sampled_from([{}, {"verify": False}]))
    def test_verdicts_are_those_of_a_deduplicator_in_batches_of_any_size(
        self, seed: int, sizes: list[int], options: dict[str, Any]
    ) -> None:
        texts, parameters = made(seed, 60), Parameters(**options)
        _, verdicts = online(dict(enumerate(texts)), parameters)
        wanted = [
            (one.kind, one.duplicate_of, one.distance, one.similarity, one.tier, one.resembles)
            for one in verdicts.values()
        ]
        assert [as_said(row) for row in judged(texts, sizes, parameters)] == wanted


def test_verdicts_stay_where_names_are_not_looked_up_any_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The batch in which this begins is judged one by one."""
    texts = made(3, 120)
    found = judged(texts, [30], Parameters())
    monkeypatch.setattr(batch_judge, "MAX_NAMED", 20)
    assert judged(texts, [30], Parameters()) == found
