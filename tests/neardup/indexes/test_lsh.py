import math
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import ClosedError, DocumentError, FingerprintError, ParameterError
from neardup.fingerprints.minhash import minhash_many
from neardup.indexes.arrays import Signatures
from neardup.indexes.banding import Banding
from neardup.indexes.lsh import Candidate, LshIndex
from tests.neardup.indexes.generated import scattered, unhurried
from tests.neardup.texts import changed, prose

PERMUTATIONS = 12


def alike(signatures: Signatures, share: float, seed: int) -> Signatures:
    """Signatures that agree in each value with that chance: those of texts so similar."""
    random = np.random.default_rng(seed)
    others = scattered(seed + 1, len(signatures), signatures.shape[1])
    return np.where(random.random(signatures.shape) < share, signatures, others)


def four_bits(values: Signatures) -> npt.NDArray[np.uint64]:
    """What a sketch keeps of each value, as docs/lsh_format.md has it."""
    bits: npt.NDArray[np.uint64] = values.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return bits >> np.uint64(60)


def scanned(
    stored: Signatures, ids: npt.NDArray[np.int64], asked: npt.NDArray[np.uint32], shape: Banding
) -> list[Candidate]:
    """Compare all bands of all documents."""
    used = shape.bands * shape.rows
    agree = stored == asked
    shares = agree[:, :used].reshape(-1, *shape).all(axis=2).any(axis=1)
    permutations = stored.shape[1]
    unequal = (four_bits(stored) != four_bits(asked)).sum(axis=1)
    found = [
        Candidate(int(ids[row]), max(0.0, 1.0 - int(unequal[row]) * 16 / 15 / permutations))
        for row in np.flatnonzero(shares).tolist()
    ]
    return sorted(found, key=lambda candidate: (-candidate.similarity, candidate.id))


class TestMeasuredCurve:
    @pytest.mark.parametrize("shape", [(20, 5), (18, 7), (32, 4), (1, 8)])
    @pytest.mark.parametrize("share", [0.3, 0.51, 0.7, 0.8, 0.95])
    def test_collision_rates_are_those_of_the_formula(
        self, shape: tuple[int, int], share: float
    ) -> None:
        count = 4000
        stored = scattered(1, count, 128)
        index = LshIndex(0.8, shape=shape)
        index.add_many(stored, np.arange(count))
        found = index.query_many(alike(stored, share, 2))
        rate = index.shape.collision_rate(share)
        hits = np.count_nonzero(found.ids == found.positions) / count
        # Five standard errors, and one pair.
        assert abs(hits - rate) < 5 * math.sqrt(rate * (1 - rate) / count) + 1 / count

    def test_real_signatures_follow_it_too(self) -> None:
        texts = [prose(seed, 300) for seed in range(300)]
        edited = [changed(text, seed, 10) for seed, text in enumerate(texts)]
        stored, asked = minhash_many(texts), minhash_many(edited)
        index = LshIndex(0.75)
        index.add_many(stored, np.arange(300))
        rates = [
            index.shape.collision_rate(share) for share in (stored == asked).mean(axis=1).tolist()
        ]
        found = index.query_many(asked)
        hits = np.count_nonzero(found.ids == found.positions)
        assert abs(hits - sum(rates)) < 5 * math.sqrt(300 / 4)
        assert hits > 0.95 * 300


class TestEstimate:
    @pytest.mark.parametrize("share", [0.6, 0.8, 0.95])
    def test_is_unbiased_with_the_standard_error_that_is_stated(self, share: float) -> None:
        count, permutations = 4000, 128
        stored = scattered(11, count, permutations)
        index = LshIndex(0.8, shape=(128, 1))
        index.add_many(stored, np.arange(count))
        found = index.query_many(alike(stored, share, 12))
        own = found.similarities[found.ids == found.positions]
        assert len(own) == count
        p = (1 + 15 * share) / 16
        error = math.sqrt(p * (1 - p) / permutations) * 16 / 15
        assert abs(own.mean() - share) < 5 * error / math.sqrt(count)
        assert own.std() == pytest.approx(error, rel=0.06)

    def test_nothing_alike_is_estimated_as_nothing(self) -> None:
        index = LshIndex(0.8, permutations=64, shape=(64, 1))
        one = scattered(1, 1, 64)
        other = scattered(2, 1, 64)
        other[0, 5] = one[0, 5]
        index.add(one[0], 1)
        (found,) = index.query(other[0])
        assert 0 <= found.similarity < 0.2


