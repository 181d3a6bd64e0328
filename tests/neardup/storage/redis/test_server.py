from __future__ import annotations

import asyncio
import logging
from contextlib import ExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from neardup.errors import ClosedError, ServerError
from neardup.storage.redis.commands import Call
from tests.neardup.storage.redis.running import script, using
from tests.servers.redis import ServerUnavailableError, redis_cluster
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from neardup.storage.redis.server import Server
    from tests.servers.redis import RedisServer

pytestmark = pytest.mark.slow

_ADD = script("return redis.call('SADD', KEYS[1], ARGV[1])")


def test_replies_come_in_the_order_of_the_commands(url: str) -> None:
    async def use(server: Server) -> object:
        await server.pipeline([("SET", f"key {number}", number) for number in range(100)])
        return await server.pipeline([("GET", f"key {number}") for number in range(100)])

    assert using(url, use) == [f"{number}".encode() for number in range(100)]


def test_a_script_runs_where_it_was_never_loaded(url: str) -> None:
    async def use(server: Server) -> object:
        calls = [Call(_ADD, [f"set {number % 10}"], [number]) for number in range(100)]
        first = await server.pipeline([*calls, ("SADD", "set 0", "a")])
        return first, await server.pipeline(calls), await server.call(_ADD, ["set 3"], ["b"])

    assert using(url, use) == ([1] * 101, [0] * 100, 1)


def test_scripts_that_the_server_forgot_run_again(own_redis: RedisServer) -> None:
    async def use(server: Server) -> object:
        await server.call(_ADD, ["set"], ["a"])
        own_redis.kill()
        own_redis.start()
        return await server.call(_ADD, ["set"], ["b"])

    assert using(own_redis.url, use) == 1


def test_arguments_come_as_they_are(url: str) -> None:
    parts: list[str | bytes | int | float] = [
        "ä\n b",
        b"\r\n\x00\xff",
        b"",
        7,
        -1 << 40,
        0.1,
        "x" * 100_000,
    ]
    echo = script("return ARGV")

    async def use(server: Server) -> object:
        await server.run("SET", "some key", b"a b")
        return await server.call(echo, ["{k}"], parts), await server.run("GET", "some key")

    told = ["ä\n b".encode(), b"\r\n\x00\xff", b"", b"7", b"-1099511627776", b"0.1", b"x" * 100_000]
    assert using(url, use) == (told, b"a b")


def test_a_mistake_is_raised_and_not_waited_for(url: str) -> None:
    async def use(server: Server) -> None:
        await server.run("SET", "word", "a")
        with pytest.raises(ServerError, match=r"127\.0\.0\.1:\d+: .*WRONGTYPE|wrong kind"):
            await server.run("SADD", "word", "b")
        with pytest.raises(ServerError, match="nothing of the kind"):
            await server.call(script("return redis.error_reply('nothing of the kind')"), ["word"])

    using(url, use)


def test_a_closed_server_refuses(redis_url: str) -> None:
    async def use(server: Server) -> None:
        await server.close()
        await server.close()
        with pytest.raises(ClosedError):
            await server.run("PING")

    using(redis_url, use)


def test_calls_of_one_moment_are_sent_together(own_redis: RedisServer) -> None:
    async def reads(server: Server) -> int:
        return int((await server.run("INFO", "stats"))["total_reads_processed"])

    async def use(server: Server) -> None:
        before = await reads(server)
        calls = [server.call(_ADD, [f"set {number}"], [number]) for number in range(100)]
        assert await asyncio.gather(*calls) == [1] * 100
        # With the script once by its digest and once whole, and the question itself.
        assert await reads(server) - before < 50

    using(own_redis.url, use)


def test_calls_of_one_moment_do_not_fail_or_end_together(own_redis: RedisServer) -> None:
    async def use(server: Server) -> None:
        await server.run("SET", "word", "a")
        calls = [
            asyncio.create_task(server.run(*command))
            for command in (("GET", "word"), ("SADD", "word", "b"), ("GET", "word"))
        ]
        await asyncio.sleep(0)
        calls[2].cancel()
        told = await asyncio.gather(*calls, return_exceptions=True)
        assert told[0] == b"a"
        assert isinstance(told[1], ServerError)
        assert isinstance(told[2], asyncio.CancelledError)
        assert await server.run("GET", "word") == b"a"

    using(own_redis.url, use)


