"""The ``scrapy`` command, forked from a process that has imported what it needs.

A command spends a second on imports, and the tests run many hundred of them. Each is a process of
its own all the same, with arguments, streams, environment and end of its own. What is killed,
interrupted or watched is started from nothing, by ``start_scrapy``.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from neardup.forking import ForkServer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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


_SERVER = ForkServer(__name__, "prepared")


def run_forked(
    folder: Path, arguments: tuple[str, ...], stdin: str | None, timeout: float
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder to its end.

    Raises:
        subprocess.TimeoutExpired: It took too long, and was killed.
    """
    wanted = {"folder": str(folder), "arguments": arguments, "environment": dict(os.environ)}
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
            raise subprocess.TimeoutExpired(["scrapy", *arguments], timeout)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(["scrapy", *arguments], status, out.read(), err.read())


def prepared() -> Callable[[int, int, int], None]:
    """Import what commands need, and return what is one."""
    for package in _PACKAGES:
        found = import_module(package)
        for module in iter_modules(found.__path__, f"{package}."):
            import_module(module.name)
    for name in _MODULES:
        import_module(name)
    assert "twisted.internet.reactor" not in sys.modules
    # Whoever imports it asks for a list of suffixes, as the add-on of a command has it.
    assert "tldextract" not in sys.modules
    return _become


def _become(message: int, *streams: int) -> None:
    """Be the command, as ``python -m scrapy`` is it."""
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
    sys.argv = ["scrapy", *wanted["arguments"]]
    try:
        runpy.run_module("scrapy", run_name="__main__", alter_sys=True)
    finally:
        # One collection, for what a command left behind; its end would make three of its own.
        gc.collect()
        gc.freeze()
