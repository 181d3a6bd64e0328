"""A deduplicator that is told other parameters judges by them from then on."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup import Deduplicator, Document, Features, HammingIndex, Parameters, Verdict, analyse
from neardup.errors import ClosedError, ParameterError
from neardup.storage.documents import MemoryDocuments
from neardup.storage.signatures import memory_passages, memory_signatures
from tests.neardup.indexes.generated import unhurried
from tests.neardup.texts import changed, prose

FEATURES = Features("word", 1, "log_count")


@st.composite
def chosen(draw: st.DrawFn) -> Parameters:
    return Parameters(
        FEATURES,
        max_distance=draw(st.integers(0, 8)),
        min_words=draw(st.sampled_from([1, 20, 50])),
        verify=draw(st.booleans()),
        min_similarity=draw(st.sampled_from([0.5, 0.8, 0.95])),
    )


@st.composite
def texts(draw: st.DrawFn) -> list[str]:
    """Texts of which many are nearly others."""
    parts = draw(st.lists(st.tuples(st.integers(1, 3), st.integers(0, 12)), max_size=12))
    lengths = draw(st.sampled_from([(30, 30, 200), (60, 200, 45)]))
    return [changed(prose(seed, lengths[seed - 1]), count, count) for seed, count in parts]


def kept_by(deduplicator: Deduplicator, documents: list[Document], start: int = 0) -> list[Verdict]:
    return [deduplicator.judge_document(start + at, one) for at, one in enumerate(documents)]


@unhurried
@given(texts(), texts(), chosen(), chosen())
def test_it_judges_as_one_opened_with_those_parameters_over_the_same_store(
    before: list[str], after: list[str], first: Parameters, second: Parameters
) -> None:
    everything = replace(first, min_words=1)
    earlier = [analyse(text, everything) for text in before]
    later = [analyse(text, everything) for text in after]
    stores = (MemoryDocuments(), MemoryDocuments())
    indexes = (HammingIndex(radius=8), HammingIndex(radius=first.max_distance))
    size = first.verify_shingle_size
    opening = partial(
        Deduplicator,
        documents=stores[0],
        index=indexes[0],
        signatures=memory_signatures(size),
        passages=memory_passages(size),
    )
    opened = opening(first)
    passages = memory_passages(size)
    tuned = Deduplicator(first, documents=stores[1], index=indexes[1], passages=passages)
    assert kept_by(opened, earlier) == kept_by(tuned, earlier)
    opened = opening(second)
    tuned.tune(second)
    assert tuned.parameters == second
    assert kept_by(opened, later, 100) == kept_by(tuned, later, 100)


@pytest.mark.parametrize(
    ("other", "name"),
    [
        (Parameters(Features("word", 2)), "fingerprint_features"),
        (Parameters(verify=False), "fingerprint_features"),
        (Parameters(verify_shingle_size=4), "verify_shingle_size"),
    ],
)
def test_what_lies_in_the_fingerprints_cannot_change(other: Parameters, name: str) -> None:
    deduplicator = Deduplicator()
    with pytest.raises(ParameterError, match=f"{name} must stay"):
        deduplicator.tune(other)
    assert deduplicator.parameters == Parameters()


def test_a_folder_keeps_its_min_words_until_it_is_opened_anew(tmp_path: Path) -> None:
    with Deduplicator(path=tmp_path) as deduplicator:
        deduplicator.tune(Parameters(max_distance=4))
        with pytest.raises(ParameterError, match="min_words must stay 50, got 10"):
            deduplicator.tune(Parameters(min_words=10))
    with pytest.raises(ClosedError):
        deduplicator.tune(Parameters())
