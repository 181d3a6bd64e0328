"""Loops that are compiled at their first use, and kept on disk for the next process."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

import numba
import xxhash

P = ParamSpec("P")
R = TypeVar("R")

# Its attributes are made of the environment.
_config: Any = numba.config

_PACKAGE = Path(__file__).parent
_COMPLETE = "complete"
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
                code = numba.njit(signature, nogil=True, cache=True)(function)
                return cast("Callable[P, R]", code)
        return cast("Callable[P, R]", numba.njit(signature, nogil=True)(function))

    return compile_it


def is_complete() -> bool:
    """Whether it was noted that all of it is compiled and kept."""
    folder = _folder()
    return folder is not None and (folder / _COMPLETE).exists()


def note_complete() -> None:
    """Note that all of it is compiled and kept."""
    folder = _folder()
    if folder is not None:
        with suppress(OSError):
            (folder / _COMPLETE).touch()


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
