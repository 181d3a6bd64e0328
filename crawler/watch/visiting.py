"""Run the visit of a crawl directory in a process of its own, which signals end safely."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
from contextlib import closing
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from crawler.storage import meta_names
from crawler.storage.database import meta_of, open_for_reading
from crawler.storage.directory import is_in_use
from crawler.storage.errors import JobError
from neardup.files.durable import new_file
from neardup.installing import start_python

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from crawler.watch.delivery import Receiver

LOG_NAME = "watch.log"
CONFIGURATION_NAME = "crawl-once.toml"

PATIENCE_SECS = 60.0
"""Wait this many seconds for another crawl of the directory, such as one whose watch was killed."""

FILE_ARGUMENTS = ("cookies", "rules")
"""Arguments that name files of the user, which a directory of others may remember too."""

REMEMBERED = frozenset({
    "url", "scope", "max_rate", "hours", "max_depth", "allow", "deny", "include", "exclude",
    "sitemaps", "links", "render", "screenshots", "check_fragments", *FILE_ARGUMENTS,
})  # fmt: skip
"""Arguments that a visit takes from a directory; whatever else it names may be any option."""

_PLANNED = ("url", "scope", "allow", "deny", "links")
_SLICE_SECS = 60.0
_LOOK_SECS = 0.2
_PREFIX = "crawl-once crawl: "
_TAIL_BYTES = 65_536

_OTHERS = {
    "urls": "the pages of a list of URLs; visit it with crawl-once urls FILE DIR --revisit yes",
    "replay": "the pages of an archive, which never change",
    "mirror": "a mirror; bring it up to date with crawl-once mirror DIR",
}


def remembered_arguments(folder: Path) -> dict[str, str]:
    """Return the arguments with which a directory was crawled last.

    Raises:
        JobError: There is no crawl in it, or none that can be visited.
    """
    with closing(open_for_reading(folder)) as connection:
        plan, fleet, arguments = (
            meta_of(connection.execute, name)
            for name in (meta_names.PLAN, meta_names.FLEET, meta_names.ARGUMENTS)
        )
    if plan is None:
        raise JobError(f"{folder}: crawled by a spider of your own, which you run again yourself")
    if fleet is not None:
        raise JobError(f"{folder}: belongs to a fleet, whose crawls are visited by all workers")
    spider = plan.partition(" ")[0]
    if spider != "site":
        raise JobError(f"{folder}: holds {_OTHERS.get(spider, f'a crawl of {spider}')}")
    stored = json.loads(arguments or "{}")
    found = stored if stored.get("url") else planned_arguments(plan)
    if str(found["url"]).startswith("-"):
        raise JobError(f"{folder}: remembers no URL, but {found['url']}")
    return {name: str(value) for name, value in found.items() if name in REMEMBERED}


def remembered_files(folder: Path) -> dict[str, str]:
    """Return the arguments that a directory remembers and that name files.

    Raises:
        JobError: As `remembered_arguments`.
    """
    arguments = remembered_arguments(folder)
    return {name: arguments[name] for name in FILE_ARGUMENTS if arguments.get(name)}


def planned_arguments(plan: str) -> dict[str, str]:
    """Return the arguments that a plan names: ``site -a url=https://... -a scope=host``."""
    rest, found = plan, {}
    for name in reversed(_PLANNED):
        before, word, value = rest.rpartition(f" -a {name}=")
        if word:
            rest, found[name] = before, value
    return found


class WatchOptions(NamedTuple):
    """Settings of a watch over directories, and of its visits to them.

    Attributes:
        every_secs: The interval between two visits of a directory.
        receivers: Those that take the changes.
        atom: The file of the Atom feed.
        revisit: Which known pages are asked for: yes (all) or due.
        limits: Arguments of each crawl that bound it, such as ``max_time``.
        settings: Settings of each crawl, ``NAME=VALUE``.
        configuration: The configuration file; None: that of the directory, if there is one.
        logs: Options about the logs of each crawl.
        files: The remembered files of each directory to whose use the user has agreed.
    """

    every_secs: float
    receivers: Sequence[Receiver] = ()
    atom: Path | None = None
    revisit: str = "yes"
    limits: Mapping[str, str] = {}  # nothing changes it
    settings: Sequence[str] = ()
    configuration: str | None = None
    logs: Sequence[str] = ()
    files: Mapping[Path, Mapping[str, str]] = {}  # nothing changes it


class Ended(NamedTuple):
    """The end of a visit.

    Attributes:
        has_run: Whether the crawl ran; pages that it did not reach are asked for the next time.
        problem: What went wrong; empty: nothing.
        is_killed: Whether a signal from outside ended it.
    """

    has_run: bool
    problem: str = ""
    is_killed: bool = False


