"""A fleet whose Redis is found by sentinels goes on with the replica that became its master."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pytest
import redis

from neardup.errors import ServerError
from neardup.storage.redis.connecting import connect
from tests.crawler.frontier.redis.fleet import A, links, worker
from tests.servers.redis import RedisServer, ServerUnavailableError, free_port, program
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

SERVICE = "mymaster"
STOP_SECS = 10
WAIT_SECS = 60


@contextmanager
def sentinel(folder: Path, master: RedisServer) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """The port and the process of a sentinel that alone decides when a master is gone."""
    port = free_port()
    folder.mkdir(exist_ok=True)
    file = folder / "sentinel.conf"
    file.write_text(
        f"port {port}\nbind 127.0.0.1\ndir {folder}\n"
        f"sentinel monitor {SERVICE} 127.0.0.1 {master.port} 1\n"
        # A server of a busy machine that is silent for some seconds is not gone.
        f"sentinel down-after-milliseconds {SERVICE} 5000\n"
        f"sentinel failover-timeout {SERVICE} 5000\n"
    )
    command = [program(), str(file), "--sentinel"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield port, process
    finally:
        process.kill()
        process.wait(STOP_SECS)


def knows_replica(port: int) -> bool:
    """Whether a sentinel has found the replica of its master."""
    with redis.Redis(port=port) as client:
        try:
            return len(client.sentinel_slaves(SERVICE)) == 1
        except redis.RedisError:
            return False


def knows_master(port: int) -> bool:
    """Whether a sentinel answers, and names its master."""
    with redis.Redis(port=port) as client:
        try:
            return bool(client.sentinel_get_master_addr_by_name(SERVICE))
        except redis.RedisError:
            return False


def is_in_step(master: RedisServer) -> bool:
    """Whether a replica has all that its master has."""
    with master.client() as client:
        return bool(client.wait(1, 1000))


def test_a_worker_goes_on_with_the_new_master(tmp_path: Path) -> None:
    try:
        program()
    except ServerUnavailableError as lack:
        pytest.skip(f"no Redis here: {lack}")
    with RedisServer(tmp_path / "one") as master:
        follows = ("--replicaof", f"127.0.0.1 {master.port}")
        with (
            RedisServer(tmp_path / "two", *follows),
            sentinel(tmp_path, master) as (port, _),
        ):
            wait_until(lambda: knows_replica(port))
            url = f"redis+sentinel://127.0.0.1:{port}/{SERVICE}/0"

            async def test() -> None:
                async with worker(url) as one:
                    await one.push(links(A, 4))
                    held = await one.lease(2, {}, most_hosts=1)
                    await one.finish(held[:1], [])
                    wait_until(lambda: is_in_step(master))
                    master.kill()
                    # It waits until the sentinel has made the replica the master.
                    await one.finish(held[1:], [])
                    rest = await one.lease(9, {A: 9}, most_hosts=1)
                    assert len(rest) == 2
                    await one.finish(rest, [])
                    counts = await one.counts()
                    assert (counts.done, counts.waiting, counts.leased) == (4, 0, 0)

            asyncio.run(test())


def test_a_sentinel_that_says_nothing_holds_up_no_other(
    own_redis: RedisServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neardup.storage.redis.connecting.ANSWER_SECS", 1.0)
    with (
        sentinel(tmp_path / "first", own_redis) as (first, silent),
        sentinel(tmp_path / "second", own_redis) as (second, _),
    ):
        for port in (first, second):
            wait_until(partial(knows_master, port))
        url = f"redis+sentinel://127.0.0.1:{first},127.0.0.1:{second}/{SERVICE}/0"

        async def test() -> object:
            server = await connect(url, "test:")
            await server.run("SET", "key", "value")
            silent.send_signal(signal.SIGSTOP)
            try:
                with own_redis.client() as client:
                    client.client_kill_filter(_type="normal", skipme=True)
                return await asyncio.wait_for(server.run("GET", "key"), WAIT_SECS)
            finally:
                silent.send_signal(signal.SIGCONT)
                await server.close()

        assert asyncio.run(test()) == b"value"


@pytest.mark.parametrize(
    "url", ["redis+sentinel://", "redis+sentinel://h:1", "redis+sentinel://h:x/s"]
)
def test_a_url_without_its_parts_is_refused(url: str) -> None:
    with pytest.raises(ServerError, match="no URL of a Redis"):
        asyncio.run(connect(url))


def test_a_service_that_no_sentinel_knows_is_refused() -> None:
    with pytest.raises(ServerError, match="mymaster of its sentinels"):
        asyncio.run(connect(f"redis+sentinel://127.0.0.1:1/{SERVICE}"))