def test_an_argument_that_cannot_be_written_fails_its_own_call_alone(redis_url: str) -> None:
    async def use(server: Server) -> None:
        await server.run("SET", "word", "a")
        bad: list[tuple[Any, ...]] = [("SET", "word", "\ud800"), ("SET", "word", None)]
        calls = [server.run(*command) for one in bad for command in (("GET", "word"), one)]
        told = await asyncio.gather(*calls, return_exceptions=True)
        assert told[::2] == [b"a"] * 2
        assert all(isinstance(one, Exception) for one in told[1::2])
        assert await server.run("GET", "word") == b"a"

    using(redis_url, use)


def test_calls_under_way_end_where_the_server_is_closed(own_redis: RedisServer) -> None:
    async def use(server: Server) -> None:
        with own_redis.client() as client:
            client.client_pause(120_000)
        calls = [asyncio.create_task(server.run("SET", f"k{n}", n)) for n in range(3)]
        await asyncio.sleep(0)
        async with asyncio.timeout(60):
            await server.close()
            told = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(one) for one in told] == [ClosedError] * 3

    using(own_redis.url, use)


async def _waits(server: Server) -> str:
    reason = await until(lambda: server.outage.reason)
    assert reason is not None
    return reason


class TestOutages:
    """Whatever a server does not take now is waited for, and said once."""

    def _outage(
        self,
        redis: RedisServer,
        caplog: pytest.LogCaptureFixture,
        stop: Callable[[], object],
        go_on: Callable[[], object],
    ) -> str:
        async def use(server: Server) -> str:
            await server.run("SET", "before", 1)
            stop()
            calls = [asyncio.create_task(server.run("SET", f"k{n}", "x" * 100)) for n in range(5)]
            reason = await _waits(server)
            assert server.outage.since is not None
            answered, _ = await asyncio.wait(calls, timeout=0.5)
            assert not answered
            go_on()
            async with asyncio.timeout(20):
                await asyncio.gather(*calls)
            assert server.outage.reason is None
            assert server.outage.since is None
            assert await server.run("GET", "k4") == b"x" * 100
            return reason

        with caplog.at_level(logging.WARNING, logger="neardup"):
            reason = using(redis.url, use)
        begun, ended = [record.getMessage() for record in caplog.records]
        assert begun.startswith(f"Redis at 127.0.0.1:{redis.port}: ")
        assert begun.endswith("; waiting for it")
        assert "answers again after" in ended
        return reason

    def test_gone(self, own_redis: RedisServer, caplog: pytest.LogCaptureFixture) -> None:
        reason = self._outage(own_redis, caplog, own_redis.kill, own_redis.start)
        assert reason.startswith("no connection")

    def test_full(self, own_redis: RedisServer, caplog: pytest.LogCaptureFixture) -> None:
        def allow(memory: str) -> None:
            with own_redis.client() as client:
                client.config_set("maxmemory", memory)

        reason = self._outage(own_redis, caplog, lambda: allow("1"), lambda: allow("0"))
        assert reason == "its memory is full (maxmemory)"

    def test_read_only(self, own_redis: RedisServer, caplog: pytest.LogCaptureFixture) -> None:
        def follow(*master: str) -> None:
            with own_redis.client() as client:
                client.replicaof(*master)

        # With nobody at that address it goes on answering what it has.
        reason = self._outage(
            own_redis, caplog, lambda: follow("127.0.0.1", "1"), lambda: follow("NO", "ONE")
        )
        assert reason == "it takes no writes (read only)"

    def test_a_full_server_is_read_meanwhile(self, own_redis: RedisServer) -> None:
        async def use(server: Server) -> None:
            await server.run("SET", "key", "value")
            await server.run("CONFIG", "SET", "maxmemory", "1")
            write = asyncio.create_task(server.run("SET", "key", "other"))
            await _waits(server)
            assert await server.run("GET", "key") == b"value"
            assert server.outage.reason is not None
            write.cancel()
            await asyncio.gather(write, return_exceptions=True)
            assert server.outage.reason is None

        using(own_redis.url, use)

    def test_a_server_that_does_not_answer(
        self, own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("neardup.storage.redis.connecting.ANSWER_SECS", 0.3)

        async def use(server: Server) -> object:
            own_redis.pause()
            call = asyncio.create_task(server.run("INCR", "key"))
            assert await _waits(server) == "it does not answer"
            own_redis.go_on()
            return await call

        # What was sent before the pause is done too: a command may be executed twice.
        assert using(own_redis.url, use) in range(1, 5)

    def test_answers_to_a_batch_have_time_one_by_one(
        self, own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("neardup.storage.redis.connecting.ANSWER_SECS", 1.0)

        async def use(server: Server) -> object:
            # Each waits for a replica, and there is none.
            return await asyncio.wait_for(server.pipeline([("WAIT", 1, 400)] * 5), 30)

        assert using(own_redis.url, use) == [0] * 5

    @pytest.mark.parametrize("batches_before", [0, 1])
    def test_a_server_that_takes_a_batch_and_says_nothing(
        self, own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch, batches_before: int
    ) -> None:
        monkeypatch.setattr("neardup.storage.redis.connecting.ANSWER_SECS", 0.3)

        async def use(server: Server) -> object:
            for _ in range(batches_before):
                await server.run("PING")
            call = asyncio.create_task(server.run("XREAD", "BLOCK", 0, "STREAMS", "key", "0"))
            assert await _waits(server) == "it does not answer"
            with own_redis.client() as client:
                client.xadd("key", {"field": "value"})
            return await call

        assert using(own_redis.url, use)


def test_whoever_calls_again_and_again_can_be_cancelled_at_any_moment(url: str) -> None:
    async def call_on(server: Server) -> None:
        while True:
            await asyncio.gather(*(server.run("PING") for _ in range(4)))
            await server.run("PING")

    async def use(server: Server) -> bool:
        for number in range(200):
            call = asyncio.create_task(call_on(server))
            for _ in range(number):  # turns of the loop
                await asyncio.sleep(0)
            call.cancel()
            _, left = await asyncio.wait([call], timeout=10)
            if left:
                call.cancel()
                return False
        return True

    assert using(url, use)


def test_whoever_waits_for_a_server_can_be_cancelled_where_the_client_does_not_notice(
    own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def use(server: Server) -> bool:
        looks = asyncio.Event()

        async def look_around() -> None:
            looks.set()
            with suppress(asyncio.CancelledError):  # as asyncio.wait_for does before Python 3.12
                await asyncio.Event().wait()

        monkeypatch.setattr(server, "_look_around", look_around)
        own_redis.kill()
        call = asyncio.create_task(server.run("PING"))
        await looks.wait()
        call.cancel()
        await asyncio.wait([call], timeout=5)
        return call.cancelled()

    assert using(own_redis.url, use)


def test_a_node_of_a_cluster_that_is_killed_is_waited_for() -> None:
    with ExitStack() as stack:
        try:
            nodes = stack.enter_context(redis_cluster())
        except ServerUnavailableError as lack:
            pytest.skip(f"no Redis here: {lack}")

        async def use(server: Server) -> None:
            for node in nodes[:2]:
                node.kill()
                calls = [asyncio.create_task(_add(server, number)) for number in range(30)]
                assert (await _waits(server)).startswith("no connection")
                async with asyncio.timeout(30):
                    # The others answer meanwhile.
                    await until(partial(_is_any_done, calls))
                    node.start()
                    await asyncio.gather(*calls)
            assert server.outage.reason is None
            counts = await server.pipeline([("SCARD", f"set {number}") for number in range(30)])
            assert counts == [2] * 30

        using(nodes[0].url, use)


async def _add(server: Server, number: int) -> None:
    await server.run("GET", f"set of nobody {number}")
    await server.pipeline([Call(_ADD, [f"set {number}"], [word]) for word in "ab"])


def _is_any_done(calls: list[asyncio.Task[None]]) -> bool:
    return any(call.done() for call in calls)
