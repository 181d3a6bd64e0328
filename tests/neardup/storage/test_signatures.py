"""An index of signatures holds those of the texts of a store, whatever it held before."""

import logging
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neardup import minhash
from neardup.errors import IndexLockedError
from neardup.features.shingles import occurrences
from neardup.fingerprints.winnowing import sample
from neardup.indexes.arrays import Ids
from neardup.indexes.banding import CANDIDATE_PERMUTATIONS
from neardup.indexes.lsh import LshIndex
from neardup.storage import signatures
from neardup.storage.signatures import open_passages, open_signatures
from tests.neardup.texts import changed, prose

SIZE = 5


class Texts(dict[int, str]):
    """Texts by their ids; some are too short for a fingerprint."""

    def signed_ids(self) -> Ids:
        return np.array([number for number, text in self.items() if text], np.int64)[::-1]

    def text(self, id: int) -> str | None:  # noqa: A002
        return self.get(id)


def found(index: LshIndex, text: str, size: int = SIZE) -> set[int]:
    signature = minhash(text, permutations=CANDIDATE_PERMUTATIONS, shingle_size=size)
    return {one.id for one in index.query(signature)}


def check_holds(index: LshIndex, texts: Texts, size: int = SIZE) -> None:
    assert sorted(index.ids().tolist()) == sorted(texts.signed_ids().tolist())
    for number, text in texts.items():
        assert not text or number in found(index, text, size)


def made(seeds: range, length: int = 40) -> Texts:
    return Texts({3 * seed: prose(seed, length) for seed in seeds})


class TestOpenSignaturesProperties:
    @settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=25)
    @given(st.lists(st.sets(st.integers(0, 60)), min_size=1, max_size=5))
    def test_it_holds_what_the_store_holds_after_each_opening(
        self, tmp_path_factory: pytest.TempPathFactory, stored: list[set[int]]
    ) -> None:
        folder = tmp_path_factory.mktemp("signatures")
        for numbers in stored:
            texts = Texts({number: prose(number, 30) for number in numbers})
            with open_signatures(folder, texts, shingle_size=SIZE) as index:
                check_holds(index, texts)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=25)
@given(st.lists(st.sets(st.integers(0, 60)), min_size=1, max_size=5))
def test_passages_are_those_of_the_store_after_each_opening(
    tmp_path_factory: pytest.TempPathFactory, stored: list[set[int]]
) -> None:
    folder = tmp_path_factory.mktemp("passages")
    for numbers in stored:
        texts = Texts({number: prose(number, 30) for number in numbers})
        with open_passages(folder, texts, shingle_size=SIZE) as index:
            assert set(index.ids().tolist()) == numbers
            for number, text in texts.items():
                passages = sample(occurrences(text, "word", SIZE))[:, np.newaxis]
                assert number in index.query_many_ids(passages)[1]


def test_what_takes_long_is_said_before(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signatures, "_BATCH", 5)
    caplog.set_level(logging.INFO)
    for count in (5, 11, 11):
        open_passages(tmp_path, made(range(count)), shingle_size=SIZE).close()
    assert [record.getMessage() for record in caplog.records] == [
        "adding 6 texts to the index of passages"
    ]


def test_what_was_added_and_flushed_is_not_signed_again(tmp_path: Path) -> None:
    texts = made(range(20))
    with open_signatures(tmp_path, texts, shingle_size=SIZE) as index:
        before = index.ids().tolist()
    texts[1] = prose(99, 40)
    with open_signatures(tmp_path, texts, shingle_size=SIZE) as index:
        assert index.ids().tolist() == [*before, 1]
        check_holds(index, texts)


def test_texts_without_a_fingerprint_and_dropped_ones_are_left_out(tmp_path: Path) -> None:
    texts = made(range(20))
    open_signatures(tmp_path, texts, shingle_size=SIZE).close()
    gone, texts[6] = texts.pop(9), ""
    with open_signatures(tmp_path, texts, shingle_size=SIZE) as index:
        check_holds(index, texts)
        assert 9 not in found(index, gone)
    # And so it is on the disk.
    with open_signatures(tmp_path, texts, shingle_size=SIZE) as index:
        check_holds(index, texts)


def test_near_texts_share_a_band(tmp_path: Path) -> None:
    texts = made(range(10), length=200)
    with open_signatures(tmp_path, texts, shingle_size=SIZE) as index:
        for number, text in texts.items():
            assert number in found(index, changed(text, number, 1))


@pytest.mark.parametrize("seeds", [range(30, 50), range(5, 25)])
def test_an_index_of_other_texts_is_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, seeds: range
) -> None:
    open_signatures(tmp_path, made(range(20)), shingle_size=SIZE).close()
    others = Texts(zip(made(range(20)), made(seeds).values(), strict=True))
    with (
        caplog.at_level(logging.WARNING),
        open_signatures(tmp_path, others, shingle_size=SIZE) as index,
    ):
        check_holds(index, others)
    assert "holds those of other texts" in caplog.text


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:7])


def with_another_byte(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4] ^= 0xFF
    file.write_bytes(content)


@pytest.mark.parametrize("damage", [cut_off, with_another_byte])
def test_a_damaged_index_is_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: Callable[[Path], None]
) -> None:
    texts = made(range(20))
    open_signatures(tmp_path, texts, shingle_size=SIZE).close()
    damage(max(tmp_path.iterdir(), key=lambda file: file.stat().st_size))
    with open_signatures(tmp_path, texts, shingle_size=SIZE) as index:
        check_holds(index, texts)
    assert "signatures made again" in caplog.text


def test_an_index_of_other_shingles_is_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    texts = made(range(20))
    open_signatures(tmp_path, texts, shingle_size=SIZE).close()
    with open_signatures(tmp_path, texts, shingle_size=3) as index:
        check_holds(index, texts, size=3)
    assert "signatures made again" in caplog.text


def test_an_index_that_is_open_is_left_alone(tmp_path: Path) -> None:
    texts = made(range(20))
    with open_signatures(tmp_path, texts, shingle_size=SIZE) as index:
        with pytest.raises(IndexLockedError):
            open_signatures(tmp_path, Texts(), shingle_size=SIZE)
        check_holds(index, texts)
