"""Fork processes off one that has done their imports: each starts at once, and shares memory.

A ``ForkServer`` starts ``python -m neardup.forking`` and asks it for processes::

    starter -> server   "f", with descriptors: a life, standard error, those of the process
    process -> life     its process id, before all else that it does
    server -> life      at its end its exit status, or the signal below zero
    life -> server      end of file: kill it

Numbers have four bytes, little-endian and signed. The server ends with its starter, and what it
forked ends with the server, whatever the cause.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from select import select
from threading import Lock

from neardup.installing import start_python

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
"""Environment of a process that is one of many; one with threads could not be forked either."""

# Ctrl-C and a stop of the whole service reach all processes; the starter ends its own itself,
# after they have finished what it still wants to store.
_STARTERS_BUSINESS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

_PR_SET_PDEATHSIG = 1
_MAX_DESCRIPTORS = 8
_NUMBER_BYTES = 4
_PATIENCE_SECS = 5.0
"""Kill a server that has not ended this many seconds after it was told to."""


class Forked:
    """A process that a server was asked for, with methods as ``subprocess.Popen`` has them."""

    def __init__(self, life: socket.socket, server: subprocess.Popen[bytes]) -> None:
        self._life = life
        self._server = server
        self._pid: int | None = None
        self._status: int | None = None

    @property
    def pid(self) -> int:
        """The process id; until the process is forked, that of the server."""
        self.poll()
        return self._server.pid if self._pid is None else self._pid

    def poll(self, timeout: float | None = 0) -> int | None:
        """Return the exit status, the signal below zero, or None if the process runs that long."""
        while self._status is None:
            self._life.settimeout(timeout)
            try:
                packed = self._life.recv(_NUMBER_BYTES)
            except (BlockingIOError, TimeoutError):
                return None
            number = int.from_bytes(packed, "little", signed=True)
            if self._pid is None and number > 0:  # one killed before it told its own has a signal
                self._pid = number
                continue
            if not packed:  # the server has ended, and the process with it or before it began
                number = self._server.wait() if self._pid is None else -signal.SIGKILL
            self._status = number
            self._life.close()
        return self._status

    def kill(self, *, with_server: bool = False) -> None:
        """Have the process killed by its server, or with it: one that was stopped kills nothing."""
        if self._status is None:
            if with_server:
                self._server.kill()
            with suppress(OSError):  # the server has ended
                self._life.shutdown(socket.SHUT_WR)


class ForkServer:
    """Forks processes that do one thing, from a process that is started when it is first needed.

    Args:
        module: The module that the server imports.
        function: A function of it, called in the server, that returns what a forked process calls
            with its descriptors; its result is the exit status.
    """

    def __init__(self, module: str, function: str) -> None:
        self._words = (module, function)
        self._lock = Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        atexit.register(self.close)
        # A child that holds the connection too would keep the server beyond the starter's end.
        os.register_at_fork(after_in_child=self._leave)

    def fork(self, stderr: int, *descriptors: int) -> Forked:
        """Ask for a process, and do not wait for it.

        Args:
            stderr: Descriptor of its standard error; a server that fails writes there too.
            descriptors: What it is called with.

        Raises:
            OSError: No process, descriptor or memory is left for it.
        """
        life, theirs = socket.socketpair()
        with theirs, self._lock:
            wanted = (theirs.fileno(), stderr, *descriptors)
            try:
                if not self._ask(wanted):
                    self._start(stderr)
                    self._ask(wanted)  # where it has ended already, its status is told
            except OSError:
                life.close()
                raise
            assert self._process is not None
            return Forked(life, self._process)

    def _ask(self, descriptors: tuple[int, ...]) -> bool:
        """Return whether there is a server that gets the descriptors."""
        if self._control is not None:
            with suppress(ConnectionError):
                return socket.send_fds(self._control, [b"f"], descriptors) > 0
        return False

    def _start(self, stderr: int) -> None:
        self.close()
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = start_python(
                ["-m", __name__, str(theirs.fileno()), *self._words],
                pass_fds=[theirs.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                env=ONE_THREAD,
                # Outside the terminal's foreground group Ctrl-C reaches only the starter.
                process_group=0,
            )
        self._control = ours

    def close(self) -> None:
        """End the server and what it forked; their CPU time is that of children afterwards."""
        if self._control is None or self._process is None:
            return
        self._leave()
        try:
            self._process.wait(_PATIENCE_SECS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _leave(self) -> None:
        if self._control is not None:
            self._control.close()
            self._control = None


class _Server:
    """The process that forks, without a thread that runs Python; it closes what it passes on."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._lives: dict[int, socket.socket] = {}
        self._woken, self._wakes = socket.socketpair()
        self._wakes.setblocking(False)
        signal.set_wakeup_fd(self._wakes.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def serve(self) -> list[int] | None:
        """Fork until the starter is gone; return then, and in each process with its descriptors."""
        while True:
            readable, _, _ = select([self._control, self._woken, *self._lives.values()], [], [])
            if self._woken in readable:
                self._woken.recv(_NUMBER_BYTES)
                while self._lives and (ended := os.waitpid(-1, os.WNOHANG))[0]:
                    self._report(*ended)
            for pid in [pid for pid, life in self._lives.items() if life in readable]:
                self._kill(pid)
            if self._control in readable:
                asked, descriptors, _, _ = socket.recv_fds(self._control, 1, _MAX_DESCRIPTORS)
                if not asked:
                    break
                if not self._fork(*descriptors[:2]):
                    return descriptors[2:]
                for descriptor in descriptors[1:]:
                    os.close(descriptor)
        for pid in list(self._lives):
            self._kill(pid)
        return None

    def _fork(self, life: int, stderr: int) -> bool:
        """Fork a process, and return whether this is still the server."""
        own, server = socket.socket(fileno=life), os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            os.write(stderr, f"{error}\n".encode())
            with own:
                own.send(_packed(server) + _packed(1))
            return True
        if pid:
            self._lives[pid] = own
            return True
        _die_with(server)
        with suppress(OSError):  # the starter has gone
            own.send(_packed(os.getpid()))
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for end in (own, self._control, self._woken, self._wakes, *self._lives.values()):
            end.close()
        os.dup2(stderr, 2)
        os.close(stderr)
        return False

    def _kill(self, pid: int) -> None:
        os.kill(pid, signal.SIGKILL)
        self._report(*os.waitpid(pid, 0))

    def _report(self, pid: int, status: int) -> None:
        with self._lives.pop(pid) as life, suppress(OSError):  # the starter has gone
            life.send(_packed(os.waitstatus_to_exitcode(status)))


def _packed(number: int) -> bytes:
    return number.to_bytes(_NUMBER_BYTES, "little", signed=True)


def _die_with(parent_pid: int) -> None:
    """End this process at once when its parent dies, on Linux; elsewhere when it next reads."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent_pid:  # it died before the line above
        os._exit(1)


def main() -> None:
    """Be the server, or a process that it forked."""
    for number in _STARTERS_BUSINESS:
        signal.signal(number, signal.SIG_IGN)
    control = socket.socket(fileno=int(sys.argv[1]))
    act = getattr(import_module(sys.argv[2]), sys.argv[3])()
    # A collection in a process would write to all pages of memory that it shares.
    gc.collect()
    gc.freeze()
    os.dup2(1, 2)  # what was given belongs to the first process
    descriptors = _Server(control).serve()
    if descriptors is None:
        os._exit(0)
    sys.exit(act(*descriptors))


if __name__ == "__main__":
    main()
