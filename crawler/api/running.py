"""Run a crawl in a process of its own, and yield its pages as they are stored."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import subprocess
import tempfile
import weakref
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from crawler.api.crawl_directory import Crawl
from crawler.spiders.argument_table import SITE
from crawler.spiders.arguments import check_site
from crawler.storage.errors import JobError
from crawler.suggestions import did_you_mean
from neardup.installing import start_python

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from crawler.pages.items import Page

_LOOK_SECS = 0.1
"""Look for new pages after this many seconds without one."""

_PATIENCE_SECS = 60.0
"""A crawl that is to stop finishes its pages for this many seconds before it is killed."""

_KEPT = "kept"


class CrawlError(Exception):
    """A crawl that could not run, or in which a URL to start from gave no page."""


async def crawl(
    url: str,
    *,
    directory: str | Path | None = None,
    kept_only: bool = True,
    settings: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> AsyncIterator[Page]:
    """Crawl a site, and yield its pages as they are stored.

    The crawl runs in a process of its own. To leave the loop stops it as Ctrl-C does; with a
    directory, the same call goes on later and yields the pages that are new since then. How fast
    pages are taken does not matter to the crawl, and bounds no memory: they are read from the
    directory.

    Args:
        url: Where to start; several are separated by commas.
        directory: The crawl directory; without one it is temporary and is removed at the end.
        kept_only: Yield only pages that are kept, so each page once; otherwise every capture.
        settings: Settings of the project or of Scrapy, such as ``{"DOWNLOAD_DELAY": 1}``.
        arguments: Options of ``crawl-once crawl``: ``scope="host"``, ``max_pages=100``.

    Raises:
        TypeError: There is no such option.
        ValueError: The value of an option is wrong.
        CrawlError: The crawl ended with an error, after what it stored was yielded.
    """
    running = _Running(url, directory, kept_only=kept_only, settings=settings, arguments=arguments)
    try:
        while True:
            pages = await asyncio.to_thread(running.next_pages)
            if pages is None:
                break
            for page in pages:
                yield page
            if not pages:
                await asyncio.sleep(_LOOK_SECS)
    finally:
        await asyncio.shield(asyncio.to_thread(running.close))


def crawl_sync(
    url: str,
    *,
    directory: str | Path | None = None,
    kept_only: bool = True,
    settings: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> Iterator[Page]:
    """Crawl a site as ``crawl`` does, without an event loop.

    It may be used where a loop runs, as in a notebook.
    """
    running = _Running(url, directory, kept_only=kept_only, settings=settings, arguments=arguments)
    return _pages(running)


def _pages(running: _Running) -> Iterator[Page]:
    try:
        while (pages := running.next_pages()) is not None:
            yield from pages
            if not pages:
                running.wait(_LOOK_SECS)
    finally:
        running.close()


class _Running:
    """The process of a crawl, and how far its pages were read."""

    def __init__(
        self,
        url: str,
        directory: str | Path | None,
        *,
        kept_only: bool,
        settings: Mapping[str, Any] | None,
        arguments: Mapping[str, Any],
    ) -> None:
        written = _written(arguments)
        _check(url, written)
        self._temporary = tempfile.mkdtemp(prefix="crawl-once-") if directory is None else None
        self._folder = Path(self._temporary or str(directory))
        self._verdict = _KEPT if kept_only else None
        self._last = self._swept = self._find_last()
        self._yielded = bytearray()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # closed with the rest
        options = [word for name, value in written.items() for word in ("-a", f"{name}={value}")]
        given = {"PROGRESS_ENABLED": False, **(settings or {})}
        chosen = [
            word
            for name, value in given.items()
            if value is not None
            for word in ("-s", f"{name}={_one_line(value)}")
        ]
        program = ["-m", "crawler.api.crawl_child", "crawl"]
        self._process = start_python(
            [*program, url, str(self._folder), *options, *chosen],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._errors,
            start_new_session=True,  # Ctrl-C reaches it by this process alone
        )
        # An event loop that ends may close no generator that is left: the crawl ends with this one.
        self._end = weakref.finalize(self, _end, self._process, self._errors, self._temporary)

    def next_pages(self) -> list[Page] | None:
        """Return the pages that were stored since the last call; None when there are no more.

        Raises:
            CrawlError: The crawl has ended with an error.
        """
        has_ended = self._process.poll() is not None
        if pages := self._read():
            return pages
        if not has_ended:
            return []
        if pages := self._read_kept_after_all():
            return pages
        self._check_end()
        return None

    def wait(self, secs: float) -> None:
        """Wait until the crawl has ended, or for some seconds."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(secs)

    def close(self) -> None:
        """Wait for the end of the crawl, and remove what is temporary."""
        self._end()

    def _find_last(self) -> int:
        """Return the number of the last capture of earlier runs."""
        try:
            with Crawl(self._folder) as stored:
                return stored.last_capture()
        except JobError:
            return 0

    def _read(self) -> list[Page]:
        """Return the next pages; the captures between them are looked at once."""
        # Opened for each look, since SQLite binds a connection to a thread.
        try:
            with Crawl(self._folder) as stored:
                newest = stored.last_capture()
                found = stored.pages_after(self._last, self._verdict)
        except JobError:  # it is not made yet
            return []
        # Where nothing of the rest is wanted, all of it was looked at.
        self._last = found[-1][0] if found else newest
        for number, _ in found:
            self._mark(number)
        return [page for _, page in found]

    def _read_kept_after_all(self) -> list[Page]:
        """Return pages of this run that were duplicates when they came, and were kept later."""
        try:
            with Crawl(self._folder) as stored:
                while found := stored.pages_after(self._swept, self._verdict):
                    self._swept = found[-1][0]
                    if pages := [page for number, page in found if self._mark(number)]:
                        return pages
        except JobError:
            pass
        return []

    def _mark(self, number: int) -> bool:
        """Note that a capture was yielded; return whether it was not before."""
        place, bit = number >> 3, 1 << (number & 7)
        if place >= len(self._yielded):
            self._yielded.extend(bytes(place + 1024 - len(self._yielded)))
        is_new = not self._yielded[place] & bit
        self._yielded[place] |= bit
        return is_new

    def _check_end(self) -> None:
        status = self._process.returncode
        if status == 0:
            return
        self._errors.seek(0)
        last_lines = self._errors.read().decode(errors="replace").strip().splitlines()
        reason = (
            last_lines[-1].removeprefix("crawl-once crawl: ") if last_lines else "it said nothing"
        )
        if status < 0:
            reason = f"ended by signal {-status}; the same call goes on"
        raise CrawlError(reason)


