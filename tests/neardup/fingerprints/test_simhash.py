import subprocess
import sys
import unicodedata
from collections.abc import Mapping

import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup import (
    FingerprintError,
    Parameters,
    hamming,
    simhash,
    simhash_weighted,
    tokens,
)
from neardup.fingerprints.simhash import majority, of_shingles
from tests.neardup.texts import changed, prose

FINGERPRINTS = st.integers(0, 2**64 - 1)
GOLDEN = {
    "The quick brown fox jumps over the lazy dog.": 0xCAA657802DDF3C93,
    "one": 0xAFD52DF29BF4BC16,
    "To be, or not to be: that is the question.": 0x51177130F0253660,
    "吾輩は猫である。名前はまだ無い。": 0x8EB807053A32851A,
    "สวัสดีชาวโลก": 0x80C10B018957F182,
    "नमस्ते दुनिया, hello": 0xFBAFBB733A051927,
    "Straße №5 — café": 0xB8A7B27C31DC7CBD,
    "supercalifragilisticexpialidocious " * 2: 0x7D4A9670277359B1,
}


def mixed(value: int) -> int:
    """MurmurHash3's finalizer, in the integers of Python."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        value = ((value ^ value >> 33) * factor) % 2**64
    return value ^ value >> 33


def token_hash(token: bytes) -> int:
    if len(token) > 64:
        return xxhash.xxh3_64_intdigest(token)
    value = 0
    for place in range(0, len(token), 8):
        word = int.from_bytes(token[place : place + 8], "little")
        value = mixed(word ^ value * 0x9E3779B97F4A7C15 % 2**64)
    return value


def plain_simhash(text: str, size: int) -> int:
    """The definition, word by word and bit by bit."""
    words = [token_hash(token.encode()) for token in tokens(text)]
    size = min(size, len(words))
    shingles = set()
    for place in range(len(words) - size + 1):
        value = 0
        for word in words[place : place + size]:
            value = (value * 0x9E3779B97F4A7C15 + word) % 2**64
        shingles.add(mixed(value))
    sums = [sum(1 if value >> bit & 1 else -1 for value in shingles) for bit in range(64)]
    return sum(1 << bit for bit, total in enumerate(sums) if total > 0)


@pytest.mark.parametrize(("text", "fingerprint"), GOLDEN.items())
def test_fingerprints_are_pinned(text: str, fingerprint: int) -> None:
    """Stored fingerprints are compared with new ones; a change here makes them all worthless."""
    assert simhash(text) == fingerprint


def test_another_process_with_another_hash_seed_gives_the_same_fingerprints() -> None:
    program = "import sys, neardup; print(*map(neardup.simhash, sys.argv[1:]))"
    ran = subprocess.run(
        [sys.executable, "-c", program, *GOLDEN],
        env={"PYTHONHASHSEED": "7", "PYTHONPATH": ":".join(sys.path), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert [int(value) for value in ran.stdout.split()] == list(GOLDEN.values())


@pytest.mark.parametrize("text", ["", " \n", "... — !?", "\0\0", "\ud800", "\u0301", "👍"])
def test_a_text_without_words_has_no_fingerprint(text: str) -> None:
    with pytest.raises(FingerprintError, match="without words"):
        simhash(text)


@pytest.mark.parametrize(
    "text", ["Ein Café in Köln am Rhein", "ελληνικά Σίσυφος", "한국어 문장 하나", "नमस्ते दुनिया ज़रा"]
)
def test_case_and_encoding_form_make_no_distance(text: str) -> None:
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert simhash(unicodedata.normalize(form, text.upper())) == simhash(text)


def test_a_changed_word_changes_few_bits_and_another_text_about_half() -> None:
    text = prose(1, 1000)
    assert hamming(simhash(text), simhash(changed(text, 1))) <= 3
    assert 16 <= hamming(simhash(text), simhash(prose(2, 1000))) <= 48


@pytest.mark.parametrize("count", [1, 2, 254, 255, 256, 65_279, 65_280, 65_281, 150_000])
def test_ones_are_counted_beyond_every_counter(count: int) -> None:
    values = np.random.default_rng(count).integers(0, 2**64, count, np.uint64, endpoint=False)
    values |= np.uint64(1)
    ones = np.unpackbits(values.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=0, dtype=np.int64)
    expected = int.from_bytes(np.packbits(2 * ones > count).tobytes(), sys.byteorder)
    assert of_shingles(values) == expected


def test_a_tie_makes_zero() -> None:
    assert of_shingles(np.array([0b1100, 0b1010], np.uint64)) == 0b1000


def test_five_megabytes_have_a_fingerprint() -> None:
    assert simhash("w" * 5_000_000) != simhash("v" * 5_000_000)
    text = prose(3, 1_000_000)
    assert simhash(text) == plain_simhash(text, 3)


class TestMajority:
    TERMS: Mapping[str, str] = {"cat": "1010", "sat": "1100", "mat": "0110", "rat": "1001"}

    @pytest.mark.parametrize(
        ("terms", "expected"), [(["cat", "sat", "mat"], "1110"), (["cat", "sat", "rat"], "1000")]
    )
    def test_the_worked_example(self, terms: list[str], expected: str) -> None:
        bits = [[int(bit) for bit in self.TERMS[term]] for term in terms]
        assert "".join(str(int(bit)) for bit in majority(bits, [3, 2, 2])) == expected


class TestWeighted:
    def test_it_is_pinned(self) -> None:
        assert simhash_weighted({"cat": 3, "sat": 2, "mat": 2.5}) == 0xC2D42A80139C062A

    def test_a_single_feature_is_its_hash(self) -> None:
        assert simhash_weighted({"cat": 0.1}) == xxhash.xxh3_64_intdigest(b"cat")

    def test_the_order_and_the_unit_of_weights_do_not_count(self) -> None:
        weights = {word: float(place + 1) for place, word in enumerate(prose(5, 20).split())}
        reversed_ = {word: weights[word] * 4 for word in reversed(weights)}
        assert simhash_weighted(weights) == simhash_weighted(reversed_)

    @pytest.mark.parametrize("weights", [{}, {"a": float("nan")}, {"a": float("inf")}])
    def test_it_refuses_what_has_no_sum(self, weights: dict[str, float]) -> None:
        with pytest.raises(FingerprintError):
            simhash_weighted(weights)


class TestSimhashProperties:
    WORDS = st.lists(
        st.sampled_from(["a", "be", "see", "漢字", "ดี", "é", "x" * 20, "y" * 70]),
        min_size=1,
        max_size=30,
    )

    @settings(deadline=None)
    @given(WORDS, st.integers(1, 5))
    def test_it_equals_the_definition(self, words: list[str], size: int) -> None:
        text = " ".join(words)
        assert simhash(text, Parameters(shingle_size=size)) == plain_simhash(text, size)

    @settings(deadline=None)
    @given(st.permutations(range(12)), st.integers(2, 4))
    def test_texts_with_the_same_set_of_shingles_have_one_fingerprint(
        self, order: list[int], repeats: int
    ) -> None:
        # A ring of words, once around and two words on, has every shingle of any longer walk,
        # wherever it begins.
        ring = [f"word{number}" for number in order]
        start = order[0]
        walk = (ring * (repeats + 2))[start : start + 12 * repeats + 2]
        assert simhash(" ".join(ring + ring[:2])) == simhash(" ".join(walk))

    @settings(deadline=None)
    @given(st.lists(FINGERPRINTS, min_size=1, max_size=50), st.randoms())
    def test_the_order_of_features_does_not_count(
        self, values: list[int], source: "np.random.Generator"
    ) -> None:
        shuffled = list(values)
        source.shuffle(shuffled)
        assert of_shingles(np.array(values, np.uint64)) == of_shingles(
            np.array(shuffled, np.uint64)
        )


class TestHammingProperties:
    @given(FINGERPRINTS, FINGERPRINTS, FINGERPRINTS)
    def test_it_is_a_metric(self, first: int, second: int, third: int) -> None:
        assert 0 <= hamming(first, second) == hamming(second, first) <= 64
        assert (hamming(first, second) == 0) == (first == second)
        assert hamming(first, third) <= hamming(first, second) + hamming(second, third)

    @given(FINGERPRINTS, st.sets(st.integers(0, 63)))
    def test_it_counts_turned_bits(self, fingerprint: int, bits: set[int]) -> None:
        turned = fingerprint
        for bit in bits:
            turned ^= 1 << bit
        assert hamming(fingerprint, turned) == len(bits)

    @given(st.integers(max_value=-1) | st.integers(min_value=2**64))
    def test_it_refuses_more_than_64_bits(self, value: int) -> None:
        with pytest.raises(FingerprintError, match=r"must be 0\.\.2\*\*64-1, got"):
            hamming(value, 0)
        with pytest.raises(FingerprintError):
            hamming(0, value)

    @pytest.mark.parametrize("value", [1.0, "1", None, b"1"])
    def test_it_refuses_what_is_no_integer(self, value: object) -> None:
        with pytest.raises(FingerprintError, match="must be an integer"):
            hamming(value, 0)  # type: ignore[arg-type]

    def test_it_takes_the_integers_of_numpy(self) -> None:
        assert hamming(np.uint64(2**64 - 1), np.int64(0)) == 64  # type: ignore[arg-type]
