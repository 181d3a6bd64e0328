import math
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
import xxhash
from hypothesis import given
from hypothesis import strategies as st

from neardup import hamming
from neardup.errors import FingerprintError
from neardup.fingerprints.simhash import majority, simhash_weighted
from tests.neardup.features import plain
from tests.neardup.texts import prose

NAMES = st.text("abc\ud800é", min_size=1, max_size=4)
WHOLE = st.integers(-(10**6), 10**6)
HUGE = 10**400


class TestMajority:
    TERMS: Mapping[str, str] = {"cat": "1010", "sat": "1100", "mat": "0110", "rat": "1001"}

    def of(self, weights: Mapping[str, float]) -> str:
        bits = [[int(bit) for bit in self.TERMS.get(term, term)] for term in weights]
        return "".join(str(int(bit)) for bit in majority(bits, list(weights.values())))

    def test_the_worked_examples(self) -> None:
        first = self.of({"cat": 3, "sat": 2, "mat": 2})
        second = self.of({"cat": 3, "sat": 2, "rat": 2})
        assert (first, second) == ("1110", "1000")
        assert hamming(int(first, 2), int(second, 2)) == 2
        assert self.of({"100101": 4, "101011": 5}) == "101011"

    @pytest.mark.parametrize(
        ("rows", "expected"),
        [
            (["1111"], "1111"),
            (["1100", "1010"], "1000"),
            (["1100", "1010", "1001"], "1000"),
            (["1110", "1101", "0011"], "1111"),
            (["0000", "1111"], "0000"),
        ],
    )
    def test_more_than_half_make_a_one_and_a_tie_none(self, rows: list[str], expected: str) -> None:
        bits = [[int(bit) for bit in row] for row in rows]
        assert majority(bits, [1] * len(rows)).tolist() == [bit == "1" for bit in expected]


class TestWeighted:
    def test_it_is_pinned(self) -> None:
        assert simhash_weighted({"cat": 3, "sat": 2, "mat": 2.5}) == 0xC2D42A80139C062A

    def test_a_single_feature_is_its_hash(self) -> None:
        assert simhash_weighted({"cat": 0.1}) == xxhash.xxh3_64_intdigest(b"cat")

    def test_a_weight_below_zero_takes_away(self) -> None:
        assert simhash_weighted({"cat": -1}) == ~xxhash.xxh3_64_intdigest(b"cat") % 2**64

    def test_the_order_and_the_unit_of_weights_do_not_count(self) -> None:
        weights = {word: float(place + 1) for place, word in enumerate(prose(5, 20).split())}
        reversed_ = {word: weights[word] * 4 for word in reversed(weights)}
        assert simhash_weighted(weights) == simhash_weighted(reversed_)

    @pytest.mark.parametrize("heavy", [1e9, 2**53 + 1, HUGE, Fraction(HUGE, 3), np.float32(1e9)])
    def test_what_outweighs_all_others_is_the_fingerprint(self, heavy: float) -> None:
        weights = dict.fromkeys(prose(1, 30).split(), 1.0)
        assert simhash_weighted(weights | {"heavy": heavy}) == simhash_weighted({"heavy": 1})

    def test_large_integers_are_exact(self) -> None:
        only = {name: simhash_weighted({name: 1}) for name in ("cat", "sat")}
        assert simhash_weighted({"cat": HUGE, "sat": HUGE}) == only["cat"] & only["sat"]
        assert simhash_weighted({"cat": HUGE + 1, "sat": HUGE}) == only["cat"]
        assert simhash_weighted({"cat": HUGE, "sat": HUGE, "mat": 1e-300}) == (
            only["cat"] & only["sat"] | (only["cat"] ^ only["sat"]) & simhash_weighted({"mat": 1})
        )

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            ({}, "no features"),
            ({"a": math.nan}, "the weight of 'a' must be finite, got nan"),
            ({"a": 1.0, "b": -math.inf}, "the weight of 'b' must be finite, got -inf"),
            ({"a": HUGE, "b": math.nan}, "the weight of 'b' must be finite, got nan"),
            ({"a": np.float64("nan")}, "must be finite"),
            ({"a": "1"}, "the weight of 'a' must be a number, got '1'"),
            ({"a": None}, "must be a number, got None"),
            ({"a": Decimal(1)}, "must be a number"),
            ({b"a": 1}, "a feature must be str, got bytes"),
            (["a"], r"weights must be \{feature: weight\}, got list"),
        ],
    )
    def test_it_refuses_what_has_no_sum(self, weights: dict[str, float], message: str) -> None:
        with pytest.raises(FingerprintError, match=message):
            simhash_weighted(weights)


class TestWeightedProperties:
    @given(st.dictionaries(NAMES, WHOLE, min_size=1))
    def test_it_equals_the_definition_in_floats_and_exactly(self, weights: dict[str, int]) -> None:
        digests = {
            xxhash.xxh3_64_intdigest(name.encode("utf-8", "surrogatepass")): weight
            for name, weight in weights.items()
        }
        expected = plain.fingerprint(digests)
        assert simhash_weighted(weights) == expected
        assert simhash_weighted({name: float(one) for name, one in weights.items()}) == expected
        assert simhash_weighted({name: one * HUGE for name, one in weights.items()}) == expected
