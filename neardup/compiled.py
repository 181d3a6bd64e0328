"""Loops that are compiled at their first use, and kept on disk for the next process."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import xxhash
from filelock import FileLock
from llvmlite.binding import get_host_cpu_name  # type: ignore[import-untyped]

P = ParamSpec("P")
R = TypeVar("R")

# Its attributes are made of the environment.
_config: Any = numba.config

# Nothing in C calls a loop, so none needs the wrapper for that, a tenth of the time to compile.
_OPTIONS: Any = {"nogil": True, "no_cfunc_wrapper": True}

_PACKAGE = Path(__file__).parent
_PREPARED = "prepared"
_COMPILE = (
    "import sys; sys.path[:] = sys.argv[2:]; "
    "from neardup.compiled import compile_alone; compile_alone(sys.argv[1].split())"
)
_MAX_WAIT_SECS = 120.0
_KEPT_SECS = 30 * 24 * 3600.0
_ROOMS = frozenset({"batch", "evaluation", "features", "fingerprints", "indexes"})


def compiled(signature: Any) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Compile a function of numbers and arrays to machine code, when its module is imported.

    Numba takes a third of a second to import and a fresh installation some seconds to compile, so
    modules with such functions are imported where they are needed and not before.

    The code is kept beside the package, or in the user's cache folder where that cannot be written;
    where neither can, every process compiles for itself. ``NUMBA_CACHE_DIR`` names another folder.

    Args:
        signature: The types of arguments and result, as ``numba.njit`` takes them: given, so that
            a function is compiled once, and not for every mixture of integers it is called with.
    """

    def compile_it(function: Callable[P, R]) -> Callable[P, R]:
        folder = _folder()
        # A disk may be full by now.
        with suppress(OSError), _kept_in(folder) as kept:
            if kept:
                code = numba.njit(signature, cache=True, **_OPTIONS)(function)
                return cast("Callable[P, R]", code)
        return cast("Callable[P, R]", numba.njit(signature, **_OPTIONS)(function))

    return compile_it


def is_complete(name: str = _PREPARED) -> bool:
    """Whether it was noted that the loops of this name are compiled and kept."""
    note = _note_of(name)
    return note is not None and note.exists()


def note_complete(name: str = _PREPARED) -> None:
    """Note that the loops of this name are compiled and kept."""
    note = _note_of(name)
    if note is not None:
        with suppress(OSError):
            note.touch()


def are_compiled(modules: Sequence[str]) -> bool:
    """Whether the loops of some modules are loaded, or compiled and kept to be loaded at once."""
    return all(module in sys.modules for module in modules) or is_complete("+".join(modules))


def are_ready(modules: Sequence[str], *, wait: bool = False) -> bool:
    """Whether the loops of some modules can be imported without seconds of compiling.

    Where they were never compiled on this machine, a process of its own begins to, since numba
    holds up all threads of a process in which it compiles. It ends together with this one. Where
    there can be none (no folder can be written, or the program is no Python), or where it failed,
    they count as ready: the one who imports them waits.

    Args:
        modules: The names of the modules.
        wait: Whether to wait for that process.
    """
    child = _compiler(tuple(modules))
    if child is None:
        return True
    if wait:
        try:
            child.wait(_MAX_WAIT_SECS)
        except subprocess.TimeoutExpired:  # another process holds the lock, and hangs
            _end(child)
    return child.poll() is not None


def load(modules: Sequence[str]) -> None:
    """Import modules of compiled loops, and note that they are compiled and kept."""
    for module in modules:
        import_module(module)
    note_complete("+".join(modules))


def compile_alone(modules: Sequence[str]) -> None:
    """Load modules after other processes that do so: the first one compiles for all."""
    folder = _folder()
    if folder is not None:
        with FileLock(folder / "compiling.lock"):
            load(modules)


@cache
def _compiler(modules: tuple[str, ...]) -> "subprocess.Popen[bytes] | None":
    """Start the process that compiles some modules; None: there need or can be none."""
    if are_compiled(modules):
        return None
    folder = _folder()
    # A program that has Python inside may start itself once more.
    is_python = Path(sys.executable or "").name.startswith("python")
    if folder is None or not is_python or getattr(sys, "frozen", False):
        return None
    try:
        child = subprocess.Popen(  # noqa: S603  (the interpreter that runs this)
            [sys.executable, "-c", _COMPILE, " ".join(modules), *sys.path],
            env=os.environ | {"NUMBA_CACHE_DIR": str(folder.parent)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            # What stops this process from the keyboard is no matter of that one.
            start_new_session=True,
        )
    except OSError:
        return None
    atexit.register(_end, child)
    return child


def _end(child: "subprocess.Popen[bytes]") -> None:
    child.kill()
    child.wait()


@cache
def _note_of(name: str) -> Path | None:
    """Return the file that notes loops as compiled for this Python and this processor."""
    folder = _folder()
    if folder is None:
        return None
    machine = f"{sys.implementation.cache_tag}-{numba.__version__}-{get_host_cpu_name()}"
    return folder / f"{name}-{machine}"


@contextmanager
def _kept_in(folder: Path | None) -> Iterator[bool]:
    before = _config.CACHE_DIR
    if folder is not None:
        _config.CACHE_DIR = str(folder)
    try:
        yield folder is not None
    finally:
        _config.CACHE_DIR = before


@cache
def _folder() -> Path | None:
    """Return a folder for the code of just this package; None: none can be written.

    Numba looks at the file of a function alone. What the function calls in another file stands in
    its code too, constants as well, and would stay there as they were.
    """
    sources = xxhash.xxh3_64()
    for path in sorted(_PACKAGE.rglob("*.py")):
        if _is_compiled(path.relative_to(_PACKAGE)):
            sources.update(path.read_bytes())
    for place in _places():
        folder = place / f"neardup-{sources.hexdigest()}"
        try:
            if not folder.exists():
                _remove_old(place)
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return folder
        except OSError:
            continue
    return None


def _remove_old(place: Path) -> None:
    """Remove code of other versions, unless one may be in use beside this one."""
    for folder in place.glob("neardup-*"):
        if time.time() - folder.stat().st_mtime > _KEPT_SECS:
            shutil.rmtree(folder, ignore_errors=True)


def _is_compiled(path: Path) -> bool:
    """Whether compiled code may hold something of a file: it may import what these rooms hold."""
    return path.parts[0] in _ROOMS or len(path.parts) == 1


def _places() -> Iterator[Path]:
    if _config.CACHE_DIR:
        yield Path(_config.CACHE_DIR)
        return
    yield _PACKAGE / "__pycache__"
    if os.environ.get("XDG_CACHE_HOME"):
        yield Path(os.environ["XDG_CACHE_HOME"])
    with suppress(RuntimeError):  # nobody's home
        yield Path.home() / ".cache"
