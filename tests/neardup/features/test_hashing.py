import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neardup.features.hashing import mix, token_hashes

TOKEN = st.binary(min_size=1, max_size=90).map(lambda token: token.replace(b" ", b"_"))
LENGTHS = [1, 7, 8, 9, 15, 16, 17, 63, 64, 65, 71, 72, 73, 200]


def test_no_tokens_have_no_hashes() -> None:
    assert token_hashes(b"").shape == token_hashes(b"   ").shape == (0,)


def test_hashes_are_pinned() -> None:
    """Stored fingerprints rest on these; a change here makes them all worthless."""
    packed = b"a the fingerprint " + b"x" * 64 + b" " + b"x" * 65
    assert [f"{value:016x}" for value in token_hashes(packed).tolist()] == [
        "685fdf50e51fa977",
        "0d620fb0a4e86b67",
        "bce3c268d2f9aa1f",
        "95190931db1eb994",
        "f98431abcf1929f2",
    ]


@pytest.mark.parametrize("length", LENGTHS)
def test_tokens_that_differ_in_their_last_byte_differ(length: int) -> None:
    first, second = token_hashes(b"a" * length + b" " + b"a" * (length - 1) + b"b")
    assert first != second


def test_prefixes_of_a_long_token_all_differ() -> None:
    packed = b" ".join(b"a" * length for length in range(1, 200))
    assert len(set(token_hashes(packed).tolist())) == 199


def test_mix_keeps_values_apart() -> None:
    assert len(np.unique(mix(np.arange(100_000, dtype=np.uint64)))) == 100_000


class TestTokenHashesProperties:
    @settings(deadline=None)
    @given(st.lists(TOKEN, max_size=30), st.integers(1, 3))
    def test_a_token_has_one_hash_wherever_it_stands(self, tokens: list[bytes], gap: int) -> None:
        together = token_hashes((b" " * gap).join(tokens)).tolist()
        assert together == [token_hashes(token)[0] for token in tokens]

    @settings(deadline=None)
    @given(st.sets(TOKEN, max_size=30))
    def test_distinct_tokens_have_distinct_hashes(self, tokens: set[bytes]) -> None:
        assert len(set(token_hashes(b" ".join(tokens)).tolist())) == len(tokens)