class Signals:
    """Waits for signals: the first one ends a visit safely, the second one at once.

    It is a context manager, in the main thread.

    Attributes:
        stops: How many times the process was asked to stop.
    """

    def __init__(self) -> None:
        self.stops = 0
        self._is_passed_on = False
        self._child: subprocess.Popen[bytes] | None = None
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        self._reader, self._writer = os.pipe()
        for end in (self._reader, self._writer):
            os.set_blocking(end, False)
        self._wakeup = signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._stop)
        # Without a handler the end of a child wakes nothing up.
        self._before[signal.SIGCHLD] = signal.signal(signal.SIGCHLD, lambda *_: None)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        os.close(self._reader)
        os.close(self._writer)

    def _stop(self, *_: object) -> None:
        self.stops += 1
        if self.stops > 1:
            if self._child is not None:
                self._child.kill()
            raise KeyboardInterrupt
        self._pass_on()

    def _pass_on(self) -> None:
        """End the visit safely; a second signal would end it at once."""
        if self._child is not None and not self._is_passed_on:
            self._is_passed_on = True
            self._child.send_signal(signal.SIGINT)

    def wait(self, secs: float) -> None:
        """Wait for a signal, or for some seconds, but for no more than a minute.

        A machine that slept in the meantime goes on by its clock.
        """
        ready, _, _ = select.select([self._reader], [], [], max(0.0, min(secs, _SLICE_SECS)))
        if ready:
            os.read(self._reader, 4096)

    def run(self, words: Sequence[str], log: Path) -> int:
        """Run ``crawl-once`` with some words until it ends; return its exit status.

        The crawl ends itself, safely, where this process is killed.

        Args:
            words: The words of the command line.
            log: A file for all that it prints, which is replaced.
        """
        with new_file(log) as file:
            process = start_python(
                ["-m", "crawler.api.crawl_child", *words],
                stdin=subprocess.PIPE,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches it by this process alone
            )
        self._child = process
        try:
            if self.stops:  # it came while the process was made
                self._pass_on()
            while process.poll() is None:
                self.wait(_SLICE_SECS)
        finally:
            self._child = None
            assert process.stdin is not None
            process.stdin.close()
        return int(process.returncode)


def visit_words(folder: Path, arguments: Mapping[str, str], options: WatchOptions) -> list[str]:
    """Return the words of ``crawl-once`` for a visit.

    Raises:
        JobError: The directory remembers a file whose use was not agreed to.
    """
    agreed = options.files.get(folder.resolve(), {})
    for name in FILE_ARGUMENTS:
        if arguments.get(name) and arguments[name] != agreed.get(name):
            known = f"{folder}: remembers --{name} {arguments[name]}"
            raise JobError(f"{known}; start again with --remembered-files")
    given = {**arguments, **options.limits, "revisit": options.revisit}
    url = given.pop("url")
    words = ["crawl", url, str(folder.resolve())]
    words += [word for name, value in given.items() for word in ("-a", f"{name}={value}")]
    words += options.logs
    own = folder / CONFIGURATION_NAME
    configuration = options.configuration or (str(own) if own.is_file() else None)
    if configuration is not None:
        words.append(f"--config={configuration}")
    for setting in ("PROGRESS_ENABLED=False", *options.settings):
        words += ["-s", setting]
    return words


def visit(folder: Path, options: WatchOptions, signals: Signals) -> Ended:
    """Visit a crawl directory with what is remembered of its crawl."""
    try:
        words = visit_words(folder, remembered_arguments(folder), options)
    except JobError as error:
        return Ended(False, str(error))
    for _ in range(int(PATIENCE_SECS / _LOOK_SECS)):
        if signals.stops or not is_in_use(folder):
            break
        signals.wait(_LOOK_SECS)
    if signals.stops:
        return Ended(False)
    log = folder / LOG_NAME
    try:
        status = signals.run(words, log)
    except OSError as error:
        return Ended(False, f"{error.filename or folder}: {error.strerror}")
    if status == 0:
        return Ended(True)
    return Ended(status == 1 or status < 0, _problem(log, status), is_killed=status < 0)


def _problem(log: Path, status: int) -> str:
    """Return what a crawl said was wrong, its last words with our prefix."""
    with log.open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
    messages = [line.removeprefix(_PREFIX) for line in lines if line.startswith(_PREFIX)]
    if status < 0:
        return f"the crawl was ended by signal {-status}, see {log}"
    return messages[-1] if messages else f"the crawl ended with exit status {status}, see {log}"
