"""Say what rendering is given and gives, and keep pictures of pages in a folder."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from crawler.suggestions import UserError
from neardup.files.durable import own_folder, write_whole
from neardup.fingerprints.digest import payload_digest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

BEHAVIOURS: Final = ("scroll", "click", "routes")
"""Names of the behaviours, each of which is a script below ``scripts/``."""

TIME: Final = "time"
CRASH: Final = "crash"
TOO_MANY_REQUESTS: Final = "too many requests"
TOO_MANY_BYTES: Final = "too many bytes"
SUBREQUEST_FAILED: Final = "subrequest failed"
"""A script or data of the page's own site could not be had."""

FOREIGN_DATA_FAILED: Final = "data of another site failed"
FOREIGN_SCRIPT_FAILED: Final = "script of another site failed"
SCRIPT_ENDED: Final = "a script ended with an error"
STILL_OPEN: Final = "requests without an answer"


@dataclass(frozen=True)
class RenderOptions:
    """The bounds of rendering, and the actions on a page.

    Raises:
        ValueError: A number is not positive, or a behaviour is unknown.
    """

    page_secs: float = 20.0
    """Seconds that a page may take, from the first byte to the DOM."""

    max_subrequests: int = 200
    """Requests of one page that are answered; further ones are refused."""

    max_page_bytes: int = 50_000_000
    """Bytes of all answers to one page's requests, and characters of the DOM."""

    viewport: tuple[int, int] = (1280, 1024)
    """Width and height of the window, in pixels."""

    wait_for: str = ""
    """CSS selector that a page waits for, within its time; empty: only for the network."""

    behaviours: tuple[str, ...] = ("routes",)
    """Names of ``BEHAVIOURS``."""

    with_files: bool = False
    """Load images, fonts and media too, which only mirrors and screenshots need."""

    screenshots: bool = False
    """Take a picture of each page."""

    for_disk: bool = False
    """Write a document that shows the same when it is opened without scripts."""

    user_agent: str = ""
    """``User-Agent`` of the browser; empty: its own."""

    language: str = "en"
    """``Accept-Language``, and what scripts read in ``navigator.language``."""

    concurrency: int = 2
    """Pages that are rendered at a time."""

    pages_per_browser: int = 100
    """Pages after which a browser is replaced."""

    max_browser_mb: int = 1_500
    """Megabytes of a browser's processes, shared memory counted once, that have it replaced."""

    browser_path: str = ""
    """Path of the browser; empty: the first Chromium on PATH, else Playwright's own."""

    def __post_init__(self) -> None:
        for name in ("page_secs", "max_subrequests", "max_page_bytes", "concurrency"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")
        for name in ("pages_per_browser", "max_browser_mb"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be positive, got {getattr(self, name)}")
        for name in self.behaviours:
            if name not in BEHAVIOURS:
                raise ValueError(f"{name} is no behaviour; {', '.join(BEHAVIOURS)} are")


@dataclass(frozen=True)
class Cookie:
    """A cookie that a page begins with."""

    name: str
    value: str
    domain: str
    """Host, with a leading full stop where it is for its subdomains too."""

    path: str = "/"
    expires: float = -1.0
    """Seconds since 1970, or -1 for the session."""

    is_secure: bool = False
    is_http_only: bool = False


@dataclass(frozen=True)
class PageToRender:
    """The answer that HTTP gave; the browser is handed it and requests the page no second time."""

    url: str
    body: bytes
    """The body without codings of the transfer."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    cookies: tuple[Cookie, ...] = ()
    is_patient: bool = False
    """Wait for seconds in which nothing happens, and scroll: the page may seem to be done."""


@dataclass(frozen=True)
class SubRequest:
    """A request that a page makes while it is rendered."""

    url: str
    method: str
    headers: tuple[tuple[str, str], ...]
    resource_type: str
    """Playwright's word: script, stylesheet, xhr, fetch, image, font, media, document, other."""

    page_url: str
    body: bytes = b""
    max_bytes: int = 0
    """Bytes that the answer may have; 0: as many as any page of the crawl."""


@dataclass(frozen=True)
class SubAnswer:
    """The answer to a request of a page; a redirect was followed unless its status is 3xx."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


Fetch: TypeAlias = "Callable[[SubRequest], Awaitable[SubAnswer | None]]"
"""Answers requests of pages; None refuses one."""


@dataclass(frozen=True)
class Subrequested:
    """A request of a page and what came of it; status 0 where it was refused or failed."""

    url: str
    status: int
    size_bytes: int
    is_data: bool = False
    """Whether a script asked for it as data, which none can that is opened from the disk."""


@dataclass(frozen=True)
class RenderedPage:
    """Outcome of showing a page in a browser."""

    url: str
    """The URL at the end, which scripts may have changed without a request."""

    body: bytes
    """The DOM as HTML in UTF-8, with that encoding declared; empty where ``failed``."""

    routes: tuple[str, ...] = ()
    """URLs that scripts pushed into the history, or tried to go to."""

    missed: tuple[str, ...] = ()
    """Why the DOM may be less than the page shows, such as "too many requests"."""

    failed: str = ""
    """Why there is no DOM, such as "time" or "crash"; empty where there is one."""

    subrequests: tuple[Subrequested, ...] = ()
    unanswered: tuple[str, ...] = ()
    """URLs of requests that waited for their answers at the end."""

    screenshot: bytes | None = field(default=None, repr=False)
    """A picture as WebP."""

    secs: float = 0.0


class RenderingError(Exception):
    """Rendering is not possible; the message has one line and says what mends it."""


class RenderingEndedError(Exception):
    """A page is not shown, since the crawl ends; it is to be requested by the next one."""


class NoBrowserError(RenderingError, UserError):
    """Playwright or the browser is missing, or the browser does not start."""


FOLDER: Final = "screenshots"
"""Folder of the pictures in that of a crawl."""

_CONTENTS = "pictures"


class Pictures:
    """Pictures of pages as WebP files, by the keys of their URLs.

    A file is written under another name first, so that a killed process leaves a whole one or none.
    A page that is shown again has its last picture.

    Args:
        folder: Folder of a crawl.

    Files:
        screenshots/KEY.webp: the picture of a page, KEY being 32 hexadecimal digits.
        screenshots/pictures/DIGEST.webp: further names of the same files, one for each content;
            where there are no hard links, copies.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / FOLDER

    def put(self, key: bytes, picture: bytes) -> None:
        """Store the picture of a page. Complexity: O(bytes).

        Raises:
            OSError: The system refuses.
        """
        content, place = self._content(picture), self._place(key)
        own_folder(self._folder)
        own_folder(content.parent)
        before = place.read_bytes() if _is_file(place) else None
        if before == picture:
            return
        if not _is_file(content):
            write_whole(content, picture)
        new = content.with_suffix(f".{os.getpid()}")
        new.unlink(missing_ok=True)
        try:
            new.hardlink_to(content)
            new.replace(place)
        except OSError:  # a file system without hard links
            write_whole(place, picture)
        if before is not None:
            self._drop_unused(self._content(before))

    def find(self, key: bytes) -> Path | None:
        """Return the file with the picture of a page, or None."""
        place = self._place(key)
        return place if place.is_file() else None

    def _content(self, picture: bytes) -> Path:
        return self._folder / _CONTENTS / f"{payload_digest(picture).hex()}.webp"

    def _place(self, key: bytes) -> Path:
        return self._folder / f"{key.hex()}.webp"

    def _drop_unused(self, content: Path) -> None:
        with suppress(OSError):
            if content.stat().st_nlink == 1:
                content.unlink()


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