class TestLshIndexProperties:
    @unhurried
    @given(
        st.integers(0, 999),
        st.integers(0, 60),
        st.sampled_from([0, 990, 1500]),
        st.sampled_from([(12, 1), (6, 2), (4, 3), (2, 5), (1, 12)]),
        st.lists(st.sampled_from(["add", "many", "ask"]), max_size=8),
    )
    def test_equals_the_scan_over_equal_bands(
        self, seed: int, count: int, first: int, shape: tuple[int, int], deeds: list[str]
    ) -> None:
        stored = scattered(seed, first + 8 * (count + 1), PERMUTATIONS, values=4)
        ids = np.random.default_rng(seed).integers(0, 20, len(stored))
        index = LshIndex(0.5, permutations=PERMUTATIONS, shape=shape)
        held = first
        index.add_many(stored[:held], ids[:held])
        for deed in deeds:
            if deed == "ask":
                index.query_many(stored[:2])
                index.query(stored[0])
            elif deed == "add":
                index.add(stored[held], ids[held])
                held += 1
            else:
                index.add_many(stored[held : held + count], ids[held : held + count])
                held += count
        asked = scattered(seed + 1, 5, PERMUTATIONS, values=4)
        expected = [scanned(stored[:held], ids[:held], one, Banding(*shape)) for one in asked]
        assert len(index) == held
        assert [index.query(one) for one in asked] == expected
        answers = index.query_many(asked)
        for position, wanted in enumerate(expected):
            here = answers.positions == position
            pairs = zip(
                answers.ids[here].tolist(), answers.similarities[here].tolist(), strict=True
            )
            assert [Candidate(*pair) for pair in pairs] == wanted
        assert (np.diff(answers.positions) >= 0).all()

    @given(st.integers(0, 99), st.floats(0, 1))
    def test_filter_leaves_out_what_is_less_similar(self, seed: int, least: float) -> None:
        stored = scattered(seed, 40, PERMUTATIONS, values=3)
        index = LshIndex(0.5, permutations=PERMUTATIONS)
        index.add_many(stored, range(40))
        kept = [one for one in index.query(stored[0]) if one.similarity >= least]
        assert index.query(stored[0], min_similarity=least) == kept
        assert index.query_many(stored[:1], min_similarity=least).ids.tolist() == [
            one.id for one in kept
        ]

    @unhurried
    @given(st.integers(0, 99), st.sampled_from([40, 1025]), st.floats(0, 1))
    def test_ids_alone_are_those_of_the_candidates(
        self, seed: int, count: int, least: float
    ) -> None:
        stored = scattered(seed, count, PERMUTATIONS, values=3)
        index = LshIndex(0.5, permutations=PERMUTATIONS)
        index.add_many(stored, range(count))
        found = index.query(stored[0], min_similarity=least)
        wanted = [one.id for one in found]
        _, ids = index.query_many_ids(stored[:1], min_similarity=least)
        assert ids.tolist() == wanted
        few = index.query(stored[0], min_similarity=least, limit=5)
        _, ids = index.query_many_ids(stored[:1], min_similarity=least, limit=5)
        assert ids.tolist() == [one.id for one in few]
        assert index.query(stored[0], min_similarity=least) == found


