"""Load what is compiled for a ``Deduplicator`` before the first text comes."""

from collections.abc import Callable
from importlib import import_module

from neardup.compiled_files import FIRST_LOOPS, is_complete, note_complete

LOOPS = (
    FIRST_LOOPS,
    *(f"neardup.features.{name}_kernels" for name in ("shingle", "keyed")),
    *(f"neardup.fingerprints.{name}_kernels" for name in ("set", "text")),
)
"""The modules of the loops that a ``Deduplicator`` uses by itself, and those that they import."""


def prepare(notice: Callable[[int, int], object] | None = None) -> None:
    """Load the compiled loops that a ``Deduplicator`` uses by itself.

    These are the loops of SimHash, MinHash, ``HammingIndex`` and ``JaccardVerifier``. Those that
    search the segments of an index are loaded when the first segment exists, and those of the
    tables of ``LshIndex`` when it holds more than 1,024 documents.

    It takes half a second, and some three where they were never compiled on this machine. A call
    is never needed, since all loops are loaded at their first use. It serves callers that give a
    text a time limit or tell a user about the wait.

    Args:
        notice: Called before each step where there is something to compile, with the number of
            steps that are done and the number of all.
    """
    is_done = is_complete()
    for done, module in enumerate(LOOPS):
        if notice is not None and not is_done:
            notice(done, len(LOOPS))
        import_module(module)
    if not is_done:
        note_complete()
