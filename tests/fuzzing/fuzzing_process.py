"""Run one target until its time is over: ``python -m tests.fuzzing.fuzzing_process JSON``.

An input that is wrong is written to a folder, and the next one is read. What this process cannot
tell, since it hangs or has crashed, the watching process tells by the blackboard.
"""

from __future__ import annotations

import faulthandler
import json
import logging
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, NoReturn

from tests.fuzzing.blackboard import Blackboard
from tests.fuzzing.mutating import mutated
from tests.fuzzing.target import Target, targets_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.fuzzing.target import Read

try:
    import atheris
except ImportError:  # an optional tool
    atheris = None

HAS_ATHERIS = atheris is not None
"""Whether inputs are changed by what they reach, and not blindly."""

GREW = 75
"""Exit status of a process whose memory grew too much, by one input or by following branches."""

MAX_GROWTH_MB = 500
"""Peak of the memory of a process above that before an input, in MB; more is told."""

_LIMIT_MB = 4_096
"""A process that would take more gets a MemoryError."""

PROJECT = Path(__file__).parents[2]
_INSTRUMENTED = [
    *("crawler.reading", "crawler.downloading", "crawler.urls", "crawler.mirror.documents"),
    *("crawler.warc", "crawler.url_rules.rule_files", "crawler.url_rules.learning"),
    *("crawler.console.profile", "crawler.lab.labels", "crawler.lab.app.lab_server"),
    *("crawler.frontier.pauses", "crawler.frontier.request_records", "crawler.maintenance.verify"),
    *("crawler.spiders.file_pages", "neardup.batch", "neardup.files", "neardup.bloom"),
    *("warcio", "protego"),
]
"""Readers whose branches are seen."""

_QUIET = (
    *(
        "-verbosity=0",
        "-timeout=1000000",
        "-rss_limit_mb=0",
        "-malloc_limit_mb=0",
        "-handle_segv=0",
    ),
    *("-handle_bus=0", "-handle_abrt=0", "-handle_ill=0", "-handle_fpe=0", "-handle_int=0"),
    *("-handle_term=0", "-handle_usr1=0", "-handle_usr2=0", "-len_control=0"),
)


@dataclass(frozen=True, slots=True)
class Task:
    """The work of one process.

    Attributes:
        subject: The module of the target.
        name: The name of the target.
        secs: Time after which the process ends.
        seed: Seed of the changes.
        work: Folder of the blackboard, the corpus and the stack of a process that hangs.
        findings: Folder into which wrong inputs are written.
    """

    subject: str
    name: str
    secs: float
    seed: int
    work: str
    findings: str

    @property
    def blackboard(self) -> Path:
        return Path(self.work, "blackboard")

    @property
    def stack(self) -> Path:
        """The file with the stack of a process that was told to write it, or that crashed."""
        return Path(self.work, "stack.txt")

    def to_argument(self) -> str:
        return json.dumps(asdict(self))

    def write_finding(self, what: str, data: bytes, words: str) -> None:
        """Write an input, and a text about it, whose name comes last."""
        number = len(list(Path(self.findings).glob(f"{self.name}-*.txt"))) + 1
        place = Path(self.findings, f"{self.name}-{number}")
        Path(f"{place}.input").write_bytes(data)
        text = f"{self.name} {what}: {place}.input, {len(data):,} bytes\n{words}"
        new = Path(f"{place}.new")
        new.write_text(text, encoding="utf-8", errors="backslashreplace")
        new.rename(f"{place}.txt")


def peak_mb() -> float:
    """Return the peak of the memory of this process.

    What ``getrusage`` tells of a process that Python started begins with the peak of its parent.
    """
    with Path("/proc/self/status").open(encoding="ascii", errors="replace") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024


