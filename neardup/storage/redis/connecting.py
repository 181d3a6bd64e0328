"""Connect to a Redis by its URL, and check that it loses nothing."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from redis.asyncio import Redis, RedisCluster
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import Sentinel, SentinelConnectionPool
from redis.backoff import NoBackoff
from redis.exceptions import RedisClusterException, RedisError

from neardup.errors import ServerError
from neardup.storage.redis.server import Server, close_client

ANSWER_SECS = 10.0
"""The time for one answer, in seconds; a server that takes longer is waited for."""

SENTINEL = "redis+sentinel://"
"""The beginning of a URL that names sentinels and their service."""

_SENTINEL_PORT = 26_379  # of a sentinel whose URL names none

PASSWORD, PASSWORD_FILE = "REDIS_PASSWORD", "REDIS_PASSWORD_FILE"
"""Variables of the environment with the password, and with the name of a file that holds it.

Arguments of a command are shown by the system to every user of a machine, these are not.
"""

_OLDEST = 7


async def connect(url: str, prefix: str = "") -> Server:
    """Connect to a server, or to the cluster that it belongs to.

    Args:
        url: ``redis://[[user]:password@]host[:port][/database]``, or ``rediss://`` for TLS, or
            ``redis+sentinel://[[user]:password@]host[:port],.../service[/database]``. A password
            that it does not name is taken from the environment (``PASSWORD``).
        prefix: The prefix of all keys of the user.

    Raises:
        ServerError: The URL is none, no server answers, the password is wrong or its file cannot be
            read, the server is older than Redis 7 or would throw keys away when its memory is full.
    """
    one = _client(url)
    name = _name(one)
    try:
        about = await _ask(one, name)
    finally:
        await close_client(one)
    if not about.get("cluster_enabled"):
        return Server(_client(url), prefix=prefix, name=name, warnings=_checked(about, name))
    cluster = _cluster(url, name)
    server = Server(cluster, prefix=prefix, name=name)
    try:
        server.warnings = await _check_nodes(cluster, name)
    except BaseException:
        await server.close()
        raise
    return server


def place_of(url: str) -> str:
    """Return how messages name the server of a URL: without user and password.

    Raises:
        ServerError: It is none; the message contains no part of it.
    """
    return _name(_client(url))


def _client(url: str) -> Redis:
    try:
        return _of_sentinel(url) if url.startswith(SENTINEL) else Redis.from_url(url, **_options())
    except (ValueError, TypeError):  # their messages may have a part of the password
        raise ServerError(
            "no URL of a Redis; redis://HOST:PORT/0 expected, or redis://USER:PASSWORD@HOST:PORT/0 "
            "with what is neither letter nor digit in a password written as %XX"
        ) from None


def _of_sentinel(url: str) -> Redis:
    """Return a client that asks sentinels which server is the master, before each connection."""
    who, _, where = url.removeprefix(SENTINEL).rpartition("@")
    hosts, _, path = where.partition("/")
    service, _, database = path.partition("/")
    if not hosts or not service:
        raise ValueError("no sentinels or no service")
    sentinels = []
    for place in hosts.split(","):
        parts = urlsplit(f"//{place}")
        if not parts.hostname:
            raise ValueError("a sentinel without a host")
        sentinels.append((parts.hostname, parts.port or _SENTINEL_PORT))
    user, _, password = map(unquote, who.partition(":"))
    own = {name: said for name, said in (("username", user), ("password", password)) if said}
    options = {**_options(), **own, "db": int(database or 0)}
    once = {"socket_timeout": ANSWER_SECS, "retry": Retry(NoBackoff(), 0)}
    asking = Sentinel(sentinels, sentinel_kwargs=once)
    client: Redis = asking.master_for(service, **options)
    return client


def _options() -> dict[str, Any]:
    """Return the options of a client; what its URL says counts before them."""
    once = {"socket_timeout": ANSWER_SECS, "retry": Retry(NoBackoff(), 0)}
    password = _password()
    return once if password is None else once | {"password": password}


def _password() -> str | None:
    file = os.environ.get(PASSWORD_FILE)
    if not file:
        return os.environ.get(PASSWORD) or None
    try:
        return Path(file).read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise ServerError(f"{PASSWORD_FILE}: {file} cannot be read: {reason}") from error


def _cluster(url: str, name: str) -> RedisCluster:
    try:
        return RedisCluster.from_url(url, **_options())
    except (ValueError, TypeError, RedisClusterException) as error:
        raise ServerError(f"Redis cluster at {name}: {error}") from error


def _name(client: Redis) -> str:
    about = client.connection_pool.connection_kwargs
    if "path" in about:
        return str(about["path"])
    if isinstance(client.connection_pool, SentinelConnectionPool):
        return f"{client.connection_pool.service_name} of its sentinels"
    host = str(about.get("host", "localhost"))
    return f"{f'[{host}]' if ':' in host else host}:{about.get('port', 6379)}"


async def _ask(client: Redis, name: str) -> Mapping[str, Any]:
    """Ask once, since a server that was never there is a mistake rather than an outage."""
    try:
        about: Mapping[str, Any] = await client.info()
    except (RedisError, OSError) as error:
        raise ServerError(f"Redis at {name}: {_refusal(error)}") from error
    return about


def _refusal(error: Exception) -> str:
    text = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    lowered = text.lower()
    if "auth" in lowered or "password" in lowered:
        return (
            f"user or password refused ({text}); set {PASSWORD}, or write them as "
            "redis://USER:PASSWORD@HOST:PORT"
        )
    if "noperm" in lowered or "permission" in lowered:
        return f"{text}; allow this user +@all -@dangerous +info on its keys"
    return f"{text}; is it running, and is the address right?"


async def _check_nodes(cluster: RedisCluster, name: str) -> tuple[str, ...]:
    warnings: dict[str, None] = {}
    try:
        await cluster.initialize()
        for node in cluster.get_primaries():
            about = await cluster.info(target_nodes=node)
            warnings.update(dict.fromkeys(_checked(about, f"{node.host}:{node.port}")))
    except (RedisError, RedisClusterException, OSError) as error:
        raise ServerError(f"Redis cluster at {name}: {_refusal(error)}") from error
    return tuple(warnings)


def _checked(about: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return the warnings for the user.

    Raises:
        ServerError: This server would lose what it was given.
    """
    version = str(about.get("redis_version", "0"))
    if int(version.partition(".")[0]) < _OLDEST:
        raise ServerError(f"Redis at {name}: version {_OLDEST} or later expected, got {version}")
    policy = about.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        raise ServerError(
            f"Redis at {name}: maxmemory-policy is {policy}, which throws keys away when memory is "
            "full; redis-cli CONFIG SET maxmemory-policy noeviction"
        )
    if about.get("aof_enabled"):
        return ()
    return (
        f"Redis at {name} has no append-only file, so what it holds is lost when it is killed; "
        "redis-cli CONFIG SET appendonly yes",
    )
