"""Start a Chromium that has no network, and end it with all that it leaves."""

from __future__ import annotations

import asyncio
import atexit
import fcntl
import importlib.util
import logging
import os
import shutil
import signal
import tempfile
import uuid
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crawler.rendering.rendered_pages import NoBrowserError
from neardup.installing import install_command

if TYPE_CHECKING:
    from crawler.rendering.rendered_pages import Cookie, RenderOptions

logger = logging.getLogger(__name__)

WITH_WINDOWS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""Commands that are taken for a Chromium that can open windows, the first one on PATH."""

OWN = "Playwright's own"
"""The name of a browser that has no path of its own."""

HEADLESS = ("chromium-headless-shell", "chrome-headless-shell")
"""Commands of a Chromium without an interface, whose pages take a fifth of the CPU; taken first."""

ARGUMENTS = (
    # No name is resolved, and every connection, by address too, would go to a proxy without one.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://no-network.invalid:1",
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--no-pings",
    "--disable-gpu",
    # /dev/shm has 64 MB in containers.
    "--disable-dev-shm-usage",
    "--mute-audio",
)

_PREFIX = "crawl-render-"
_LOCK = "lock"
_MAX_ROOT_BYTES = 36
_START_SECS = 30.0
_CLOSE_SECS = 5.0

_PROC = Path("/proc")
_KB = 1024

_INSTALL = "apt install chromium-headless-shell, or: playwright install chromium"
_NO_BROWSER = f"no Chromium on PATH and none of Playwright's own; {_INSTALL}"


class Browser:
    """One Chromium with the driver that leads it, and a folder for all that both write.

    Files:
        crawl-render-*: below the system's temporary folder; removed when it is closed, or, after a
            kill, by the next start.
    """

    def __init__(self, options: RenderOptions) -> None:
        self._options = options
        self._mark = f"--crawl-render={uuid.uuid4().hex}"
        self._playwright: Any = None
        self._browser: Any = None
        self._folder: TemporaryFolder | None = None
        self._pids: list[int] = []
        self._closing = asyncio.Lock()
        self.pages = 0
        """Pages that were begun here."""

        self.active = 0
        """Pages that are rendered here now."""

        self.refused_cookies: set[Cookie] = set()
        """Cookies that it does not take, which are not handed to it again."""

        self.is_broken = False
        """It ended, or did not answer."""

    async def start(self) -> None:
        """Start the driver and the browser.

        Raises:
            NoBrowserError: One of them is missing or does not start.
        """
        path = browser_path(self._options)
        try:
            await asyncio.wait_for(self._start(path), _START_SECS)
        except BaseException as error:
            await self.close()
            if isinstance(error, Exception):
                raise NoBrowserError(_why(error, path)) from None
            raise

    async def _start(self, path: str | None) -> None:
        from playwright.async_api import async_playwright  # noqa: PLC0415  # an extra

        self._folder = await asyncio.to_thread(TemporaryFolder)
        with _temporary_files_in(self._folder.path):
            self._playwright = await async_playwright().start()
        # Root has no sandbox in Chromium.
        is_root = hasattr(os, "geteuid") and os.geteuid() == 0
        self._browser = await self._launch(path, has_sandbox=not is_root)
        self._browser.on("disconnected", self._note_end)
        pid = await asyncio.to_thread(find_by_argument, self._mark)
        if pid is not None:
            driver = parent_of(pid)
            self._pids = [pid] if driver in {None, 1, os.getpid()} else [pid, driver or pid]

    async def _launch(self, path: str | None, *, has_sandbox: bool) -> Any:
        from playwright.async_api import Error  # noqa: PLC0415  # an extra

        try:
            return await self._playwright.chromium.launch(
                executable_path=path,
                args=[*ARGUMENTS, self._mark],
                chromium_sandbox=has_sandbox,
                timeout=_START_SECS * 1000,
                # A crawl that is told to end lets its pages end first.
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
            )
        except Error as error:
            if not has_sandbox or "sandbox" not in str(error).lower():
                raise
        logger.warning("Chromium finds no sandbox on this machine, and runs without")
        return await self._launch(path, has_sandbox=False)

    def _note_end(self, *_: Any) -> None:
        self.is_broken = True

    async def new_context(self, **options: Any) -> Any:
        """Return a context of Playwright: cookies and storage of its own."""
        return await self._browser.new_context(**options)

    def tree(self) -> list[int]:
        """Return the browser's processes, without the driver; empty without ``/proc``."""
        return tree_of(self._pids[0]) if self._pids else []

    async def memory_mb(self) -> float:
        """Return the memory of all its processes, in megabytes; 0 where it is not known."""
        return await asyncio.to_thread(lambda: memory_mb(self.tree()))

    async def kill_large_page(self, limit_mb: float) -> bool:
        """End the process of the page that has most memory, if that is above a limit."""
        return await asyncio.to_thread(self._kill_large_page, limit_mb)

    def _kill_large_page(self, limit_mb: float) -> bool:
        largest = largest_renderer(self.tree())
        if largest is None or largest[1] <= limit_mb:
            return False
        kill([largest[0]])
        return True

    async def close(self) -> None:
        """End all processes, by force where they do not answer, and remove the folder."""
        self.is_broken = True
        async with self._closing:
            await self._close()

    async def _close(self) -> None:
        pids = await asyncio.to_thread(self._all_pids)
        for end in (
            self._browser and self._browser.close,
            self._playwright and self._playwright.stop,
        ):
            if end is not None:
                with suppress(Exception):
                    await asyncio.wait_for(end(), _CLOSE_SECS)
        self._browser = self._playwright = None
        await asyncio.to_thread(self._clear, pids)

    def _all_pids(self) -> list[int]:
        return [each for pid in self._pids for each in tree_of(pid)]

    def _clear(self, pids: list[int]) -> None:
        main, self._pids = self._pids[:1], []
        if main and self._mark.encode() in arguments(main[0]):
            kill(pids)
        if self._folder is not None:
            self._folder.remove()


