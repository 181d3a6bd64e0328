import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.errors import FingerprintError, ParameterError
from neardup.features.shingles import JACCARD_SIZE, shingle_set
from neardup.fingerprints.bottom_k import BottomK, bottom_k
from neardup.fingerprints.kernels import minima
from neardup.fingerprints.minhash import (
    Estimate,
    Signature,
    minhash,
    minhash_many,
    multipliers,
    similarity,
)
from tests.neardup.features import plain
from tests.neardup.texts import changed, prose

unhurried = settings(deadline=None)
TEXTS = st.text("ab c,é猫\0\ud800", min_size=1).map(lambda text: f"{text} word")
GOLDEN = {
    "the cat sat": [0x32CE2523, 0xAFE233B9, 0x3B90578F, 0x7FEB7579],
    "To be, or not to be: that is the question.": [0x17512D91, 0x06809F23, 0x3ABD1AF9, 0x0DE6D5AB],
    "吾輩は猫である。名前はまだ無い。": [0x0458986F, 0x2AF47359, 0x020D72A3, 0x1D8F2BEF],
}


def plain_minhash(text: str, permutations: int, size: int) -> list[int]:
    """The definition, in the integers of Python."""
    values = [shingle >> 32 | 1 for shingle in plain.shingles(text, "word", size)]
    factors = multipliers(permutations).tolist()
    return [min(factor * value % 2**32 for value in values) for factor in factors]


def drawn(seed: int, shared: int, own: int) -> tuple[set[int], set[int]]:
    """Two sets of random hashes of which so many are shared and so many in one alone."""
    source = random.Random(seed)
    hashes = [source.getrandbits(64) for _ in range(shared + 2 * own)]
    return set(hashes[: shared + own]), set(hashes[:shared] + hashes[shared + own :])


def signed(hashes: set[int], permutations: int) -> Signature:
    signature = np.empty(permutations, np.uint32)
    minima(np.array(sorted(hashes), np.uint64), multipliers(permutations), signature)
    return signature


def worst(estimates: list[float], exact: float, values: int) -> float:
    """How far the mean of so many estimates is off, in standard errors of that mean."""
    error = math.sqrt(exact * (1 - exact) / values / len(estimates))
    return abs(sum(estimates) / len(estimates) - exact) / error


