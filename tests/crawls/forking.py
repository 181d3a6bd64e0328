"""The ``scrapy`` command, forked from a process that has imported what it needs.

A command spends a second on imports, and the tests run many hundred of them. Each is a process of
its own all the same, with arguments, streams, environment and end of its own. What is killed,
interrupted or watched is started from nothing, by ``start_scrapy``.
"""

from __future__ import annotations

import array
import atexit
import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from importlib import import_module
from pkgutil import iter_modules
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_MAX_CHARACTERS = 1 << 20
_STREAMS = 3
_EXTENSIONS = (
    "closespider",
    "corestats",
    "logcount",
    "logstats",
    "memdebug",
    "memusage",
    "throttle",
)
_PACKAGES = (
    "scrapy.commands",
    "scrapy.spidermiddlewares",
    "crawler.commands",
    "crawler.spiders",
)
_MODULES = (
    "scrapy.cmdline",
    "scrapy.core.downloader.handlers.http11",
    "scrapy.crawler",
    "scrapy.downloadermiddlewares.httpcache",
    "scrapy.downloadermiddlewares.httpproxy",
    "scrapy.downloadermiddlewares.offsite",
    "scrapy.downloadermiddlewares.redirect",
    "scrapy.downloadermiddlewares.useragent",
    "scrapy.dupefilters",
    *(f"scrapy.extensions.{name}" for name in _EXTENSIONS),
    "scrapy.logformatter",
    "scrapy.robotstxt",
    "scrapy.statscollectors",
    "crawler.addon",
    "crawler.console.crawl_run",
    "crawler.downloadermiddlewares.robots",
    "crawler.downloadhandler",
    "crawler.dupefilter",
    "crawler.lean_parts",
    "crawler.resolver",
    "crawler.spidermiddlewares",
    "crawler.spiders.page_spider",
    "crawler.console.page_export",
    "crawler.console.report_text",
    "crawler.extensions",
    "crawler.feeds.feed_files",
    "crawler.lab.crawl_sources",
    "crawler.maintenance.crawl_report",
    "crawler.pipelines",
    "crawler.scheduler",
    "protego",
    "requests",
)


class Forks:
    """Commands one after the other; the process that they are forked from ends with this one.

    Args:
        folder: Where they run.
    """

    def __init__(self, folder: Path) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, str(theirs.fileno())],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )
        atexit.register(self.close)

    def run(
        self, arguments: tuple[str, ...], stdin: str | None, timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end.

        Raises:
            subprocess.TimeoutExpired: It took too long, and was killed.
        """
        with (
            tempfile.TemporaryFile("w+") as given,
            tempfile.TemporaryFile("w+", newline="") as out,
            tempfile.TemporaryFile("w+", newline="") as err,
        ):
            given.write(stdin or "")
            given.seek(0)
            self._send({"arguments": arguments, "environment": dict(os.environ)}, (given, out, err))
            pid = int(self._channel.recv(_MAX_CHARACTERS))
            self._channel.settimeout(timeout)
            try:
                status = int(self._channel.recv(_MAX_CHARACTERS))
            except BaseException as error:
                # Its end is not to be taken for that of the next one.
                os.kill(pid, signal.SIGKILL)
                self._channel.settimeout(None)
                self._channel.recv(_MAX_CHARACTERS)
                if isinstance(error, TimeoutError):
                    raise subprocess.TimeoutExpired(["scrapy", *arguments], timeout) from None
                raise
            self._channel.settimeout(None)
            out.seek(0)
            err.seek(0)
            return subprocess.CompletedProcess(
                ["scrapy", *arguments], status, out.read(), err.read()
            )

    def _send(self, wanted: dict[str, Any], streams: tuple[IO[str], ...]) -> None:
        numbers = array.array("i", [stream.fileno() for stream in streams])
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)
        with tempfile.TemporaryFile("w+") as message:
            json.dump(wanted, message)
            message.flush()
            message.seek(0)
            numbers.append(message.fileno())
            self._channel.sendmsg([b"run"], [rights])

    def close(self) -> None:
        """End the process."""
        self._channel.close()
        self._process.wait()


def serve(channel: socket.socket) -> None:
    """Fork a command whenever one is asked for; returns in the parent only, at the end."""
    for package in _PACKAGES:
        found = import_module(package)
        for module in iter_modules(found.__path__, f"{package}."):
            import_module(module.name)
    for name in _MODULES:
        import_module(name)
    import_module("neardup").prepare()
    assert "twisted.internet.reactor" not in sys.modules
    # Whoever imports it asks for a list of suffixes, as the add-on of a command has it.
    assert "tldextract" not in sys.modules
    # A collection in a command would write to all pages of memory that it has from here.
    gc.collect()
    gc.freeze()
    while True:
        message, numbers, _, _ = socket.recv_fds(channel, _MAX_CHARACTERS, _STREAMS + 1)
        if not message:
            return
        *streams, written = numbers
        with open(written, encoding="utf-8") as file:
            wanted = json.load(file)
        pid = os.fork()
        if not pid:
            channel.close()
            _become(wanted, streams)
        for number in streams:
            os.close(number)
        channel.send(str(pid).encode())
        channel.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())


def _become(wanted: dict[str, Any], streams: list[int]) -> None:
    """Be the command, as ``python -m scrapy`` is it."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(wanted["environment"])
    sys.argv = ["scrapy", *wanted["arguments"]]
    try:
        runpy.run_module("scrapy", run_name="__main__", alter_sys=True)
    finally:
        # One collection, for what a command left behind; its end would make three of its own.
        gc.collect()
        gc.freeze()
    sys.exit()


if __name__ == "__main__":
    with suppress(KeyboardInterrupt), socket.socket(fileno=int(sys.argv[1])) as own:
        serve(own)
