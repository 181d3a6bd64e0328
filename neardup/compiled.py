"""Loops that are compiled at their first use, and kept on disk for the next process."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
from numba.core.runtime.nrt import rtsys

from neardup.compiled_files import compiled_folder

P = ParamSpec("P")
R = TypeVar("R")

# Its attributes are made of the environment.
_config: Any = numba.config

# Nothing in C calls a loop, so none needs the wrapper for that, a tenth of the time to compile.
_OPTIONS: Any = {"nogil": True, "no_cfunc_wrapper": True}


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
            if kept:
                code = numba.njit(cache=True, **_OPTIONS)(function)
                _load(code, signature)
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


def are_compiled(_modules: Sequence[str]) -> bool:
    """Whether loops can be imported; the caller waits where they must be compiled."""
    return True


def are_ready(_modules: Sequence[str], *, wait: bool = False) -> bool:
    """Whether loops can be imported; the caller waits where they must be compiled."""
    del wait
    return True


@contextmanager
def _kept_in(folder: Path | None) -> Iterator[bool]:
    before = _config.CACHE_DIR
    if folder is not None:
        _config.CACHE_DIR = str(folder)
    try:
        yield folder is not None
    finally:
        _config.CACHE_DIR = before