class TestMinhash:
    @pytest.mark.parametrize(("text", "first"), GOLDEN.items())
    def test_values_stay_the_same(self, text: str, first: list[int]) -> None:
        assert minhash(text, shingle_size=3)[:4].tolist() == first

    @unhurried
    @given(TEXTS, st.integers(1, 40), st.integers(1, 16))
    def test_equals_the_definition(self, text: str, permutations: int, size: int) -> None:
        signature = minhash(text, permutations=permutations, shingle_size=size)
        assert signature.dtype == np.uint32
        assert signature.tolist() == plain_minhash(text, permutations, size)

    def test_equals_the_definition_of_a_long_text(self) -> None:
        text = " ".join(f"w{n}" for n in range(40_000))
        assert minhash(text, permutations=3).tolist() == plain_minhash(text, 3, JACCARD_SIZE)

    @unhurried
    @given(st.lists(TEXTS, max_size=8), st.integers(1, 4))
    def test_many_equals_one_by_one(self, texts: list[str], size: int) -> None:
        many = minhash_many(texts, permutations=16, shingle_size=size)
        assert many.shape == (len(texts), 16)
        for text, row in zip(texts, many, strict=True):
            assert (row == minhash(text, permutations=16, shingle_size=size)).all()

    @given(st.permutations(range(20)))
    def test_order_and_repetition_of_shingles_do_not_count(self, order: list[int]) -> None:
        words = [f"w{n}" for n in order]
        signature = minhash(" ".join(words + words[:5]), shingle_size=1)
        assert (signature == minhash(" ".join(sorted(words)), shingle_size=1)).all()

    @given(TEXTS, st.integers(1, 128))
    def test_a_shorter_signature_begins_a_longer_one(self, text: str, fewer: int) -> None:
        assert (minhash(text)[:fewer] == minhash(text, permutations=fewer)).all()

    def test_the_minimum_of_two_is_that_of_both_sets(self) -> None:
        first, second = drawn(1, 30, 20)
        both = np.minimum(signed(first, 64), signed(second, 64))
        assert (both == signed(first | second, 64)).all()

    def test_case_form_and_spacing_do_not_count(self) -> None:
        assert (minhash("Le  CAFE\u0301 noir") == minhash("le café noir")).all()

    @pytest.mark.parametrize("text", ["", " ", "...", "\u200b"])
    def test_a_text_without_words_has_none(self, text: str) -> None:
        with pytest.raises(FingerprintError, match="the text is without words"):
            minhash(text)
        with pytest.raises(FingerprintError, match="text 2"):
            minhash_many(["one word", "another one", text, "more"], shingle_size=1)
        with pytest.raises(FingerprintError, match="no smallest"):
            bottom_k(text)

    @pytest.mark.parametrize("bad", [0, -1, 65_537, 1.5, True, None, math.nan])
    def test_bad_numbers_are_named(self, bad: int) -> None:
        with pytest.raises(ParameterError, match=r"permutations must be 1\.\.65536, got"):
            minhash("a text", permutations=bad)
        with pytest.raises(ParameterError, match=r"shingle_size must be 1\.\.16, got"):
            minhash("a text", shingle_size=bad if bad != 1.5 else 17)
        with pytest.raises(ParameterError, match=r"size must be 1\.\.65536, got"):
            bottom_k("a text", size=bad)

    @pytest.mark.parametrize("bad", [5, None, b"bytes", ["a list"]])
    def test_what_is_no_text_is_refused(self, bad: str) -> None:
        for make in (minhash, bottom_k):
            with pytest.raises(FingerprintError, match="text must be str, got"):
                make(bad)
        with pytest.raises(FingerprintError, match="text 1 must be str, got"):
            minhash_many(["a text", bad])

    @pytest.mark.parametrize(("bad", "message"), [("abc", "put it in a list"), (5, "got int")])
    def test_what_is_no_list_of_texts_is_refused(self, bad: list[str], message: str) -> None:
        with pytest.raises(FingerprintError, match=f"texts must be several texts, .*{message}"):
            minhash_many(bad)

    def test_a_nul_is_no_token_and_ends_no_text(self) -> None:
        texts = ["one \0 two three four", "\0", "five six\0seven eight"]
        with pytest.raises(FingerprintError, match="text 1"):
            minhash_many(texts)
        kept = [texts[0], texts[2]]
        assert (minhash_many(kept)[0] == minhash("one two three four")).all()
        assert (minhash_many(kept)[1] == minhash("five six seven eight")).all()


class TestSimilarity:
    @given(TEXTS)
    def test_of_a_text_with_itself_is_one(self, text: str) -> None:
        estimate = similarity(minhash(text), minhash(text))
        assert estimate.similarity == 1.0
        assert 0 < estimate.standard_error < 0.01

    @pytest.mark.parametrize(("shared", "own"), [(1, 1), (2, 3), (9, 1), (30, 60), (400, 50)])
    def test_is_unbiased_and_its_standard_error_true(self, shared: int, own: int) -> None:
        # Seeds are fixed; five standard errors leave room for any others too.
        exact = shared / (shared + 2 * own)
        found = [
            similarity(*(signed(one, 128) for one in drawn(seed, shared, own)))
            for seed in range(300)
        ]
        estimates = [estimate.similarity for estimate in found]
        assert worst(estimates, exact, 128) < 5
        stated = float(np.mean([estimate.standard_error for estimate in found]))
        assert np.std(estimates) == pytest.approx(stated, rel=0.25)

    @unhurried
    @given(st.integers(0, 40), st.integers(1, 40), st.integers(0, 2**32))
    def test_is_close_to_exact_jaccard(self, shared: int, own: int, seed: int) -> None:
        first, second = drawn(seed, shared, own)
        exact = len(first & second) / len(first | second)
        estimate = similarity(signed(first, 1024), signed(second, 1024))
        # Hoeffding: further off than that once in 10**15 draws.
        assert abs(estimate.similarity - exact) < math.sqrt(math.log(2e15) / 2 / 1024)

    def test_standard_error_is_that_of_a_share(self) -> None:
        first, second = np.arange(128, dtype=np.uint32), np.arange(128, dtype=np.uint32)
        second[:64] += 500
        assert similarity(first, second) == Estimate(0.5, math.sqrt(0.25 / 128))

    def test_signatures_of_other_lengths_are_refused(self) -> None:
        with pytest.raises(FingerprintError, match="got 64 and 128 values"):
            similarity(minhash("one text", permutations=64), minhash("one text"))

    @pytest.mark.parametrize(
        "bad",
        [
            np.zeros(4, np.int64),
            np.zeros((2, 2), np.uint32),
            np.zeros(0, np.uint32),
            [1, 2],
            None,
        ],
    )
    def test_what_is_no_signature_is_refused(self, bad: Signature) -> None:
        for pair in ((bad, bad), (minhash("a text"), bad)):
            with pytest.raises(FingerprintError, match="a signature must"):
                similarity(*pair)


