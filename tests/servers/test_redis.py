from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import redis

if TYPE_CHECKING:
    from tests.servers.redis import RedisServer


def test_a_killed_server_has_what_it_acknowledged(own_redis: RedisServer) -> None:
    with own_redis.client() as client:
        for number in range(1_000):
            client.set(f"key {number}", number)
    own_redis.kill()
    own_redis.start()
    with own_redis.client() as client:
        assert client.dbsize() == 1_000


def test_a_paused_server_does_not_answer(own_redis: RedisServer) -> None:
    own_redis.pause()
    with own_redis.client(timeout_secs=0.2) as client:
        with pytest.raises(redis.TimeoutError):
            client.ping()
        own_redis.go_on()
        assert client.ping()


def test_keys_of_a_cluster_are_spread(cluster_url: str) -> None:
    with redis.RedisCluster.from_url(cluster_url) as cluster:
        for number in range(100):
            cluster.set(f"key {number}", number)
        sizes = cluster.dbsize(target_nodes=redis.RedisCluster.PRIMARIES)
        assert sizes == 100
        assert len(cluster.get_primaries()) == 3
