"""Watch the processes of one target: tell which input hangs or crashes them, and start others."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from tests.fuzzing.blackboard import Blackboard
from tests.fuzzing.fuzzing_process import GREW, PROJECT, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.fuzzing.target import Target

_LOOK_SECS = 0.5
_PROGRESS_SECS = 60.0
_MAX_PROCESSES = 20
"""Start at most this many processes for one target: the input that ends one is met again."""

_STACK_SECS = 2.0
_OVERTIME_SECS = 60.0
_MIN_SEED, _SEEDS = 1, 1 << 31


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a target.

    Attributes:
        name: The target.
        inputs: Number of inputs that were read.
        secs: Time that it took.
        findings: Number of inputs that were written.
        was_stopped: Whether a person ended it.
    """

    name: str
    inputs: int
    secs: float
    findings: int
    was_stopped: bool = False


class Watch:
    """Runs one target.

    Args:
        subject: The module of the target.
        target: The target.
        findings: Folder into which wrong inputs are written.
        say: Function that prints a line.
    """

    def __init__(
        self, subject: str, target: Target, findings: Path, say: Callable[[str], object]
    ) -> None:
        self._subject, self._target, self._findings, self._say = subject, target, findings, say
        self._told = set(findings.glob(f"{target.name}-*.txt"))
        self._old = len(self._told)

    def run(self, secs: float, seed: int) -> Outcome:
        """Fuzz for some seconds, with as many processes one after the other as it takes."""
        inputs, used_secs, was_stopped = 0, 0.0, False
        with tempfile.TemporaryDirectory() as work:
            for number in range(_MAX_PROCESSES):
                left = secs - used_secs
                if left <= 0 or was_stopped:
                    break
                own_seed = _MIN_SEED + (seed + number) % _SEEDS
                names = (self._subject, self._target.name, left, own_seed)
                task = Task(*names, work, str(self._findings))
                task.blackboard.unlink(missing_ok=True)
                with Blackboard(task.blackboard, self._target.max_bytes) as board:
                    process = _Process(task, self._target, board)
                    try:
                        for running_secs in process.follow():
                            self._tell(inputs + board.present().inputs, used_secs + running_secs)
                    except KeyboardInterrupt:
                        was_stopped = True
                    finally:
                        process.end()
                    inputs += board.present().inputs
                    used_secs += process.running_secs
                self._tell_findings()
                if process.is_through:
                    break
        found = len(self._told) - self._old
        return Outcome(self._target.name, inputs, used_secs, found, was_stopped)

    def _tell(self, inputs: int, secs: float) -> None:
        """Print a line about the progress."""
        self._say(f"{self._target.name}: {inputs:,} inputs, {inputs / secs:,.0f} a second")
        self._tell_findings()

    def _tell_findings(self) -> None:
        for path in sorted(set(self._findings.glob(f"{self._target.name}-*.txt")) - self._told):
            self._told.add(path)
            self._say(path.read_text(encoding="utf-8"))


class _Process:
    """One fuzzing process."""

    def __init__(self, task: Task, target: Target, board: Blackboard) -> None:
        self._task, self._target, self._board = task, target, board
        self._log = Path(task.work, "log.txt")
        with self._log.open("ab") as log:
            # A group of its own: Ctrl-C is for the watching process, which counts before it ends.
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzzing.fuzzing_process", task.to_argument()],
                cwd=PROJECT,
                stdout=log,
                stderr=log,
                process_group=0,
            )
        self._seen = psutil.Process(self._process.pid)
        self._input, self._used_secs = 0, 0.0
        self._started: float | None = None

    @property
    def running_secs(self) -> float:
        """Seconds since the first input; what is imported before that takes its time too."""
        return 0.0 if self._started is None else time.monotonic() - self._started

    @property
    def is_through(self) -> bool:
        """Whether the process ended when its time was over."""
        return self._process.returncode == 0

    def follow(self) -> Iterator[float]:
        """Wait until the process ends, or end it where an input hangs; yield once a minute."""
        next_line = _PROGRESS_SECS
        while self._process.poll() is None:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LOOK_SECS)
            if self._started is None and self._board.present().inputs:
                self._started = time.monotonic()
            if self.running_secs > next_line:
                yield self.running_secs
                next_line += _PROGRESS_SECS
            if self._hangs():
                self._finish("hangs", self._stack())
                return
            if self.running_secs > self._task.secs + _OVERTIME_SECS:
                self._finish("does not end", self._stack())
                return
        if self._process.returncode not in {0, GREW}:
            self._finish(f"crashes ({self._process.returncode})", self._last_words())

    def _hangs(self) -> bool:
        """Return whether the present input has used more time than one may; others wait too."""
        present = self._board.present()
        try:
            times = self._seen.cpu_times()
        except psutil.Error:
            return False
        used_secs = times.user + times.system
        if present.inputs != self._input or not present.since:
            self._input, self._used_secs = present.inputs, used_secs
        waited_secs = time.monotonic() - present.since if present.since else 0.0
        is_busy = used_secs - self._used_secs > self._target.max_secs
        return is_busy or waited_secs > 6 * self._target.max_secs

    def _stack(self) -> str:
        """Return where the process is, if it answers, which one in a library need not."""
        self._process.send_signal(signal.SIGUSR1)
        until = time.monotonic() + _STACK_SECS
        while not self._task.stack.stat().st_size and time.monotonic() < until:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_LOOK_SECS / 10)
        return self._last_words()

    def _last_words(self) -> str:
        log = self._log.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        said = [line for line in log if not line.startswith(("INFO: ", "WARNING: "))]
        return self._task.stack.read_text(encoding="utf-8", errors="replace") + "".join(said[-40:])

    def _finish(self, what: str, words: str) -> None:
        self.end()
        self._task.write_finding(what, self._board.present().data, words)

    def end(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()
        self._process.wait()
