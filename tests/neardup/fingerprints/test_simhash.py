import math
import subprocess
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from neardup import hamming, simhash
from neardup.errors import FingerprintError
from neardup.features.features import UNITS, WEIGHTS, Features
from neardup.fingerprints.kernels import of_set
from neardup.fingerprints.simhash import simhash_many
from tests.neardup.features import plain
from tests.neardup.features.test_features import of
from tests.neardup.texts import changed, prose

FINGERPRINTS = st.integers(0, 2**64 - 1)
CHARACTERS = Features("character", 4)
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
WEIGHED = {
    "word-1-count": 0xF9A3DD4A4C4DE66C,
    "word-1-log_count": 0xF9F7DD48DE4FE240,
    "character-4-set": 0x685E01A0B4A331DD,
    "character-4-count": 0xE84EA0B1ACE9359D,
}
NO_WORDS = ["", " \n", "... — !?", "\0\0", "\ud800", "\u0301", "👍"]


@pytest.mark.parametrize(("text", "fingerprint"), GOLDEN.items())
def test_fingerprints_are_pinned(text: str, fingerprint: int) -> None:
    """Stored fingerprints are compared with new ones; a change here makes them all worthless."""
    assert simhash(text) == fingerprint


@pytest.mark.parametrize(("features", "fingerprint"), WEIGHED.items())
def test_fingerprints_of_other_features_are_pinned(features: str, fingerprint: int) -> None:
    text = "The cat, the dog, the cow and the hen: the hen was the cat’s — où, être."
    assert simhash(text, Features.parsed(features)) == fingerprint


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


@pytest.mark.parametrize("text", NO_WORDS)
def test_a_text_without_words_has_no_fingerprint(text: str) -> None:
    for weight in ("set", "count", "log_count"):
        with pytest.raises(FingerprintError, match="the text is without words"):
            simhash(text, Features(weight=weight))
    with pytest.raises(FingerprintError, match="text 2 is without words"):
        simhash_many(["one", "two", text, "three"])


def test_two_texts_of_signs_have_characters_and_are_not_the_same() -> None:
    assert simhash("... — !?", CHARACTERS) != simhash("?! — ...", CHARACTERS)
    for text in ("", " \n", "\u200b"):
        with pytest.raises(FingerprintError, match="without words"):
            simhash(text, CHARACTERS)


def test_a_text_of_words_that_weigh_nothing_has_no_fingerprint() -> None:
    class Nothing:
        unit, size, identity = "word", 1, "nothing"

        def weights(self, hashes: NDArray[np.uint64]) -> NDArray[np.float64]:
            return np.zeros(len(hashes))

    with pytest.raises(FingerprintError, match="without words that weigh anything"):
        simhash("a b c", Features("word", 1, "tf_idf", Nothing()))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (5, "text must be str, got int"),
        (None, "text must be str, got NoneType"),
        (b"a b c", "text must be str, got bytes; decode it first"),
        (["a"], "text must be str, got list"),
    ],
)
def test_what_is_no_text_is_refused(bad: str, message: str) -> None:
    with pytest.raises(FingerprintError, match=message):
        simhash(bad)
    with pytest.raises(FingerprintError, match="text 1 must be str, got"):
        simhash_many(["a", bad])


@pytest.mark.parametrize(("bad", "message"), [("abc", "put it in a list"), (5, "got int")])
def test_what_is_no_list_of_texts_is_refused(bad: list[str], message: str) -> None:
    with pytest.raises(FingerprintError, match=f"texts must be several texts, .*{message}"):
        simhash_many(bad)


@pytest.mark.parametrize(
    "text", ["Ein Café in Köln am Rhein", "ελληνικά Σίσυφος", "한국어 문장 하나", "नमस्ते दुनिया ज़रा"]
)
@pytest.mark.parametrize("features", [Features(), CHARACTERS, Features(weight="count")])
def test_case_and_encoding_form_make_no_distance(text: str, features: Features) -> None:
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        other = unicodedata.normalize(form, text.upper())
        assert simhash(other, features) == simhash(text, features)


@pytest.mark.parametrize("text", ["a \ud800 b c", "a\0b\0c d", "\0", "\ud800" * 5, "x"])
def test_odd_texts_have_the_fingerprints_of_their_characters(text: str) -> None:
    expected = plain.fingerprint(dict.fromkeys(plain.shingles(text, "character", 4), 1))
    assert simhash(text, CHARACTERS) == expected


