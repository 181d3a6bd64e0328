"""Who is taken for dead, and who is not."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.redis.workers import HeartbeatWatch

SECS = 10.0


def test_a_beat_that_stands_for_the_time_out_is_the_last() -> None:
    watch = HeartbeatWatch(SECS)
    dead = [watch.dead({"a": b"1", "b": b"%d" % now}, now) for now in range(0, 13, 2)]
    assert dead == [[], [], [], [], [], ["a"], ["a"]]


def test_nobody_is_dead_after_an_outage() -> None:
    watch = HeartbeatWatch(SECS)
    for now in range(0, 8, 2):
        assert watch.dead({"a": b"1"}, now) == []
    assert watch.dead({"a": b"1"}, 60) == []
    assert watch.dead({"a": b"1"}, 64) == []
    assert watch.dead({"a": b"1"}, 68) == []
    assert watch.dead({"a": b"1"}, 70) == ["a"]


def test_a_worker_that_comes_again_is_watched_anew() -> None:
    watch = HeartbeatWatch(SECS)
    for now in range(0, 10, 2):
        watch.dead({"a": b"1"}, now)
    assert watch.dead({}, 10) == []
    assert watch.dead({"a": b"1"}, 12) == []


class TestWatchProperties:
    @given(st.lists(st.tuples(st.floats(0.1, 12), st.integers(0, 2)), max_size=30))
    def test_only_who_was_looked_at_all_the_time_is_dead(
        self, looks: list[tuple[float, int]]
    ) -> None:
        watch, now, seen = HeartbeatWatch(SECS), 0.0, list[tuple[float, int]]()
        for passed, heartbeat in looks:
            now += passed
            seen.append((now, heartbeat))
            is_dead = watch.dead({"a": b"%d" % heartbeat}, now) == ["a"]
            same = _standing(seen)
            assert is_dead == (now - same[0] >= SECS)


def _standing(seen: list[tuple[float, int]]) -> list[float]:
    """The times of the last looks that found one beat, none of them far from the next."""
    times = [seen[-1][0]]
    for at, heartbeat in reversed(seen[:-1]):
        if heartbeat != seen[-1][1] or times[0] - at > SECS / 2:
            break
        times.insert(0, at)
    return times