class _Fuzzing:
    """Reads inputs, and tells those that are wrong."""

    def __init__(self, task: Task, target: Target, read: Read, board: Blackboard) -> None:
        self._task, self._target, self._read, self._board = task, target, read, board
        self._until, self._parent = time.monotonic() + task.secs, os.getppid()
        self._met: set[object] = set()
        self._first_mb: float | None = None

    def one(self, data: bytes) -> None:
        """Read one input."""
        if time.monotonic() > self._until or os.getppid() != self._parent:
            self._end(0)
        data = data[: self._target.max_bytes]
        before_mb = peak_mb()
        self._board.begin(data)
        try:
            self._read(data)
        except self._target.refusals:
            pass
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a panic of a library in Rust is no Exception
            self._note(error, data)
        self._board.end()
        if self._first_mb is None:  # what the first input loads is no growth
            self._first_mb = peak_mb()
        elif peak_mb() - before_mb > MAX_GROWTH_MB:
            words = f"memory went from {before_mb:,.0f} to {peak_mb():,.0f} MB\n"
            self._task.write_finding("grows", data, words)
            self._end(GREW)
        elif peak_mb() - self._first_mb > 2 * MAX_GROWTH_MB:
            self._end(GREW)  # what follows the branches has grown: the same inputs take no more

    def _note(self, error: BaseException, data: bytes) -> None:
        """Tell an error that was not met before: of another type, or raised at another place."""
        frames = traceback.extract_tb(error.__traceback__)
        own = [one for one in frames if Path(one.filename).is_relative_to(PROJECT / "crawler")]
        place = (own or frames)[-1]
        sign = (type(error), place.filename, place.lineno)
        if sign not in self._met:
            self._met.add(sign)
            self._task.write_finding("raises", data, "".join(traceback.format_exception(error)))

    def _end(self, status: int) -> NoReturn:
        # libFuzzer takes an orderly end of the process for a crash.
        sys.stdout.flush()
        os._exit(status)


def main(argument: str) -> NoReturn:
    """Run the task that an argument describes."""
    task = Task(**json.loads(argument))
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    stack = task.stack.open("w")  # open as long as the process
    faulthandler.enable(stack)
    faulthandler.register(signal.SIGUSR1, stack)
    with _instrumented():
        targets = targets_of(task.subject)
    target = next(one for one in targets if one.name == task.name)
    resource.setrlimit(resource.RLIMIT_DATA, (_LIMIT_MB << 20, _LIMIT_MB << 20))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    seeds = [seed[: target.max_bytes] for seed in target.seeds()]
    folder = Path(tempfile.mkdtemp(dir=task.work))
    with _instrumented():
        read = target.begin(folder)
    with Blackboard(task.blackboard, target.max_bytes) as board:
        fuzzing = _Fuzzing(task, target, read, board)
        for seed in seeds:
            fuzzing.one(seed)
        if atheris is not None:
            _fuzz_by_coverage(fuzzing, task, target, seeds)
        random = Random(task.seed)
        while True:
            fuzzing.one(mutated(seeds, random, target.max_bytes))


@contextmanager
def _instrumented() -> Iterator[None]:
    """Let atheris see which branches are taken of what is imported within."""
    if atheris is None:
        yield
    else:
        # Of a module's name atheris takes the first word: the rest is left out by name.
        with atheris.instrument_imports(include=_INSTRUMENTED, exclude=_not_instrumented()):
            yield


def _not_instrumented() -> list[str]:
    """Name the modules of the project that are no readers."""
    paths = (path for room in ("crawler", "neardup") for path in (PROJECT / room).rglob("*.py"))
    names = (".".join(path.relative_to(PROJECT).with_suffix("").parts) for path in paths)
    readers = tuple(f"{name}." for name in _INSTRUMENTED)
    return [
        name
        for name in (each.removesuffix(".__init__") for each in names)
        if not f"{name}.".startswith(readers)
    ]


def _fuzz_by_coverage(
    fuzzing: _Fuzzing, task: Task, target: Target, seeds: Sequence[bytes]
) -> NoReturn:
    corpus, given = Path(task.work, "corpus"), Path(task.work, "seeds")
    for folder in (corpus, given):
        folder.mkdir(exist_ok=True)
    for number, seed in enumerate(seeds):
        (given / str(number)).write_bytes(seed)
    bounds = f"-seed={task.seed}", f"-max_len={target.max_bytes}", f"-artifact_prefix={task.work}/"
    tool: Any = atheris
    tool.Setup([sys.argv[0], *_QUIET, *bounds, str(corpus), str(given)], fuzzing.one)
    tool.Fuzz()
    os._exit(1)  # it never returns


if __name__ == "__main__":
    main(sys.argv[1])