class TestLikeOtherLibraries:
    """What the tests of seomoz's simhash-py and of the package simhash say, said of ours."""

    @pytest.mark.parametrize("features", [Features(), Features(weight="count"), CHARACTERS])
    def test_equal_texts_are_equal_and_near_texts_near(self, features: Features) -> None:
        text = prose(1, 1000)
        assert simhash(text, features) == simhash(f" {text}\n", features)
        assert hamming(simhash(text, features), simhash(changed(text, 1), features)) <= 4
        assert 16 <= hamming(simhash(text), simhash(prose(2, 1000))) <= 48

    def test_a_short_text_differs_less_from_its_edits_than_from_others(self) -> None:
        features = Features("character", 4, "count")
        near = [
            "How are you? I Am fine. blar blar blar blar blar Thanks.",
            "How are you i am fine.blar blar blar blar blar than",
            "This is simhash test.",
            "How are you i am fine. blar blar blar blar blar thank1",
        ]
        values = [simhash(text, features) for text in near]
        assert len(set(values)) == 4
        assert hamming(values[0], values[2]) > max(
            hamming(values[0], values[1]), hamming(values[1], values[3])
        )

    def test_majority_of_hashes(self) -> None:
        def of_values(*values: int) -> int:
            return of_set(np.array(values, np.uint64), len(values))

        assert of_values(0b1100, 0b1010) == 0b1000
        assert of_values(0b1100, 0b1010, 0b1001) == 0b1000
        assert of_values(2**64 - 1, 2**64 - 1, 0) == 2**64 - 1
        assert of_values(0, 2**64 - 1) == 0
        assert of_values(42) == 42


@pytest.mark.parametrize("count", [1, 2, 254, 255, 256, 65_279, 65_280, 65_281, 150_000])
def test_ones_are_counted_beyond_every_counter(count: int) -> None:
    values = np.random.default_rng(count).integers(0, 2**64, count, np.uint64, endpoint=False)
    values |= np.uint64(1)
    ones = np.unpackbits(values.view(np.uint8).reshape(-1, 8), axis=1).sum(axis=0, dtype=np.int64)
    expected = int.from_bytes(np.packbits(2 * ones > count).tobytes(), sys.byteorder)
    assert of_set(values, count) == expected


class TestLongTexts:
    def test_five_megabytes_of_one_word(self) -> None:
        assert simhash("w" * 5_000_000) != simhash("v" * 5_000_000)
        assert simhash("w" * 5_000_000, CHARACTERS) == simhash("w" * 4, CHARACTERS)

    def test_both_ways_to_find_a_set_agree_with_the_definition(self) -> None:
        """A text of more than 4 MB is sorted; many times round a ring of words finds no more."""
        ring = [f"word{number}" for number in range(20_000)]
        once, many = " ".join(ring + ring[:2]), " ".join(ring * 25 + ring[:2])
        assert len(once) < 1 << 22 < len(many)
        expected = plain.fingerprint(dict.fromkeys(plain.shingles(once, "word", 3), 1))
        assert simhash(once) == simhash(many) == expected

    @pytest.mark.parametrize("features", [Features(), CHARACTERS])
    def test_memory_grows_with_the_text_and_not_faster(self, features: Features) -> None:
        program = (
            "import resource\n"
            "from neardup.features.features import Features\n"
            "from neardup.fingerprints.simhash import simhash\n"
            f"features = {features!r}\n"
            "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
            "simhash('a b c d', features)\n"
            "before = peak()\n"
            "simhash(' '.join(map(str, range(2_000_000))), features)\n"
            "print(peak() - before)\n"
        )
        ran = subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        # 15 MB of text; a hash of 8 bytes for each of its characters, sorted, and a copy.
        assert int(ran.stdout) * 1024 < 15 * 2**20 * 25


class TestSimhashProperties:
    WORDS = st.lists(
        st.sampled_from(["a", "be", "see", "漢字", "ดี", "é", "x" * 20, "y" * 70]),
        min_size=1,
        max_size=30,
    )

    @settings(deadline=None)
    @given(WORDS, st.sampled_from(UNITS), st.integers(1, 5), st.sampled_from(WEIGHTS))
    def test_it_equals_the_definition(
        self, words: list[str], unit: str, size: int, weight: str
    ) -> None:
        text = " ".join(words)
        features = of(unit, size, weight)
        weighted = features.weighted(text)
        weights = dict(zip(weighted.hashes.tolist(), weighted.weights.tolist(), strict=True))
        expected = plain.fingerprint(weights)
        assert simhash(text, features) == expected
        assert simhash_many([text, "other words", text], features)[[0, 2]].tolist() == [
            expected,
            expected,
        ]

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
        one, other = np.array(values, np.uint64), np.array(shuffled, np.uint64)
        assert of_set(one, len(one)) == of_set(other, len(other))

    def test_no_texts_have_no_fingerprints(self) -> None:
        assert simhash_many([]).shape == (0,)
        assert simhash_many(iter(["a b", "c"])).tolist() == [simhash("a b"), simhash("c")]


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

    @pytest.mark.parametrize("value", [1.0, "1", None, b"1", math.nan])
    def test_it_refuses_what_is_no_integer(self, value: object) -> None:
        with pytest.raises(FingerprintError, match="must be an integer"):
            hamming(value, 0)  # type: ignore[arg-type]

    def test_it_takes_the_integers_of_numpy(self) -> None:
        assert hamming(np.uint64(2**64 - 1), np.int64(0)) == 64  # type: ignore[arg-type]
