"""Programs of the tests, forked from a process that has imported what they need.

A command spends a second on imports, and the tests run many hundred of them. Each is a process of
its own all the same, with arguments, streams, environment and end of its own. So is the server of
its reading workers, whose imports cost as much again. What is killed, interrupted or watched is
started from nothing, by ``start_scrapy``, and so is all that it starts.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import traceback
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, NoReturn

from neardup import forking
from neardup.forking import ForkServer
from tests.waiting import PATIENCE_SECS, attempts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_PACKAGES = (
    "scrapy.commands",
    "scrapy.downloadermiddlewares",
    "scrapy.spidermiddlewares",
    "crawler.commands",
    "crawler.downloadermiddlewares",
    "crawler.spiders",
)
_MODULES = (
    "numpy.ma",
    "scrapy.cmdline",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.crawler",
    "scrapy.dupefilters",
    "scrapy.extensions.closespider",
    "scrapy.extensions.corestats",
    "scrapy.extensions.logcount",
    "scrapy.extensions.logstats",
    "scrapy.extensions.memdebug",
    "scrapy.extensions.memusage",
    "scrapy.extensions.throttle",
    "scrapy.logformatter",
    "scrapy.robotstxt",
    "scrapy.statscollectors",
    "crawler.addon",
    "crawler.console.crawl_run",
    "crawler.console.crawling",
    "crawler.console.page_export",
    "crawler.console.report_text",
    "crawler.console.scrapy_adapter",
    "crawler.downloader.handler",
    "crawler.downloader.resolver",
    "crawler.extensions.job_keeping",
    "crawler.feeds.feed_files",
    "crawler.lab.session",
    "crawler.lean_parts",
    "crawler.maintenance.crawl_report",
    "crawler.pipelines",
    "crawler.reading.reading_worker",
    "crawler.scheduling.dupefilter",
    "crawler.scheduling.scheduler",
    "crawler.spidermiddlewares",
    "protego",
    "requests",
)


_SERVER = ForkServer(__name__, "prepared")


def run_forked(
    program: str,
    arguments: Sequence[str],
    *,
    cwd: Path,
    stdin: str | None,
    environment: dict[str, str],
    timeout: float,
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end.

    Args:
        program: The package that ``python -m`` would run.
        arguments: Its arguments.
        cwd: The folder in which it runs.
        stdin: What it reads; None: nothing.
        environment: All of its environment; what Python reads of it as it starts has no effect.
        timeout: Seconds that it may take.

    Raises:
        subprocess.TimeoutExpired: It took too long, and was killed.
    """
    wanted = {
        "program": program,
        "arguments": arguments,
        "folder": str(cwd),
        "environment": environment,
    }
    with (
        tempfile.TemporaryFile("w+") as message,
        tempfile.TemporaryFile("w+") as given,
        tempfile.TemporaryFile("w+", newline="") as out,
        tempfile.TemporaryFile("w+", newline="") as err,
    ):
        for file, text in ((message, json.dumps(wanted)), (given, stdin or "")):
            file.write(text)
            file.seek(0)
        process = _SERVER.fork(*(file.fileno() for file in (err, message, given, out)))
        try:
            status = process.poll(timeout)
        finally:
            process.kill()
            process.poll(None)
        if status is None:
            raise subprocess.TimeoutExpired([program, *arguments], timeout)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess([program, *arguments], status, out.read(), err.read())


def prepared() -> Callable[[int, int, int], None]:
    """Import what commands need, and return what is one."""
    # Scrapy's cookies import tldextract, which asks for a list of suffixes unless this is set.
    os.environ["TLDEXTRACT_PUBLIC_SUFFIX_LIST_URLS"] = ""
    for package in _PACKAGES:
        found = import_module(package)
        for module in iter_modules(found.__path__, f"{package}."):
            import_module(module.name)
    for name in _MODULES:
        import_module(name)
    assert "twisted.internet.reactor" not in sys.modules
    return _become


def _become(message: int, *streams: int) -> None:
    """Be a program, as ``python -m`` makes a process be it."""
    with open(message, encoding="utf-8") as file:
        wanted = json.load(file)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    for signal_number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(signal_number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(wanted["folder"])
    os.environ.clear()
    os.environ.update(wanted["environment"])
    vars(forking)["start_python"] = _ForkedPython
    sys.argv = [wanted["program"], *wanted["arguments"]]
    try:
        runpy.run_module(wanted["program"], run_name="__main__", alter_sys=True)
    finally:
        # One collection, for what a command left behind; its end would make three of its own.
        gc.collect()
        gc.freeze()


class _ForkedPython:
    """A fork server that is forked off the command, with what ``ForkServer`` asks of a process.

    Args:
        words: The arguments of Python, by which a module is started.
        pass_fds: What it has of the descriptors of the command; all others are closed.
        stderr: Where its errors go.
        options: What it has by itself: an environment in which numpy has one thread.
    """

    def __init__(
        self, words: Sequence[str], *, pass_fds: Sequence[int], stderr: int, **options: object
    ) -> None:
        self._status: int | None = None
        self.pid = os.fork()
        if not self.pid:
            _serve(words[2:], pass_fds, stderr)

    def wait(self, timeout: float = PATIENCE_SECS) -> int:
        for _ in attempts(timeout):
            if self._status is None and (ended := os.waitpid(self.pid, os.WNOHANG))[0]:
                self._status = os.waitstatus_to_exitcode(ended[1])
            if self._status is not None:
                return self._status
        raise subprocess.TimeoutExpired("a forked Python", timeout)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


def _serve(arguments: Sequence[str], kept: Sequence[int], stderr: int) -> NoReturn:
    """Be a fork server, or a process that it forked, to its end."""
    status: object = 1
    try:
        os.setpgid(0, 0)
        os.dup2(stderr, 2)
        _close_all_but({2, *kept})
        sys.argv = [forking.__name__, *arguments]
        forking.main()
    except SystemExit as ended:
        status = ended.code
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status if isinstance(status, int) else 1)


def _close_all_but(kept: set[int]) -> None:
    """Lead descriptors nowhere: objects of the command that are freed later close their numbers."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in map(int, os.listdir("/proc/self/fd")):
        if number not in kept:
            with contextlib.suppress(OSError):  # the one by which they were listed
                os.fstat(number)
                os.dup2(nothing, number)