class TemporaryFolder:
    """A folder that belongs to this process as long as it lives; folders of dead ones are removed.

    A lock tells which are alive: it ends with its process, however that ends.
    """

    def __init__(self) -> None:
        root = temporary_root()
        for folder in root.glob(f"{_PREFIX}*"):
            _remove_left(folder)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=root))
        self._lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        # A process that is told twice to end closes nothing.
        atexit.register(self.remove)

    def remove(self) -> None:
        if self._lock >= 0:
            atexit.unregister(self.remove)
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


def temporary_root() -> Path:
    """Return the system's temporary folder; ``/tmp`` where its path is too long for Chromium.

    Chromium makes a socket below it, and does not start where that has 108 bytes or more.
    """
    usual, short = Path(tempfile.gettempdir()), Path("/tmp")  # noqa: S108  # mkdtemp follows
    is_long = len(os.fsencode(usual)) > _MAX_ROOT_BYTES
    return short if is_long and os.access(short, os.W_OK) else usual


def _remove_left(folder: Path) -> None:
    """Remove the folder of a process that was killed."""
    try:
        if folder.is_symlink() or folder.stat().st_uid != os.getuid():
            return
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:  # it is being made, or removed
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:  # its process lives
        return
    finally:
        os.close(lock)


class _temporary_files_in:  # noqa: N801  # used like a function
    """Have a program that is started meanwhile write its temporary files into a folder.

    Playwright takes the environment of the process for its driver.
    """

    _count = 0
    _before: str | None = None

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __enter__(self) -> None:
        tempfile.gettempdir()  # Python's own files stay where they are
        kind = type(self)
        if kind._count == 0:
            kind._before = os.environ.get("TMPDIR")
        kind._count += 1
        os.environ["TMPDIR"] = str(self._folder)

    def __exit__(self, *_: object) -> None:
        kind = type(self)
        kind._count -= 1
        if kind._count:
            return
        if kind._before is None:
            os.environ.pop("TMPDIR", None)
        else:
            os.environ["TMPDIR"] = kind._before


