"""A server forks processes, says how each ended, and leaves nothing behind."""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from neardup.forking import ForkServer
from tests.waiting import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from neardup.forking import Forked

pytestmark = pytest.mark.slow

STDERR = 2
SECS = 0.5


def prepared() -> Callable[[int], int]:
    """What the server calls: processes do what a line tells them, until there is no more."""
    return work


def work(descriptor: int) -> int:
    with socket.socket(fileno=descriptor) as told, told.makefile() as lines:
        for line in lines:
            if line.startswith("limit"):
                resource.setrlimit(resource.RLIMIT_DATA, (1 << 30, 1 << 30))
            elif line.startswith("compute"):
                while time.process_time() < SECS:
                    pass
            elif line.startswith("fail"):
                raise LookupError("nothing is found")
            else:
                return int(line)
            told.send(b"done")
    return 0


@pytest.fixture
def server() -> Iterator[ForkServer]:
    server = ForkServer(__name__, "prepared")
    yield server
    server.close()


def fork(server: ForkServer, stderr: int = STDERR) -> tuple[Forked, socket.socket]:
    ours, theirs = socket.socketpair()
    with theirs:
        return server.fork(stderr, theirs.fileno()), ours


def started(server: ForkServer) -> tuple[Forked, int, socket.socket]:
    """A process, the id of its server, and the socket to it."""
    process, told = fork(server)
    of_server = process.pid
    wait_until(lambda: process.pid != of_server)
    return process, of_server, told


def used_by_children() -> float:
    """Seconds of user and system time together: how Linux divides their sum is an estimate."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def descriptors(pid: int) -> list[str]:
    return sorted(os.readlink(link) for link in Path(f"/proc/{pid}/fd").iterdir())


def test_the_id_of_a_process_is_known_once_it_does_anything(server: ForkServer) -> None:
    first, of_server, told = started(server)
    told.close()
    assert first.poll(None) == 0
    for _ in range(20):
        process, told = fork(server)
        with told:
            told.sendall(b"limit\n")
            assert told.recv(4) == b"done"
            assert process.pid != of_server
        assert process.poll(None) == 0


def test_the_status_of_each_process_is_told(server: ForkServer) -> None:
    forked = [fork(server) for _ in range(5)]
    for number, (_, told) in enumerate(forked):
        told.sendall(f"{number}\n".encode())
    assert [process.poll(None) for process, _ in forked] == list(range(5))
    for _, told in forked:
        told.close()


def test_an_error_is_written_where_the_caller_wants_it(server: ForkServer, tmp_path: Path) -> None:
    with (tmp_path / "said").open("w+") as said:
        process, told = fork(server, said.fileno())
        with told:
            told.sendall(b"fail\n")
            assert process.poll(None) == 1
        said.seek(0)
        assert said.read().splitlines()[-1] == "LookupError: nothing is found"


def test_a_process_is_killed_by_its_server(server: ForkServer) -> None:
    process, _, told = started(server)
    with told:
        assert process.poll() is None
        process.kill()
        assert process.poll(None) == process.poll() == -signal.SIGKILL
        process.kill()


def test_a_signal_of_another_is_told(server: ForkServer) -> None:
    process, _, told = started(server)
    with told:
        os.kill(process.pid, signal.SIGUSR1)
        assert process.poll(None) == -signal.SIGUSR1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are seen in /proc")
class TestServer:
    """What it holds, and when it ends."""

    def test_it_has_one_thread_no_limits_and_nothing_of_its_starter(
        self, server: ForkServer, tmp_path: Path
    ) -> None:
        with (tmp_path / "open").open("w") as file:
            os.set_inheritable(file.fileno(), True)
            first, of_server, told = started(server)
            before = descriptors(of_server)
            assert str(tmp_path / "open") not in before
        with told:
            told.sendall(b"limit\n")
            assert told.recv(4) == b"done"
            assert len(os.listdir(f"/proc/{of_server}/task")) == 1
            assert resource.prlimit(first.pid, resource.RLIMIT_DATA)[0] == 1 << 30
            usual = resource.getrlimit(resource.RLIMIT_DATA)
            assert resource.prlimit(of_server, resource.RLIMIT_DATA) == usual
            others = [fork(server) for _ in range(3)]
            for _, other in others:
                other.close()
            assert [process.poll(None) for process, _ in others] == [0, 0, 0]
            # Just after its fork it may still have held what it had passed on.
            wait_until(lambda: len(descriptors(of_server)) <= len(before))
        assert first.poll(None) == 0

    def test_what_it_forked_ends_with_it_and_another_takes_its_place(
        self, server: ForkServer
    ) -> None:
        process, of_server, told = started(server)
        os.kill(of_server, signal.SIGKILL)
        assert process.poll(None) == -signal.SIGKILL
        with told:
            assert told.recv(1) == b""
        process, other, told = started(server)
        assert other != of_server
        told.close()
        assert process.poll(None) == 0

    def test_a_process_can_be_killed_also_where_it_was_stopped(self, server: ForkServer) -> None:
        process, of_server, told = started(server)
        with told:
            os.kill(of_server, signal.SIGSTOP)
            process.kill()
            assert process.poll(0.1) is None
            process.kill(with_server=True)
            assert process.poll(None) == -signal.SIGKILL

    def test_it_is_ended_also_where_it_was_stopped(self, server: ForkServer) -> None:
        process, of_server, told = started(server)
        with told:
            os.kill(of_server, signal.SIGSTOP)
            server.close()
            assert process.poll(None) == -signal.SIGKILL
            assert not Path(f"/proc/{of_server}").exists()

    def test_what_processes_used_counts_as_used_by_children(self, server: ForkServer) -> None:
        process, told = fork(server)
        with told:
            told.sendall(b"compute\n")
            assert told.recv(4) == b"done"
        assert process.poll(None) == 0
        before = used_by_children()
        server.close()
        assert used_by_children() >= before + SECS
