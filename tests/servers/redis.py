"""A real Redis or Valkey on a free loopback port, alone or as a cluster."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tests.waiting import attempts, wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PROGRAMS = ("redis-server", "valkey-server")
START_SECS = 20
STOP_SECS = 10
NODES = 3
SLOTS = 16_384


class ServerUnavailableError(Exception):
    """This machine has no such server; the message says how to get one."""


def program() -> str:
    """The path of the server.

    Raises:
        ServerUnavailableError: There is none.
    """
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        raise ServerUnavailableError("no redis-server; apt-get install redis-server")
    return found


class RedisServer:
    """One server with its own folder, its append-only file on; started again it has what it had.

    Args:
        folder: Where its files go.
        options: Further ones, as on its command line.
    """

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder = folder
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        """The number of its process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start it, and wait until it has read what it holds."""
        assert self._process is None
        self._folder.mkdir(parents=True, exist_ok=True)
        self._process = subprocess.Popen(
            [program(), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._folder),
             "--save", "", "--appendonly", "yes", "--appendfsync", "everysec",
             "--maxmemory-policy", "noeviction", "--logfile", str(self._folder / "log"),
             *self._options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        with self.client() as client:
            for _ in attempts(START_SECS):
                with suppress(redis.RedisError):
                    client.ping()
                    return
        raise AssertionError((self._folder / "log").read_text())

    def client(self, timeout_secs: float = 5.0) -> redis.Redis:
        """A client that does not try again."""
        return redis.Redis(port=self.port, socket_timeout=timeout_secs, retry=Retry(NoBackoff(), 0))

    def kill(self) -> None:
        """Kill it, as ``kill -9`` does; nothing where it does not run."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(STOP_SECS)
            self._process = None

    def pause(self) -> None:
        """Let it answer nothing, with its connections open, until ``go_on``."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it answer again."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def stand_still(self, secs: float) -> None:
        """Let it answer nothing for a time."""
        self.pause()
        time.sleep(secs)
        self.go_on()

    def be_full(self, secs: float) -> None:
        """Let it take nothing for a time."""
        with self.client() as client:
            client.config_set("maxmemory", "1mb")
            time.sleep(secs)
            client.config_set("maxmemory", "0")

    def be_away(self, secs: float) -> None:
        """Kill it, and start it again after a time."""
        self.kill()
        time.sleep(secs)
        self.start()


@contextmanager
def redis_server(*options: str) -> Iterator[RedisServer]:
    """A server for one test.

    Raises:
        ServerUnavailableError: There is none on this machine.
    """
    program()
    with (
        tempfile.TemporaryDirectory(prefix="redis-") as folder,
        RedisServer(Path(folder), *options) as server,
    ):
        yield server


@contextmanager
def redis_cluster() -> Iterator[list[RedisServer]]:
    """Three servers that share the slots of a cluster; the URL of each leads to all.

    Raises:
        ServerUnavailableError: There is none on this machine.
    """
    program()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cluster-")))
        nodes = [
            stack.enter_context(RedisServer(folder / str(number), "--cluster-enabled", "yes"))
            for number in range(NODES)
        ]
        _join(nodes)
        yield nodes


def _join(nodes: list[RedisServer]) -> None:
    for number, node in enumerate(nodes):
        first, end = number * SLOTS // NODES, (number + 1) * SLOTS // NODES
        with node.client() as client:
            call: Callable[..., object] = client.execute_command
            call("CLUSTER ADDSLOTSRANGE", first, end - 1)
            call("CLUSTER SET-CONFIG-EPOCH", number + 1)
            call("CLUSTER MEET", "127.0.0.1", nodes[0].port)
    for node in nodes:
        with node.client() as client:
            wait_until(partial(_is_joined, client))


def _is_joined(client: redis.Redis) -> bool:
    info: dict[str, str] = client.execute_command("CLUSTER INFO")
    return info["cluster_state"] == "ok" and info["cluster_known_nodes"] == str(NODES)


def free_port() -> int:
    """A port at which nothing listens, nor at the one of a cluster's bus."""
    # A node's bus listens at its port with 10,000 more.
    while True:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port: int = one.getsockname()[1]
        if port > 55_000:
            continue
        with socket.socket() as bus:
            try:
                bus.bind(("127.0.0.1", port + 10_000))
            except OSError:
                continue
        return port