def browser_path(options: RenderOptions, *, with_windows: bool = False) -> str | None:
    """Return the path of the browser; None for Playwright's own.

    Args:
        options: Options, of which a path counts before what is found.
        with_windows: It is to open windows.

    Raises:
        NoBrowserError: Playwright is missing, or there is no file at the path of the options.
    """
    if importlib.util.find_spec("playwright") is None:
        raise NoBrowserError(
            f"playwright is not installed, which renders pages: {install_command('render')}"
        )
    if options.browser_path:
        found = shutil.which(options.browser_path)
        if found is None:
            raise NoBrowserError(
                f"{options.browser_path} is no program, and should be the browser "
                f"(CRAWL_RENDER_BROWSER); {_INSTALL}"
            )
        return found
    names = WITH_WINDOWS if with_windows else HEADLESS + WITH_WINDOWS
    return next(filter(None, map(shutil.which, names)), None)


def _why(error: Exception, path: str | None) -> str:
    """Return why a browser does not start, in one line."""
    if isinstance(error, NoBrowserError):
        return str(error)
    text = str(error)
    if path is None and "Executable doesn't exist" in text:
        return _NO_BROWSER
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    reason = "it does not answer" if isinstance(error, TimeoutError) else (lines or ["?"])[0]
    return (
        f"the browser {path or 'of Playwright'} does not start ({reason[:200]}); "
        "try another one: playwright install chromium, and CRAWL_RENDER_BROWSER"
    )


def find_by_argument(argument: str) -> int | None:
    """Return the oldest process that was started with an argument; None without ``/proc``."""
    wanted = argument.encode()
    for pid in sorted(_pids()):
        if wanted in arguments(pid):
            return pid
    return None


def tree_of(pid: int) -> list[int]:
    """Return a process and all its descendants. Complexity: O(processes of the machine)."""
    children: dict[int, list[int]] = {}
    for each in _pids():
        parent = parent_of(each)
        if parent is not None:
            children.setdefault(parent, []).append(each)
    found = [pid]
    for each in found:
        found.extend(children.get(each, ()))
    return found


def parent_of(pid: int) -> int | None:
    with suppress(OSError, ValueError, IndexError):
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
        return int(text.rpartition(")")[2].split()[1])  # a name may hold anything
    return None


def memory_mb(pids: list[int]) -> float:
    """Return the memory of processes in megabytes; pages that they share count once."""
    return sum(map(_memory_bytes, pids)) / 1e6


def largest_renderer(pids: list[int]) -> tuple[int, float] | None:
    """Return the process of a page that has most memory, and its megabytes."""
    renderers = [pid for pid in pids if b"--type=renderer" in arguments(pid)]
    sizes = [(resident_bytes(pid) / 1e6, pid) for pid in renderers]
    if not sizes:
        return None
    size_mb, pid = max(sizes)
    return pid, size_mb


def kill(pids: list[int]) -> None:
    """End processes at once; those that have ended already are passed over."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _pids() -> list[int]:
    try:
        return [int(name) for name in os.listdir(_PROC) if name.isdigit()]
    except OSError:  # another system than Linux
        return []


def arguments(pid: int) -> list[bytes]:
    """Return the arguments of a process; empty where it has ended."""
    with suppress(OSError):
        # The launcher of a process of a page joins its arguments with spaces.
        return (_PROC / str(pid) / "cmdline").read_bytes().replace(b" ", b"\0").split(b"\0")
    return []


def _memory_bytes(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError):
        for line in (_PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * _KB
    return resident_bytes(pid)


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process; 0 where it is gone or the system does not say."""
    with suppress(OSError, ValueError, IndexError):
        pages = int((_PROC / str(pid) / "statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    return 0