class TestLshIndex:
    @pytest.mark.parametrize("values", [4, 30, 2**32])
    def test_buckets_that_divide_lose_nothing(self, values: int) -> None:
        count = 50_000
        stored = scattered(3, count, PERMUTATIONS, values=values)
        index = LshIndex(0.5, permutations=PERMUTATIONS, shape=(2, 6))
        index.add_many(stored[:-500], np.arange(count - 500))
        for number in range(count - 500, count):
            index.add(stored[number], number)
        ids = np.arange(count)
        asked = np.concatenate((stored[:: count // 20], scattered(4, 20, PERMUTATIONS, values)))
        expected = [scanned(stored, ids, one, index.shape) for one in asked]
        assert [index.query(one) for one in asked] == expected
        answers = index.query_many(asked)
        assert answers.ids.tolist() == [one.id for found in expected for one in found]

    def test_many_buckets_are_used(self) -> None:
        count = 200_000
        stored = scattered(5, count, 4)
        index = LshIndex(0.5, permutations=4, shape=(1, 4))
        index.add_many(stored, np.arange(count))
        found = index.query_many(stored)
        own = found.ids == found.positions
        assert found.positions[own].tolist() == list(range(count))
        assert len(own) - count < 20  # one pair in 2**32 shares a key by chance

    def test_a_band_shared_by_very_many_is_answered(self) -> None:
        stored = np.repeat(scattered(4, 1, PERMUTATIONS), 3000, axis=0)
        index = LshIndex(0.5, permutations=PERMUTATIONS)
        index.add_many(stored, np.arange(3000)[::-1])
        answers = index.query_many(stored[:7])
        assert answers.positions.tolist() == [one for one in range(7) for _ in range(3000)]
        assert answers.ids.tolist() == list(range(3000)) * 7
        assert (answers.similarities == 1.0).all()
        assert index.query(stored[0]) == [Candidate(number, 1.0) for number in range(3000)]

    def test_boilerplate_shared_by_100_000_hides_nobody_and_can_be_limited(self) -> None:
        plate = scattered(4, 1, 128)
        pages = np.repeat(plate, 100_000, axis=0)
        others = scattered(5, 20_000, 128)
        others[:, :7] = plate[0, :7]  # the first band
        index = LshIndex(0.8)
        index.add_many(pages, np.arange(100_000))
        index.add_many(others, np.arange(100_000, 120_000))
        assert len(index.query(plate[0])) == 120_000
        limited = index.query(plate[0], limit=10)
        assert [one.similarity for one in limited] == [1.0] * 10
        answers = index.query_many(others, limit=3)
        assert (np.bincount(answers.positions) == 3).all()
        first = np.searchsorted(answers.positions, np.arange(20_000))
        assert (answers.ids[first] == np.arange(100_000, 120_000)).all()

    def test_rows_of_another_key_in_its_bucket_hide_no_only_candidate(self) -> None:
        """Few buckets are many rows': a template of 20 pages is in front of what is looked for."""
        single, families = scattered(7, 2_000, 64), scattered(8, 1_000, 64)
        index = LshIndex(0.5, permutations=64, shape=(16, 4))
        index.add_many(single, np.arange(2_000))
        index.add_many(np.repeat(families, 20, axis=0), np.arange(2_000, 22_000))
        asked = scattered(9, 2_000, 64)
        asked[:, :4] = single[:, :4]  # the first band
        positions, _ = index.query_many_ids(asked, limit=1)
        assert set(positions.tolist()) == set(range(2_000))

    def test_a_limit_that_is_never_reached_changes_nothing(self) -> None:
        stored = scattered(6, 500, PERMUTATIONS, values=6)
        index = LshIndex(0.5, permutations=PERMUTATIONS, shape=(4, 3))
        index.add_many(stored, np.arange(500))
        for one in stored[:50]:
            assert index.query(one, limit=500) == index.query(one)
            assert index.query(one, limit=10**30) == index.query(one)
            assert len(index.query(one, limit=2)) <= 2

    def test_an_empty_index_and_no_queries(self) -> None:
        index = LshIndex(0.8)
        some = scattered(5, 3, 128)
        assert index.query(some[0]) == []
        assert len(index.query_many(some).ids) == 0
        index.add_many(some, [1, 2, 3])
        assert len(index.query_many(some[:0]).ids) == 0
        index.add_many(some[:0], [])
        assert len(index) == 3

    def test_retain_lets_go_of_all_other_ids(self, tmp_path: Path) -> None:
        some = scattered(6, 40, 128)
        for path in (None, tmp_path):
            with LshIndex(0.8, path=path) as index:
                index.add_many(some, np.arange(40) % 20)
                index.retain([3, 5, 99])
                assert index.ids().tolist() == [3, 5, 3, 5]
                index.add(some[0], 7)
                assert index.query_many(some).positions.tolist() == [0, 3, 5, 23, 25]
        with LshIndex(path=tmp_path) as index:
            assert index.ids().tolist() == [3, 5, 3, 5, 7]

    def test_a_changed_array_changes_nothing(self) -> None:
        index, one = LshIndex(0.8), scattered(7, 1, 128)[0]
        kept = one.copy()
        index.add(one, 1)
        one[:] = 0
        assert index.query(kept) == [Candidate(1, 1.0)]

    def test_takes_the_memory_that_is_stated(self) -> None:
        index = LshIndex(0.8)
        index.add_many(scattered(8, 50_000, 128), np.arange(50_000))
        assert index.size_bytes < 50_000 * 300

    def test_arrays_in_pieces_or_read_only_are_taken(self) -> None:
        some = scattered(8, 4, 128)
        turned = np.asfortranarray(some)
        some.flags.writeable = False
        index = LshIndex(0.8)
        index.add(turned[1], 1)
        index.add(some[2], 2)
        index.add_many(turned, [3, 4, 5, 6])
        assert [one.id for one in index.query(turned[1])] == [1, 4]
        assert [one.id for one in index.query(some[2])] == [2, 5]
        assert index.query_many(turned[::2]).ids.tolist() == [3, 2, 5]

    @pytest.mark.parametrize(
        "bad",
        [
            np.zeros(127, np.uint32),
            np.zeros(256, np.uint32),
            np.zeros(0, np.uint32),
            np.zeros(128, np.int64),
            np.zeros(128, ">u4"),
            np.zeros(128, object),
            np.zeros((1, 128), np.uint32),
            [],
            [1] * 128,
            None,
            "signature",
        ],
    )
    def test_what_is_no_signature_is_refused(self, bad: Signatures) -> None:
        index = LshIndex(0.8)
        with pytest.raises(FingerprintError, match=r"must be uint32, \(128,\)"):
            index.add(bad, 1)
        with pytest.raises(FingerprintError, match=r"must be uint32, \(128,\)"):
            index.query(bad)
        assert len(index) == 0

    @pytest.mark.parametrize(
        "bad", [np.zeros((2, 64), np.uint32), np.zeros((2, 128)), np.zeros(128, np.uint32), [[1]]]
    )
    def test_what_are_no_signatures_are_refused(self, bad: Signatures) -> None:
        index = LshIndex(0.8)
        with pytest.raises(FingerprintError, match="signatures"):
            index.add_many(bad, [1, 2])
        with pytest.raises(FingerprintError, match="signatures"):
            index.query_many(bad)

    def test_bad_ids_add_nothing(self) -> None:
        index, some = LshIndex(0.8), scattered(9, 2, 128)
        with pytest.raises(DocumentError):
            index.add(some[0], -1)
        with pytest.raises(DocumentError):
            index.add_many(some, [1, -1])
        with pytest.raises(ParameterError, match="2 signatures and 1 ids"):
            index.add_many(some, [1])
        assert len(index) == 0


class TestClosed:
    def test_nothing_works_after_close_but_close(self) -> None:
        index, some = LshIndex(0.8), scattered(1, 2, 128)
        index.add_many(some, [1, 2])
        index.close()
        index.close()
        for deed in (
            lambda: index.add(some[0], 1),
            lambda: index.add_many(some, [1, 2]),
            lambda: index.query(some[0]),
            lambda: index.query_many(some),
            index.flush,
        ):
            with pytest.raises(ClosedError):
                deed()
        assert len(index) == 0
