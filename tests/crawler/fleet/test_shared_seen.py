"""What a worker remembers of keys: nothing that it was not told, and not more than a bound."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.fleet.shared_seen import RecentKeys

KEYS = st.lists(st.integers(0, 30).map(lambda number: number.to_bytes(16)), max_size=60)


class TestRecentKeysProperties:
    @given(KEYS, st.integers(1, 8))
    def test_knows_only_what_was_added_and_all_that_is_recent(
        self, keys: list[bytes], generation: int
    ) -> None:
        recent = RecentKeys(generation)
        for number, key in enumerate(keys):
            is_new = recent.add(key)
            before = keys[:number]
            if is_new:
                assert key not in before[-generation + 1 :] or generation == 1
            else:
                assert key in before
            assert len(recent) <= 2 * generation

    @given(KEYS)
    def test_hands_a_key_over_once(self, keys: list[bytes]) -> None:
        recent = RecentKeys()
        for key in keys:
            is_new = recent.add(key)
            assert recent.take(key) == (key if is_new else None)
            assert recent.take(key) is None


def test_what_is_discarded_is_new_again() -> None:
    recent = RecentKeys()
    recent.add(b"a")
    recent.discard(b"a")
    assert b"a" not in recent
    assert recent.add(b"a")


def test_what_was_handed_over_stays() -> None:
    recent = RecentKeys()
    recent.add(b"a")
    recent.take(b"a")
    recent.discard(b"a")
    assert b"a" in recent


def test_what_the_fleet_has_is_not_new() -> None:
    recent = RecentKeys()
    recent.lower(b"a", 0)
    assert not recent.add(b"a")
    assert recent.take(b"a") is None
