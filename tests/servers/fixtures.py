"""Servers as pytest fixtures; where this machine has none, the test is skipped."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.servers.redis import ServerUnavailableError, redis_cluster, redis_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.redis import RedisServer


@pytest.fixture(scope="session")
def redis_process() -> Iterator[RedisServer]:
    """One server for all tests of a process, which none of them may stop."""
    with ExitStack() as stack:
        try:
            server = stack.enter_context(redis_server())
        except ServerUnavailableError as lack:
            pytest.skip(f"no Redis here: {lack}")
        yield server


@pytest.fixture
def redis_url(redis_process: RedisServer) -> str:
    """The URL of a server that holds nothing."""
    with redis_process.client() as client:
        client.flushall()
    return redis_process.url


@pytest.fixture
def own_redis() -> Iterator[RedisServer]:
    """A server of the test's own, to be stopped, killed and started again."""
    with ExitStack() as stack:
        yield _entered(stack)


@pytest.fixture
def redis_of_dumps() -> Iterator[RedisServer]:
    """A server of the test's own that starts again with what its last ``SAVE`` wrote."""
    with ExitStack() as stack:
        yield _entered(stack, "--appendonly", "no")


def _entered(stack: ExitStack, *options: str) -> RedisServer:
    try:
        return stack.enter_context(redis_server(*options))
    except ServerUnavailableError as lack:
        pytest.skip(f"no Redis here: {lack}")


@pytest.fixture(scope="session")
def cluster_processes() -> Iterator[list[RedisServer]]:
    """Three servers that are one cluster, which no test may stop."""
    with ExitStack() as stack:
        try:
            nodes = stack.enter_context(redis_cluster())
        except ServerUnavailableError as lack:
            pytest.skip(f"no Redis here: {lack}")
        yield nodes


@pytest.fixture
def cluster_url(cluster_processes: list[RedisServer]) -> str:
    """The URL of a cluster that holds nothing."""
    for node in cluster_processes:
        with node.client() as client:
            client.flushall()
    return cluster_processes[0].url
