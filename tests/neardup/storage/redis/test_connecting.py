from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from redis.asyncio.sentinel import SentinelConnectionPool

from neardup.errors import ServerError
from neardup.installing import install_command
from neardup.storage.redis.connecting import _client, connect
from tests.neardup.storage.redis.running import using

if TYPE_CHECKING:
    from pathlib import Path

    from neardup.storage.redis.server import Server
    from tests.servers.redis import RedisServer


async def _about(server: Server) -> tuple[bool, str, str, tuple[str, ...]]:
    await server.run("PING")
    return server.is_cluster, server.prefix, server.name, server.warnings


def _refused(url: str) -> str:
    with pytest.raises(ServerError) as refused:
        asyncio.run(connect(url))
    message = str(refused.value)
    assert "\n" not in message
    return message


def test_one_server(redis_url: str) -> None:
    is_cluster, prefix, name, warnings = using(redis_url, _about)
    assert (is_cluster, prefix, warnings) == (False, "test:", ())
    assert f"redis://{name}/0" == redis_url


def test_a_cluster_is_told_by_any_of_its_nodes(cluster_url: str) -> None:
    is_cluster, _, name, warnings = using(cluster_url, _about)
    assert (is_cluster, warnings) == (True, ())
    assert f"redis://{name}/0" == cluster_url


@pytest.mark.parametrize("url", ["", "http://127.0.0.1", "redis://127.0.0.1:port/0"])
def test_what_is_no_url(url: str) -> None:
    assert "redis://HOST:PORT/0 expected" in _refused(url)


def test_a_server_that_does_not_answer_is_named() -> None:
    message = _refused("redis://user:secret@127.0.0.1:1/0")
    assert message.startswith("Redis at 127.0.0.1:1: ")
    assert "is it running" in message
    assert "secret" not in message


def test_a_wrong_password(own_redis: RedisServer) -> None:
    with own_redis.client() as client:
        client.config_set("requirepass", "right")
    for user in ("", ":wrong@"):
        message = _refused(own_redis.url.replace("://", f"://{user}"))
        assert "user or password refused" in message
        assert "wrong@" not in message
    assert not using(own_redis.url.replace("://", "://:right@"), _about)[0]


def test_a_password_of_the_environment_is_used_where_the_url_has_none(
    own_redis: RedisServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with own_redis.client() as client:
        client.config_set("requirepass", "right:@ one")
    monkeypatch.setenv("REDIS_PASSWORD", "right:@ one")
    assert not using(own_redis.url, _about)[0]
    assert "user or password refused" in _refused(own_redis.url.replace("://", "://:wrong@"))
    monkeypatch.setenv("REDIS_PASSWORD", "wrong")
    assert "set REDIS_PASSWORD" in _refused(own_redis.url)
    file = tmp_path / "password"
    monkeypatch.setenv("REDIS_PASSWORD_FILE", str(file))
    message = _refused(own_redis.url)
    assert message == f"REDIS_PASSWORD_FILE: {file} cannot be read: No such file or directory"
    file.write_text("right:@ one\n")
    assert not using(own_redis.url, _about)[0]


def test_a_server_that_evicts(own_redis: RedisServer) -> None:
    with own_redis.client() as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
    message = _refused(own_redis.url)
    assert "allkeys-lru" in message
    assert "maxmemory-policy noeviction" in message


def test_a_server_without_a_file_is_warned_about(own_redis: RedisServer) -> None:
    with own_redis.client() as client:
        client.config_set("appendonly", "no")
    (warning,) = using(own_redis.url, _about)[3]
    assert "CONFIG SET appendonly yes" in warning


def test_without_redis_client_the_rest_works_and_this_says_what_to_install() -> None:
    tried = (
        "import sys; sys.modules['redis'] = None; from neardup.errors import ServerError\n"
        "try:\n    import neardup.storage.redis.connecting\n"
        "except ServerError as lack:\n    print(lack)"
    )
    said = subprocess.run([sys.executable, "-c", tried], capture_output=True, text=True, check=True)
    assert said.stdout == f"Redis needs its client: {install_command('redis')}\n"


def test_sentinels_are_named_by_addresses_of_either_version() -> None:
    client = _client("redis+sentinel://[::1]:1,[::2],b:2,c/service/0")
    assert isinstance(client.connection_pool, SentinelConnectionPool)
    asked = client.connection_pool.sentinel_manager.sentinels
    kwargs = [each.connection_pool.connection_kwargs for each in asked]
    places = [(each["host"], each["port"]) for each in kwargs]
    assert places == [("::1", 1), ("::2", 26379), ("b", 2), ("c", 26379)]