class TestContainment:
    def test_it_is_exact_where_both_sets_are_known_whole(self) -> None:
        quoted, whole = (
            bottom_k(text, shingle_size=3) for text in ("the cat sat", "the cat sat on the mat")
        )
        assert quoted.containment(whole) == (1.0, 0.0)
        assert whole.containment(quoted) == (0.25, 0.0)

    def test_it_is_estimated_for_long_texts(self) -> None:
        part, rest = prose(1, 2000), prose(2, 3000)
        estimate = bottom_k(part, size=400).containment(bottom_k(f"{part} {rest}", size=400))
        assert estimate.similarity == 1.0
        whole = bottom_k(f"{part} {rest}", size=400).containment(bottom_k(part, size=400))
        assert abs(whole.similarity - 0.4) < 4 * whole.standard_error < 0.2

    def test_too_small_a_sample_is_refused(self) -> None:
        few, many = bottom_k("zebra", size=2), bottom_k(prose(3, 5000), size=2)
        with pytest.raises(FingerprintError, match="take a larger size"):
            few.containment(many)
        with pytest.raises(FingerprintError, match="one size expected"):
            few.containment(bottom_k("zebra", size=3))


class TestBottomK:
    def test_sets_below_the_size_are_compared_exactly(self) -> None:
        first = bottom_k("the cat sat", shingle_size=2)
        second = bottom_k("the cat lay", shingle_size=2)
        assert first.similarity(second) == Estimate(1 / 3, 0.0)

    @given(TEXTS, st.integers(1, 50))
    def test_holds_the_smallest_hashes(self, text: str, size: int) -> None:
        whole = shingle_set(text, size=JACCARD_SIZE)
        sketch = bottom_k(text, size=size)
        assert sketch.hashes.tolist() == sorted(whole.tolist())[:size]
        assert sketch.similarity(sketch).similarity == 1.0

    @unhurried
    @given(st.integers(0, 60), st.integers(0, 60), st.integers(1, 50), st.integers(0, 999))
    def test_equals_the_share_of_the_smallest_of_the_union(
        self, shared: int, own: int, size: int, seed: int
    ) -> None:
        first, second = drawn(seed, shared + 1, own)
        asked = sorted(first | second)[:size]
        if max(len(first), len(second)) < size:
            asked = sorted(first | second)
        share = len(set(asked) & first & second) / len(asked)
        sketches = [
            BottomK(np.array(sorted(one)[:size], np.uint64), size) for one in (first, second)
        ]
        assert sketches[0].similarity(sketches[1]).similarity == share

    def test_is_unbiased(self) -> None:
        estimates = []
        for seed in range(300):
            pair = [
                BottomK(np.array(sorted(one)[:64], np.uint64), 64) for one in drawn(seed, 200, 50)
            ]
            estimates.append(pair[0].similarity(pair[1]).similarity)
        assert worst(estimates, 2 / 3, 64) < 5

    def test_what_cannot_be_compared_is_refused(self) -> None:
        with pytest.raises(FingerprintError, match="got 5 and 6"):
            bottom_k("a text", size=5).similarity(bottom_k("a text", size=6))
        for bad in ([2, 1], [1, 1], [], [1, 2, 3]):
            with pytest.raises(FingerprintError):
                BottomK(np.array(bad, np.uint64), 2)


def test_edited_texts_are_about_as_similar_as_their_sets() -> None:
    texts = [prose(seed, 400) for seed in range(40)]
    for seed, text in enumerate(texts):
        edited = changed(text, seed, 10)
        exact = bottom_k(text, size=4096).similarity(bottom_k(edited, size=4096)).similarity
        estimate = similarity(minhash(text), minhash(edited))
        assert abs(estimate.similarity - exact) < 6 * estimate.standard_error