def _end(process: subprocess.Popen[bytes], errors: IO[bytes], temporary: str | None) -> None:
    """Stop a crawl as Ctrl-C does, or kill it; remove what is temporary."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
    try:
        process.wait(_PATIENCE_SECS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    assert process.stdin is not None
    process.stdin.close()
    errors.close()
    if temporary is not None:
        shutil.rmtree(temporary, ignore_errors=True)


def _one_line(value: Any) -> str:
    """Return a value as the command line takes it: a mapping as JSON, a list with commas."""
    if isinstance(value, Mapping):
        return json.dumps(dict(value))
    if isinstance(value, list | tuple | set | frozenset):
        return ",".join(map(str, value))
    return str(value)


def _written(arguments: Mapping[str, Any]) -> dict[str, str]:
    """Return options as the command line has them.

    Raises:
        TypeError: There is no such option.
    """
    for name in arguments:
        if name not in SITE or name == "url":
            hint = did_you_mean(name, SITE)
            raise TypeError(f"crawl() has no argument {name!r}{hint}")
    words = {True: "yes", False: "no"}
    return {
        name: words[value] if isinstance(value, bool) else _one_line(value)
        for name, value in arguments.items()
        if value is not None
    }


def _check(url: str, arguments: Mapping[str, str]) -> None:
    try:
        check_site({"url": url, **arguments}, SITE)
    except ValueError as error:
        raise ValueError(str(error).replace("-a ", "")) from None
