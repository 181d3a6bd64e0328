"""The folder that keeps compiled loops, and the notes of those that are complete.

Nothing here imports numba, which takes a third of a second.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from itertools import takewhile
from pathlib import Path

import xxhash

FIRST_LOOPS = "neardup.indexes.newest"
"""The module of the loops that each text needs first; its name notes all that a crawl needs."""

_PACKAGE = Path(__file__).parent
_KEPT_SECS = 30 * 24 * 3600.0
_TELLING = frozenset(
    "vendor_id,cpu family,model,model name,stepping,flags,CPU implementer,CPU architecture,"
    "CPU variant,CPU part,Features,cpu,isa".split(",")
)
"""What ``/proc/cpuinfo`` says of a processor for good, on x86, ARM, POWER and RISC-V."""
_ROOMS = frozenset({"batch", "evaluation", "features", "fingerprints", "indexes"})


@cache
def is_fresh() -> bool:
    """Whether no compiled loop was kept yet when this process first asked."""
    folder = compiled_folder()
    return folder is None or next(folder.rglob("*.nbi"), None) is None


def is_complete(name: str = FIRST_LOOPS) -> bool:
    """Whether it was noted that the loops of this name are compiled and kept."""
    note = _note_of(name)
    return note is not None and note.exists()


def note_complete(name: str = FIRST_LOOPS) -> None:
    """Note that the loops of this name are compiled and kept."""
    note = _note_of(name)
    if note is not None:
        with suppress(OSError):
            note.touch()


@cache
def compiled_folder() -> Path | None:
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
    if os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(os.environ["NUMBA_CACHE_DIR"])
        return
    yield _PACKAGE / "__pycache__"
    if os.environ.get("XDG_CACHE_HOME"):
        yield Path(os.environ["XDG_CACHE_HOME"])
    with suppress(RuntimeError):  # nobody's home
        yield Path.home() / ".cache"


@cache
def _note_of(name: str) -> Path | None:
    """Return the file that notes loops as compiled for this Python and this processor."""
    folder = compiled_folder()
    if folder is None:
        return None
    machine = (sys.implementation.cache_tag, version("numba"), _processor())
    return folder / "-".join([name, *map(str, machine)])


def _processor() -> str:
    """Return a name of the processor and of what it can do.

    LLVM has a name for it, and takes a tenth of a second to load.
    """
    with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as described:
        first = takewhile(str.strip, described)
        told = [line for line in first if line.partition(":")[0].rstrip() in _TELLING]
        if told:
            return xxhash.xxh3_64_hexdigest("".join(told).encode())
    from llvmlite.binding import get_host_cpu_name  # type: ignore[import-untyped]  # noqa: PLC0415

    return str(get_host_cpu_name())
