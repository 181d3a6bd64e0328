"""Loops that are compiled at their first use, and kept on disk for the next process."""

import atexit
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
from filelock import FileLock
from numba.core.runtime.nrt import rtsys

from neardup.compiled_files import (
    compiled_folder,
    is_complete,
    is_fresh,
    note_complete,
)
from neardup.compiling import note_compilation
from neardup.installing import start_python

P = ParamSpec("P")
R = TypeVar("R")

# Its attributes are made of the environment.
_config: Any = numba.config

# Nothing in C calls a loop, so none needs the wrapper for that, a tenth of the time to compile.
_OPTIONS: Any = {"nogil": True, "no_cfunc_wrapper": True}

_COMPILE = "import sys; from neardup.compiled import compile_alone; compile_alone(sys.argv[1:])"
_MAX_WAIT_SECS = 120.0


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
        folder = compiled_folder()
        # A disk may be full by now.
        with suppress(OSError), _kept_in(folder) as kept:
            if is_fresh():
                note_compilation()
            if kept:
                code = numba.njit(cache=True, **_OPTIONS)(function)
                _load(code, signature)
                if code.stats.cache_misses:
                    note_compilation()
                return cast("Callable[P, R]", code)
        return cast("Callable[P, R]", numba.njit(signature, **_OPTIONS)(function))

    return compile_it


def _load(code: Any, signature: Any) -> None:
    """Load the one variant of a loop that is kept, or compile it.

    Numba makes all ready that compiling needs before it looks whether code is kept: half of the
    time that a process takes to load ours.
    """
    with suppress(AttributeError):  # of a version of numba with other names
        code._cache.load_overload = code._cache._load_overload
        rtsys.initialize(code.targetctx)
    code.compile(signature)
    code.disable_compile()


def are_compiled(modules: Sequence[str]) -> bool:
    """Whether the loops of some modules are loaded, or compiled and kept to be loaded at once."""
    return all(module in sys.modules for module in modules) or is_complete(modules[0])


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
        if child.poll() is None:
            note_compilation()
        try:
            child.wait(_MAX_WAIT_SECS)
        except subprocess.TimeoutExpired:  # another process holds the lock, and hangs
            _end(child)
    return child.poll() is not None


def load(modules: Sequence[str]) -> None:
    """Import modules of compiled loops, and note that they are compiled and kept."""
    for module in modules:
        import_module(module)
    note_complete(modules[0])


def compile_alone(modules: Sequence[str]) -> None:
    """Load modules after other processes that do so: the first one compiles for all."""
    folder = compiled_folder()
    if folder is not None:
        with FileLock(folder / "compiling.lock"):
            load(modules)


@cache
def _compiler(modules: tuple[str, ...]) -> "subprocess.Popen[bytes] | None":
    """Start the process that compiles some modules; None: there need or can be none."""
    if are_compiled(modules):
        return None
    folder = compiled_folder()
    # A program that has Python inside may start itself once more.
    is_python = Path(sys.executable or "").name.startswith("python")
    if folder is None or not is_python or getattr(sys, "frozen", False):
        return None
    try:
        child = start_python(
            ["-c", _COMPILE, *modules],
            env={"NUMBA_CACHE_DIR": str(folder.parent)},
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


@contextmanager
def _kept_in(folder: Path | None) -> Iterator[bool]:
    before = _config.CACHE_DIR
    if folder is not None:
        _config.CACHE_DIR = str(folder)
    try:
        yield folder is not None
    finally:
        _config.CACHE_DIR = before
